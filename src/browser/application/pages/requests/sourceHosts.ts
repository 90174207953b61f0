/** A comment, of a source without regard to its strings; an address in a string has no blank before its slashes. */
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/.*/g;
/** The beginning of an address that a source names, up to its path or to what is filled in. */
const ADDRESSES = /\bhttps?:\/\/([^\s/?#"'`<>\\(){}[\],;]+)/gi;
const CALLS = /\bmakeHttpRequest\b|\bfetch\s*\(/;

/**
 * Returns the hosts that a source names in the addresses of its HTTP requests, each once, without those in comments: not what it asks if it
 * builds an address otherwise. `undefined` if it makes no requests, as far as its text shows.
 */
export function findSourceHosts(source: string): readonly string[] | undefined {
  const code = source.replaceAll(COMMENTS, "");
  if (!CALLS.test(code)) return undefined;
  const hosts = [...code.matchAll(ADDRESSES)].map(([, host = ""]) => host.toLowerCase());
  return [...new Set(hosts.filter((host) => !host.includes("$")))];
}
