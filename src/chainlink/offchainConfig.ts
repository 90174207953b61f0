import { hexToString, isHex, stringToHex, type Hex } from "viem";

/** Version of the content; OCR2's `offchainConfigVersion` is 1 for all our configurations. */
const VERSION = 1;
/** Maximum length of a node's URL, in characters. */
export const MAX_NODE_URL_LENGTH = 256;

/** Encodes the URL at which each node takes messages, in the order of the signers, as OCR2 `offchainConfig`: JSON in UTF-8. */
export function encodeNodeUrls(urls: readonly string[]): Hex {
  return stringToHex(JSON.stringify({ version: VERSION, urls }));
}

/** Parses the output of {@link encodeNodeUrls}; `undefined` for anything else, as the coordinator's owner may have written it. */
export function parseNodeUrls(offchainConfig: Hex, nodes: number): readonly string[] | undefined {
  if (!isHex(offchainConfig) || offchainConfig.length > 2 + 2 * (64 + nodes * (MAX_NODE_URL_LENGTH + 3)))
    return undefined;
  try {
    const { version, urls } = JSON.parse(hexToString(offchainConfig)) as {
      version?: unknown;
      urls?: unknown;
    };
    const isWhole =
      version === VERSION && Array.isArray(urls) && urls.length === nodes && urls.every(isNodeUrl);
    return isWhole ? (urls as string[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Printable ASCII: URL parsers also accept control characters, which terminals obey. */
const PRINTABLE = /^[!-~]+$/;

/** Whether a text is a URL that a node's peers can use: `http:` or `https:`, without credentials, query or fragment. */
export function isNodeUrl(text: unknown): boolean {
  if (typeof text !== "string" || text.length > MAX_NODE_URL_LENGTH) return false;
  if (!PRINTABLE.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (
    (protocol === "http:" || protocol === "https:") &&
    [username, password, search, hash].every((part) => part === "")
  );
}

/** Returns the URL of a path on a node, whose own URL may already have a path, as behind a proxy. */
export function endpointOf(nodeUrl: string, path: string): URL {
  return new URL(`${nodeUrl.replace(/\/+$/, "")}${path}`);
}
