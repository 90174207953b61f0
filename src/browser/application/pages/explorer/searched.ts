/** What is looked for: of a link to a page of this explorer or another one, what the page is about; else the text itself. */
export function readSearched(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return text;
  return /\/(?:tx|address|block|token|r|requests)\/([^/]+)/.exec(url.pathname)?.[1] ?? text;
}
