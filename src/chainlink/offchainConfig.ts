import { hexToString, isHex, stringToHex, type Hex } from "viem";

/** Version of what is inside; OCR2's `offchainConfigVersion` is 1 for every configuration of ours. */
const VERSION = 1;
/** Longest URL of a node. */
export const MAX_NODE_URL_LENGTH = 256;

/** Encodes where each node takes messages, in the order of the signers, as OCR2 `offchainConfig`: JSON in UTF-8. */
export function encodeNodeUrls(urls: readonly string[]): Hex {
  return stringToHex(JSON.stringify({ version: VERSION, urls }));
}

/** Reads what {@link encodeNodeUrls} wrote; `undefined` for anything else. Whoever owns the coordinator may have written it. */
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

/** Printable ASCII: a URL parser takes control characters, too, and terminals obey them. */
const PRINTABLE = /^[!-~]+$/;

/** Whether a node's peers can reach it there: an `http:` or `https:` URL without credentials, query or fragment. */
export function isNodeUrl(text: unknown): boolean {
  if (typeof text !== "string" || text.length > MAX_NODE_URL_LENGTH) return false;
  if (!PRINTABLE.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (
    (protocol === "http:" || protocol === "https:") &&
    [username, password, search, hash].every((part) => part === "")
  );
}

/** Returns where a node serves a path; its URL may have one of its own, as behind a proxy. */
export function endpointOf(nodeUrl: string, path: string): URL {
  return new URL(`${nodeUrl.replace(/\/+$/, "")}${path}`);
}
