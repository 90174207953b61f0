/**
 * Creates a redactor for a node's URL: providers put API keys into its path, query or user info, and libraries put the URL into
 * their messages. Scheme and host stay, so that the node can still be identified, unless `hidesHost` is set.
 */
export function createUrlHider(
  rpcUrl: string,
  { hidesHost = false }: { readonly hidesHost?: boolean } = {},
): (text: string) => string {
  const url = URL.parse(rpcUrl);
  if (url === null) return (text) => text;
  const shown = hidesHost ? "[hidden]" : `${url.protocol}//${url.host}`;
  const { username, password, pathname, search } = url;
  const secrets = [pathname.length > 1 ? pathname : "", search.length > 1 ? search : "", username, password]
    .flatMap((part) => [part, decode(part)])
    .filter((part) => part.length >= MIN_SECRET_CHARACTERS);
  const hosts = hidesHost ? [url.origin, url.host, url.hostname].filter((part) => part !== "null") : [];
  const hidden = [...new Set([rpcUrl, url.href, ...secrets, ...hosts])].toSorted(
    (a, b) => b.length - a.length,
  );
  return (text) =>
    hidden.reduce(
      (left, part) => left.replaceAll(part, part === rpcUrl || part === url.href ? shown : "[hidden]"),
      text,
    );
}

/** Shorter parts are not keys, and would match everywhere. */
const MIN_SECRET_CHARACTERS = 6;

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
