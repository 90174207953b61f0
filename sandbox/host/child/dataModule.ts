import { parseDataUrl } from "../dataUrl.ts";

/**
 * Returns the text of the ES module in a `data:` URL. It is the source's own code, so the parent need not be asked.
 *
 * @param type The import attribute: `json`, or `""` for code.
 * @returns `null` if the media type and the attribute don't go together; the host explains that.
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
