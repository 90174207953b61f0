import { hexToString, isHash, isHex, stringToHex, type Hex } from "viem";
import { isObject } from "../lib/isObject.ts";

/** Version of the content; OCR2's `offchainConfigVersion` is 1 for all our configurations. */
const VERSION = 1;
/** Maximum length of a node's URL, in characters. */
export const MAX_NODE_URL_LENGTH = 256;

/** Maximum length of the rest, in characters. */
const MAX_REST_LENGTH = 320;

/** The key for secrets that nodes of an earlier configuration are to hand on. */
export interface FormerKey {
  /** The earlier configuration, and the block of its log. */
  readonly configDigest: Hex;
  readonly blockNumber: number;
  /** SHA-256 of its threshold public key. */
  readonly keyHash: Hex;
}

/**
 * Encodes OCR2 `offchainConfig`, as JSON in UTF-8.
 *
 * @param urls where each node takes messages, in the order of the signers.
 * @param formerKey the key for secrets that these nodes take over; without it, they generate one.
 */
export function encodeNodeUrls(urls: readonly string[], formerKey?: FormerKey): Hex {
  return stringToHex(JSON.stringify({ version: VERSION, urls, formerKey }));
}

/** Parses the key of {@link encodeNodeUrls}; `undefined` if there is none. */
export function parseFormerKey(offchainConfig: Hex, nodes: number): FormerKey | undefined {
  if (parseNodeUrls(offchainConfig, nodes) === undefined) return undefined;
  const { formerKey } = JSON.parse(hexToString(offchainConfig)) as { formerKey?: unknown };
  const { configDigest, blockNumber, keyHash } = isObject(formerKey) ? formerKey : {};
  return isDigest(configDigest) && isDigest(keyHash) && Number.isSafeInteger(blockNumber)
    ? { configDigest, blockNumber: blockNumber as number, keyHash }
    : undefined;
}

const isDigest = (value: unknown): value is Hex => typeof value === "string" && isHash(value);

/** Parses the URLs of {@link encodeNodeUrls}; `undefined` for anything else, as the coordinator's owner may have written it. */
export function parseNodeUrls(offchainConfig: Hex, nodes: number): readonly string[] | undefined {
  if (
    !isHex(offchainConfig) ||
    offchainConfig.length > 2 + 2 * (MAX_REST_LENGTH + nodes * (MAX_NODE_URL_LENGTH + 3))
  )
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
