import { decode, encode, type DecodeOptions } from "cborg";
import { bigIntDecoder } from "cborg/taglib";
import { concatBytes, hexToBytes, type Hex } from "viem";
import { PACKED_ROUND_BYTES, packRound, type DrandRound, unpackRound } from "../beacon/drand.ts";
import { messageOf, TycheError } from "../lib/errors.ts";
import { toHexText } from "../lib/hex.ts";
import { toWord } from "../lib/uint256.ts";
import { beaconWord } from "./presetBatch.ts";

/** What an oracle node is asked to run. */
export interface FunctionsRequest {
  readonly source: string;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
  /** 0: `source` is the source itself. Other values (1 remote, 2 held by the oracle network) mean that it points to the source. */
  readonly codeLocation: number;
  /** 0: JavaScript. */
  readonly language: number;
  /** Where `secrets` points: 1 remote, 2 held by the oracle network. Absent without secrets. */
  readonly secretsLocation?: number;
  readonly secrets?: Hex;
  /** The round of drand that it waits for: the word that follows from it is appended to `bytesArgs`. */
  readonly beacon?: DrandRound;
}

/** Maximum size of an encoded request in bytes, source and arguments included: the oracle network's own limit, 30 KB. */
export const MAX_REQUEST_BYTES = 30_720;

/** `FunctionsRequest.REQUEST_DATA_VERSION`. */
export const REQUEST_DATA_VERSION = 1;

/**
 * Encodes a request for inline JavaScript to exactly the bytes of functions-toolkit's `buildRequestCBOR`: a map in canonical
 * order (RFC 7049, section 3.9), without empty lists.
 *
 * FunctionsRequest.sol encodes the same differently: pairs without a map, numbers of 32 bytes, arrays without length.
 * {@link decodeFunctionsRequest} accepts both.
 */
export function encodeFunctionsRequest(request: {
  readonly source: string;
  readonly args?: readonly string[];
  readonly bytesArgs?: readonly Hex[];
  /** What `secrets` points to, held by the oracle network; absent without secrets. */
  readonly secretsReference?: Hex | undefined;
  readonly beacon?: DrandRound | undefined;
}): Uint8Array {
  const { source, args = [], bytesArgs = [], secretsReference, beacon } = request;
  return encode({
    codeLocation: 0,
    codeLanguage: 0,
    source,
    ...(secretsReference === undefined
      ? {}
      : { secretsLocation: HELD_BY_NODES, secrets: hexToBytes(secretsReference) }),
    ...(args.length > 0 ? { args } : {}),
    ...(bytesArgs.length > 0 ? { bytesArgs: bytesArgs.map((bytes) => hexToBytes(bytes)) } : {}),
    ...(beacon === undefined ? {} : { beacon: packRound(beacon) }),
  });
}

/** Encodes arguments as the CBOR array that a preset batch carries; empty if there are none. */
export function encodeArgs(args: readonly string[]): Uint8Array {
  return args.length === 0 ? new Uint8Array() : encode(args);
}

/**
 * Decodes the arguments of a preset in a batch.
 *
 * @throws MalformedRequestError when they are not what {@link encodeArgs} returns.
 */
export function decodeArgs(args: Uint8Array): readonly string[] {
  if (args.length === 0) return [];
  let list: unknown;
  try {
    list = decode(args);
  } catch (cause) {
    throw new MalformedRequestError(messageOf(cause));
  }
  return parseList(list, "args", (item) => typeof item === "string");
}

/**
 * Decodes a request as the oracle nodes do: pairs with or without a map around them, in any order, ignoring unknown keys. The
 * language is under `language` or, from functions-toolkit's `buildRequestCBOR`, under `codeLanguage`.
 *
 * @throws MalformedRequestError for anything that is not a request, or is longer than {@link MAX_REQUEST_BYTES}.
 */
