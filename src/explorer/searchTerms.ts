import type { Hex } from "viem";
import { isId } from "../domain/idForm.ts";
import { toWord } from "../lib/uint256.ts";
import { MAX_SEARCH_CHARACTERS } from "../domain/vocabulary.ts";

/** Shorter texts are part of nearly every name. */
export const MIN_NAME_CHARACTERS = 2;
/** Shorter beginnings of hashes and ids are those of many. */
export const MIN_PREFIX_DIGITS = 8;
const MAX_UINT256 = 2n ** 256n - 1n;

/**
 * What a text may refer to. It may be several things at once: 40 decimal digits are an address without its `0x`, and the id of a VRF
 * request.
 */
export interface SearchTerms {
  /** Hash of a transaction or a block, lower case. */
  readonly hash?: Hex;
  /** The beginning of a hash, an address or an id: `0x` and at least 8 digits, lower case. */
  readonly prefix?: Hex;
  /** The beginning of the id of one of the service's own requests: `req_` and at least 8 characters. */
  readonly servicePrefix?: string;
  /** The end of what begins so, where a list shows it shortened, such as `0x12345678…abcdef`; lower case. */
  readonly suffix?: string;
  /** Id of a VRF or Functions request, 32 bytes. */
  readonly requestId?: Hex;
  readonly address?: Hex;
  readonly blockNumber?: bigint;
  /** `req_` and 26 characters: id of one of the service's own requests. */
  readonly serviceRequest?: string;
  /** `dapp_` and 26 characters: id of a dapp, which is on chain with its labels. */
  readonly dapp?: string;
  /** Part of the name of a contract, preset or network, lower case. */
  readonly name?: string;
}

/**
 * Parses what a text may refer to, with or without `0x` or a `#` before it, with or without thousands separators; returns an empty object
 * if it can be nothing.
 */
export function parseSearch(given: string): SearchTerms {
  const text = given.trim().toLowerCase();
  if (text.length > MAX_SEARCH_CHARACTERS) return {};
  if (isId("req", text)) return { serviceRequest: text };
  if (isId("dapp", text)) return { dapp: text };
  if (/^req_[0-9a-hjkmnp-tv-z]{8,25}$/.test(text)) return { servicePrefix: text };
  const [, start = "", suffix = ""] = SHORTENED.exec(text) ?? [];
  const { prefix, servicePrefix } = start === "" ? {} : parseSearch(start);
  const end = suffix === "" ? {} : { suffix };
  if (prefix !== undefined) return { prefix, ...end };
  if (servicePrefix !== undefined) return { servicePrefix, ...end };
  const terms = { ...parsePrefix(text), ...parseHex(text), ...parseDecimal(text) };
  const isName = Object.keys(terms).every((term) => term === "prefix");
  return isName && text.length >= MIN_NAME_CHARACTERS ? { ...terms, name: text } : terms;
}

/** The beginning of an id and, in most lists, its end, with what they put in place of what they leave out. */
const SHORTENED = /^((?:0x|req_)[0-9a-z]+)(?:…|\.{2,3})([0-9a-z]*)$/;

/** Whether an id, of any case, begins and ends as terms say. */
export function isAsShortened(id: string, { prefix, servicePrefix, suffix = "" }: SearchTerms): boolean {
  const text = id.toLowerCase();
  return text.startsWith(prefix ?? servicePrefix ?? "") && text.endsWith(suffix);
}

/**
 * Describes in words what a text could refer to; empty if it could be nothing.
 *
 * @param isInResults whether it is looked for in titles and results of requests; default: if it may be a name
 */
export function describeTerms(terms: SearchTerms, isInResults = terms.name !== undefined): string[] {
  const { hash, prefix, requestId, address, blockNumber, serviceRequest, servicePrefix, dapp, name } = terms;
  return [
    ...(hash === undefined ? [] : ["the hash of a transaction or a block"]),
    ...(prefix === undefined ? [] : ["the beginning of a hash, an address or a request id"]),
    ...(requestId === undefined ? [] : ["the id of a VRF request or a function request"]),
    ...(address === undefined ? [] : ["an address"]),
    ...(blockNumber === undefined ? [] : ["a block number"]),
    ...(servicePrefix === undefined ? [] : ["the beginning of the id of a request of this service"]),
    ...(serviceRequest === undefined ? [] : ["the id of a request of this service"]),
    ...(dapp === undefined ? [] : ["the id of a dapp with labels"]),
    ...(name === undefined
      ? []
      : ["part of the name of a contract, preset or network", "part of a request's label"]),
    ...(isInResults ? ["part of the title or result of one of the newest thousand requests"] : []),
  ];
}

function parseHex(text: string): SearchTerms {
  const hex: Hex = `0x${text.replace(/^0x/, "")}`;
  if (/^0x[0-9a-f]{64}$/.test(hex)) return { hash: hex, requestId: hex };
  if (/^0x[0-9a-f]{40}$/.test(hex)) return { address: hex };
  return /^0x[0-9a-f]{1,13}$/.test(text) ? { blockNumber: BigInt(text) } : {};
}

/** With letters, as a number may be a block's. An address is one, and nothing's beginning. */
function parsePrefix(text: string): SearchTerms {
  const [, digits = ""] = /^(?=.*[a-f]|0x)(?:0x)?([0-9a-f]{8,63})$/.exec(text) ?? [];
  return digits === "" || digits.length === 40 ? {} : { prefix: `0x${digits}` };
}

function parseDecimal(text: string): SearchTerms {
  const digits = /^#?[0-9]+(?:[ ,_'\u00a0\u2009\u202f][0-9]{3})*$/.test(text)
    ? text.replaceAll(/[^0-9]/g, "")
    : "";
  if (digits === "") return {};
  // Block numbers are below 2^53; request ids of VRF v2 and v2.5 are hashes, with about 77 digits.
  if (digits.length <= 15) return { blockNumber: BigInt(digits) };
  const number = BigInt(digits);
  return digits.length >= 30 && number <= MAX_UINT256 ? { requestId: toWord(number) } : {};
}
