import { TypeError, keys } from "./builtins.ts";

/** Returns the `type` of `import(…, { with: { type } })`; `""` if there is none (ECMAScript, EvaluateImportCall). */
export function attributeType(options: unknown): string {
  if (options === undefined) return "";
  if (typeof options !== "object" || options === null) {
    throw new TypeError("The second argument of import() must be an object");
  }
  const attributes = (options as { with?: unknown }).with;
  if (attributes === undefined) return "";
  if (typeof attributes !== "object" || attributes === null) {
    throw new TypeError("The 'with' option of import() must be an object");
  }
  for (const name of keys(attributes)) {
    const value = (attributes as Record<string, unknown>)[name];
    if (typeof value !== "string") throw new TypeError("Import attribute value must be a string");
    if (name !== "type")
      throw new TypeError(`Import attribute "${name}" with value "${value}" is not supported`);
  }
  return (attributes as { type?: string }).type ?? "";
}
