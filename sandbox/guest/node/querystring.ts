/** Creates `node:querystring`. */
export function createQuerystring(): Readonly<Record<string, unknown>> {
  const escape = (text: unknown): string =>
    encodeURIComponent(primitive(text)).replace(/%(?:7E|21|27|28|29|2A)/gi, decodeURIComponent);
  const unescape = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const primitive = (value: unknown): string => {
    if (typeof value === "string") return value;
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
    return typeof value === "bigint" || typeof value === "boolean" ? String(value) : "";
  };
  const stringify = (fields: unknown, separator = "&", equals = "="): string => {
    if (typeof fields !== "object" || fields === null) return "";
    return Object.entries(fields)
      .flatMap(([key, value]) =>
        (Array.isArray(value) ? (value as unknown[]) : [value]).map(
          (item) => `${escape(key)}${equals}${escape(item)}`,
        ),
      )
      .join(separator);
  };
  const parse = (text: unknown, separator = "&", equals = "="): Record<string, string | string[]> => {
    const fields = Object.create(null) as Record<string, string | string[]>;
    if (typeof text !== "string" || text === "") return fields;
    for (const part of text.split(separator).slice(0, 1000)) {
      if (part === "") continue;
      const at = part.indexOf(equals);
      const [name, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + equals.length)];
      const key = unescape(name.replaceAll("+", " "));
      const item = unescape(value.replaceAll("+", " "));
      const known = fields[key];
      fields[key] = known === undefined ? item : Array.isArray(known) ? [...known, item] : [known, item];
    }
    return fields;
  };
  const names = { parse, stringify, escape, unescape, decode: parse, encode: stringify };
  return { ...names, default: names };
}
