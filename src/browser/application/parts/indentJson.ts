const TOKENS = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Writes a JSON object or array with two spaces for each level. Only white space changes: numbers keep their digits, and members their order
 * and number. `undefined` for other text.
 */
export function indentJson(text: string): string | undefined {
  if (!isObjectOrList(text)) return undefined;
  const tokens = text.match(TOKENS) ?? [];
  let depth = 0;
  const line = (): string => `\n${"  ".repeat(depth)}`;
  return tokens
    .map((token, i) => {
      const isFirst = "{[".includes(tokens[i - 1] ?? "-");
      if (token === "}" || token === "]") {
        depth -= 1;
        return isFirst ? token : `${line()}${token}`;
      }
      const start = isFirst ? line() : "";
      if (token === "{" || token === "[") {
        depth += 1;
        return `${start}${token}`;
      }
      if (token === ",") return `,${line()}`;
      return `${start}${token === ":" ? ": " : token}`;
    })
    .join("");
}

function isObjectOrList(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
