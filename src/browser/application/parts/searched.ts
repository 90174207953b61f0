/**
 * Returns what to search for: for a link to a page of this or another explorer, the page's subject; otherwise the text
 * itself.
 */
export function readSearched(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return text;
  return /\/(?:tx|address|block|token|r|requests)\/([^/]+)/.exec(url.pathname)?.[1] ?? text;
}
