import { parseDataUrl } from "../dataUrl.ts";

/**
 * Gives the text of the ES module that a `data:` URL holds. It is the source's own code, so it needs no one outside.
 *
 * @param type The import attribute: `json`, or `""` for code.
 * @returns `null` where the media type and the attribute don't go together: that is for the host to explain.
 */
export function dataModuleCode(url: string, type: string): string | null {
  const data = parseDataUrl(url);
  if (data === null) return null;
  const text = data.bytes.toString();
  if (type === "json" && /^(?:application|text)\/json$/.test(data.mediaType)) {
    return `export default JSON.parse(${JSON.stringify(text)});`;
  }
  const isScript = /^(?:text|application)\/(?:x-)?(?:java|ecma)script$/.test(data.mediaType);
  return isScript && type === "" ? text : null;
}