export function decodeFunctionsRequest(data: Uint8Array): FunctionsRequest {
  if (data.length > MAX_REQUEST_BYTES) {
    throw new MalformedRequestError(`it has ${data.length} bytes of at most ${MAX_REQUEST_BYTES}`);
  }
  const isMap = data[0] !== undefined && data[0] >> 5 === MAJOR_TYPE_MAP;
  let pairs: unknown;
  try {
    pairs = decode(isMap ? data : concatBytes([INDEFINITE_MAP, data, BREAK]), DECODING);
  } catch (cause) {
    throw new MalformedRequestError(messageOf(cause));
  }
  if (!(pairs instanceof Map)) throw new MalformedRequestError("it is not a map");
  const { source, args, bytesArgs, secrets, secretsLocation, beacon } = Object.fromEntries(
    pairs as Map<string, unknown>,
  );
  if (typeof source !== "string") throw new MalformedRequestError("source is not a text");
  const language: unknown = pairs.get("language") ?? pairs.get("codeLanguage");
  return {
    source,
    args: parseList(args, "args", (item) => typeof item === "string"),
    bytesArgs: parseList(bytesArgs, "bytesArgs", (item) => item instanceof Uint8Array).map(toHex),
    codeLocation: parseNumber(pairs.get("codeLocation"), "codeLocation"),
    language: parseNumber(language, "language"),
    ...(secrets instanceof Uint8Array
      ? { secrets: toHex(secrets), secretsLocation: parseNumber(secretsLocation, "secretsLocation") }
      : {}),
    ...(beacon === undefined ? {} : { beacon: parseRound(beacon) }),
  };
}

/** Returns what the source of a request with a round of drand receives as `bytesArgs`: the request's, and the word of 32 bytes. */
export function withBeaconWord(
  bytesArgs: readonly Hex[],
  of: { readonly signature: Uint8Array; readonly requestId: Hex },
): readonly Hex[] {
  return [...bytesArgs, toWord(beaconWord(0n, of))];
}

/** FunctionsRequest.sol `Location.DONHosted`. */
const HELD_BY_NODES = 2;
const MAJOR_TYPE_MAP = 5;
const INDEFINITE_MAP = Uint8Array.of(0xbf);
const BREAK = Uint8Array.of(0xff);
/** Tag 2 is a number of any size; FunctionsRequest.sol encodes 0 with it. */
const DECODING: DecodeOptions = { useMaps: true, tags: { 2: bigIntDecoder } };

function parseList<T>(value: unknown, key: string, isItem: (item: unknown) => item is T): readonly T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isItem))
    throw new MalformedRequestError(`${key} has the wrong type`);
  return value;
}

function parseNumber(value: unknown, key: string): number {
  if (value === undefined || value === null) return 0;
  const number = typeof value === "bigint" ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw new MalformedRequestError(`${key} is not a whole number`);
  return number as number;
}

function parseRound(value: unknown): DrandRound {
  if (value instanceof Uint8Array && value.length === PACKED_ROUND_BYTES) return unpackRound(value);
  throw new MalformedRequestError(`beacon is not ${PACKED_ROUND_BYTES} bytes`);
}

function toHex(bytes: Uint8Array): Hex {
  return toHexText(bytes);
}

/** The data of an on-chain request isn't a request that a node could run. */
export class MalformedRequestError extends TycheError {
  constructor(reason: string) {
    super(`the request's data is no CBOR-encoded Functions request: ${reason}`, {
      code: "malformed_request",
      blame: "caller",
    });
  }
}

/**
 * Returns the name of the group of runs that may share an isolate, each with its own global object: those that one Functions
 * subscription pays for, which are one customer's code. Dry runs and nodes use the same name, so that a child process that
 * serves both need not create a new isolate in between (about 1 ms).
 *
 * @param router address of the FunctionsRouter that holds the subscription.
 */
export function sandboxGroup(router: Hex, functionsSubscriptionId: bigint): string {
  return `subscription ${functionsSubscriptionId} of ${router.toLowerCase()}`;
}
