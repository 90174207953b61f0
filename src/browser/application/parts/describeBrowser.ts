/** By what a user agent is told; each one also names those after it. */
const BROWSERS = {
  Edge: /Edg/,
  Opera: /OPR\//,
  Firefox: /Firefox\/|FxiOS\//,
  Chrome: /Chrome\/|CriOS\//,
  Safari: /Safari\//,
};
const SYSTEMS = {
  Android: /Android/,
  iOS: /iPhone|iPad/,
  Windows: /Windows/,
  macOS: /Macintosh/,
  ChromeOS: /CrOS/,
  Linux: /Linux/,
};

/** Names a browser and its system by their user agent, such as "Chrome on Linux"; returns the user agent itself if it isn't known. */
export function describeBrowser(userAgent: string): string {
  const find = (known: Readonly<Record<string, RegExp>>): string | undefined =>
    Object.keys(known).find((name) => known[name]!.test(userAgent));
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  return browser === undefined || system === undefined ? userAgent : `${browser} on ${system}`;
}
