/** A comment, of a source without regard to its strings; an address in a string has no blank before its slashes, and none begins within a media type. */
const COMMENTS = /(?<!["'`*])\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/.*/g;
/** Comments to the end of a line; an address in a string has none. */
export const LINE_COMMENTS = /(?<![:"'`\w])\/\/.*/g;
/** The beginning of an address that a source names, up to its path or to what is filled in. */
const ADDRESSES = /\bhttps?:\/\/([^\s/?#"'`<>\\(){}[\],;]+)/gi;
const CALLS = /\bmakeHttpRequest\b|\bfetch\b|\bimport\s*\(/;

/**
 * Returns the hosts that a source names in the addresses of its HTTP requests, each once, without those in comments: not what it asks if it
 * builds an address otherwise. `undefined` if it makes no requests, as far as its text shows.
 */
export function findSourceHosts(source: string): readonly string[] | undefined {
  // Taken from the whole text: what looks like a comment may stand in a string.
  if (!CALLS.test(source)) return undefined;
  // Behind the last end of a block comment none begins; looking for one from each `/*` on would take time that grows with the square.
  const cut = source.lastIndexOf("*/") + 2;
  const [commented, rest] = cut === 1 ? ["", source] : [source.slice(0, cut), source.slice(cut)];
  const code = commented.replaceAll(COMMENTS, "") + rest.replaceAll(LINE_COMMENTS, "");
  const hosts = [...code.matchAll(ADDRESSES)].map(([, host = ""]) => host.toLowerCase());
  return [...new Set(hosts.filter((host) => !host.includes("$")))];
}
