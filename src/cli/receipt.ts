import type { PresetValue, RequestVerification, ShownResult, Verification } from "../api/types.ts";
import { loadPresets } from "../presets/presetNames.ts";
import { readResult } from "../presets/readResult.ts";
import { findPresetFolders } from "../requests/accept/presetFolder.ts";
import { keccak256, stringToHex, type Hex } from "viem";
import { decodeResult } from "../domain/decodeResult.ts";
import { UNKNOWN_PRESET } from "../text/draw.ts";
import { TycheError } from "../lib/errors.ts";
import { fromHexText } from "../lib/hex.ts";
import { isObject } from "../lib/isObject.ts";
import { canonicalLabel } from "../domain/label.ts";
import { RETURN_TYPES } from "../domain/vocabulary.ts";
import { readText } from "./readText.ts";

/**
 * How much older than an answer the block of its request may be, in ms. A block bears the time at which its slot began, and takes
 * transactions that came in until it was built: Ethereum's slots have 12 seconds.
 */
const SLOT_MS = 12_000;
const NOTHING = "nothing";

/** An answer of the API that its caller has kept: the 202 of a request, the request itself, or its result. */
export interface Receipt {
  readonly network: string | undefined;
  /** Kind of the request; a result doesn't say. */
  readonly kind: string | undefined;
  /** Id of the dapp; a result doesn't say. */
  readonly dappId: string | undefined;
  /** When the request was received, in Unix ms; a result doesn't say. */
  readonly receivedAtMs: number | undefined;
  readonly label: string | undefined;
  /** The request's id on chain; only with a result. */
  readonly requestId: string | undefined;
  /** State of the request; a result doesn't say. */
  readonly state: string | undefined;
  /** What was asked for; empty for a result. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether `params` has all that was asked for. */
  readonly isWhole: boolean;
  /** The result; empty without one. */
  readonly outcome: Readonly<Record<string, unknown>>;
  /** The result's parts, as pages show them. */
  readonly shown: unknown;
}

/** A result as people and programs get it. */
interface ReadResult {
  readonly parsedResult: string;
  readonly value: PresetValue | null;
  readonly shown: ShownResult | undefined;
}

/** What a receipt and the chain say of one request. */
export interface ReceiptCheck {
  /** What agrees. */
  readonly agreed: readonly string[];
  /** Sentences about what doesn't. */
  readonly problems: readonly string[];
}

/** Reads a receipt from a file. Throws {@link ReceiptError}. */
export async function readReceipt(file: string): Promise<Receipt> {
  const text = await readText(file);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ReceiptError(`${file} is not JSON`);
  }
  const body = isObject(answer) && isObject(answer["data"]) ? answer["data"] : answer;
  if (!isObject(body)) throw new ReceiptError(`${file} is not an answer of the API`);
  const isRequest = isObject(body["params"]);
  const params = isRequest ? (body["params"] as Receipt["params"]) : {};
  const outcome = isRequest ? (isObject(body["outcome"]) ? body["outcome"] : {}) : body;
  const receipt: Receipt = {
    network: textIn(body, "network"),
    kind: isRequest ? textIn(body, "kind") : undefined,
    dappId: isRequest ? textIn(body, "dappId") : undefined,
    receivedAtMs: isRequest ? Date.parse(textIn(body, "createdAt") ?? "") : undefined,
    label: canonicalOf(textIn(params, "label") ?? textIn(outcome, "label")),
    requestId: textIn(outcome, "requestId")?.toLowerCase(),
    state: isRequest ? textIn(body, "state") : undefined,
    params,
    isWhole: isRequest && body["payloadDeletedAt"] === undefined,
    outcome,
    shown: body["shown"],
  };
  const named = {
    "on which network": receipt.network,
    "of which kind": receipt.kind,
    "of which dapp": receipt.dappId,
  };
  for (const [what, told] of Object.entries(named))
    if (isRequest && told === undefined) throw new ReceiptError(`${file} doesn't say ${what} it is`);
  if (receipt.label === undefined && receipt.requestId === undefined)
    throw new ReceiptError(`${file} names neither a label nor an id on chain, so it could be any request's`);
  if (Number.isNaN(receipt.receivedAtMs)) throw new ReceiptError(`${file} doesn't say when it was received`);
  return receipt;
}

/** Compares a receipt with what a verification found. */
export async function checkReceipt(receipt: Receipt, found: Verification): Promise<ReceiptCheck> {
  const { requestId, label, params } = receipt;
  const request = found.requests.find((one) =>
    requestId === undefined ? one.label?.label === label : one.requestId === requestId,
  );
  if (request === undefined) {
    const which = requestId === undefined ? `the label ${JSON.stringify(label)}` : `the id ${requestId}`;
    return { agreed: [], problems: [`no request of this transaction has ${which}`] };
  }
  const agreed: string[] = [];
  const problems: string[] = [];
  const readings = await readResults(request, params);
  const pairs = [...compare(receipt, request, found), ...compareResult(receipt, request, readings)];
  for (const [what, told, actual] of pairs)
    if (told === actual) agreed.push(what);
    else problems.push(`${what}: the receipt says ${told}, the chain ${actual}`);
  if (params["once"] === true) {
    const problem = findOnceProblem(request.label);
    if (problem === undefined) agreed.push("once");
    else problems.push(`once: ${problem}`);
  }
  const { receivedAtMs } = receipt;
  if (receivedAtMs === undefined) return { agreed, problems };
  const due = request.beacon?.time ?? null;
  if (due !== null && Date.parse(due) <= receivedAtMs)
    problems.push(`its round was due at ${due}, before the answer was given`);
  if (request.requestedAt === null)
    problems.push("when the request was mined is unknown: the node doesn't show its block");
  else if (Date.parse(request.requestedAt) + SLOT_MS < receivedAtMs) {
    const seconds = Math.round((receivedAtMs - Date.parse(request.requestedAt)) / 1000);
    problems.push(`the request was mined ${seconds} seconds before the answer was given`);
  } else agreed.push("not mined before createdAt");
  return { agreed, problems };
}

/** Returns why a request may not be the only one with its label; `undefined` if the node lists no other. */
function findOnceProblem(label: RequestVerification["label"]): string | undefined {
  if (label === null) return "the request has no label";
  const { draw, draws, searched } = label;
  if (draws.length > 1)
    return `it is request ${draw} of ${draws.length} with the label, and was to be the only one`;
  const unread = searched.omits
    ? "requests with the label could be read"
    : "blocks were searched for the label";
  return searched.isWhole ? undefined : `not all ${unread}, so whether it is the only one is open`;
}

type Pair = readonly [what: string, told: string, found: string];

/** Pairs what the receipt says with what was found, of all that it says about the request. */
function* compare(
  { network, kind, dappId, label, params, isWhole, outcome }: Receipt,
  request: RequestVerification,
  found: Verification,
): Generator<Pair> {
  if (network !== undefined) yield ["network", network, found.network];
  if (kind !== undefined) yield ["kind", kind, request.kind];
  // Only a label names the dapp on chain.
  if (dappId !== undefined && request.label !== null) yield ["dapp", dappId, request.label.dapp];
  yield ["label", JSON.stringify(label ?? null), JSON.stringify(request.label?.label ?? null)];
  const { preset, args, keyHashes, sourceHash } = request;
  const beacon = params["beacon"] ?? outcome["beacon"];
  yield ["round", describeRound(beacon), describeRound(request.beacon)];
  const due = request.beacon?.time ?? null;
  if (isObject(beacon) && due !== null) yield ["time of the round", toArgument(beacon["time"]), due];
  if (params["preset"] !== undefined || (isWhole && request.kind === "preset"))
    yield ["preset", toArgument(params["preset"]), preset?.name ?? UNKNOWN_PRESET];
  for (const [i, name] of (preset?.parameters ?? []).entries())
    if (isWhole || Object.hasOwn(params, name)) yield [name, toArgument(params[name]), args?.[i] ?? NOTHING];
  if (kind === "function") {
    const source = textIn(params, "source");
    if (isWhole || source !== undefined)
      yield [
        "source",
        source === undefined ? NOTHING : keccak256(stringToHex(source)),
        sourceHash ?? NOTHING,
      ];
    if (isWhole || params["args"] !== undefined)
      yield ["args", toArgument(params["args"]), JSON.stringify(args)];
  }
  if (kind === "random") {
    const told = params["keyHashes"] ?? [params["keyHash"]];
    yield ["key hashes", JSON.stringify(told), JSON.stringify(keyHashes)];
    // Without a proof there are no words, and nothing is valid.
    const { length } = request.randomNumber;
    if (length > 0) yield ["numWords", toArgument(params["numWords"]), `${length}`];
  }
}

/** Pairs what the receipt says with what was found, of all that it says about the result. */
function* compareResult(
  { state, outcome, shown }: Receipt,
  { result, err, randomNumber, kind }: RequestVerification,
  readings: readonly ReadResult[],
): Generator<Pair> {
  const isDelivered = kind === "random" ? randomNumber.length > 0 : err !== null;
  const succeeded = isDelivered && (kind === "random" || err === "0x");
  const ended = succeeded ? "fulfilled" : "failed";
  if (state === "fulfilled" || state === "failed") yield ["state", state, isDelivered ? ended : "no result"];
  if (outcome["success"] !== undefined) yield ["success", toArgument(outcome["success"]), `${succeeded}`];
  // The bytes can be what the receipt says, and the text that a person reads another.
  const texts = ["parsedResult", "value"].filter((name) => outcome[name] !== undefined);
  const isRead = readings.length > 0 || kind === "random" || texts.length === 0;
  const text = err === null || err === "0x" ? err : decodeResult(fromHexText(err as Hex), "string");
  for (const [name, actual] of Object.entries({ result, err: text }))
    if (outcome[name] !== undefined)
      yield [
        name === "result" && !isRead ? "result (bytes)" : name,
        toArgument(outcome[name]),
        actual ?? NOTHING,
      ];
  for (const name of kind === "random" ? ["randomNumber", "value"] : [])
    if (outcome[name] !== undefined)
      yield [name, JSON.stringify(outcome[name]), JSON.stringify(randomNumber)];
  const told = (reading: ReadResult): boolean => reading.parsedResult === outcome["parsedResult"];
  const reading = readings.find(told) ?? readings[0];
  if (reading === undefined) return;
  for (const name of texts)
    yield [name, JSON.stringify(outcome[name]), JSON.stringify(reading[name as "parsedResult" | "value"])];
  if (shown !== undefined) yield ["shown", describeShown(shown), describeShown(reading.shown)];
}

/** Reads a result in each of the types that it may have; returns nothing if there is no result, or the preset isn't known. */
async function readResults(
  { kind, result, err, preset, args }: RequestVerification,
  params: Receipt["params"],
): Promise<readonly ReadResult[]> {
  if (kind === "random" || result === null) return [];
  if (err !== "0x") return [{ parsedResult: "", value: null, shown: undefined }];
  const bytes = fromHexText(result as Hex);
  if (kind === "preset") {
    const named = preset?.parameters.map((name, i) => [name, fromArgument(args?.[i] ?? "")]) ?? [];
    const found = (await loadPresets(findPresetFolders())).find((one) => one.name === preset?.name);
    const read = found && readResult(found, bytes, Object.fromEntries(named) as Receipt["params"]);
    return read === undefined ? [] : [read];
  }
  const types = RETURN_TYPES.filter((type) => (params["returnType"] ?? type) === type);
  return types.flatMap((type) => {
    try {
      const parsedResult = decodeResult(bytes, type);
      return [{ parsedResult, value: parsedResult, shown: undefined }];
    } catch {
      return [];
    }
  });
}

function describeShown(shown: unknown): string {
  const { side, rolls, entries } = isObject(shown) ? shown : {};
  return JSON.stringify(side ?? rolls ?? entries ?? NOTHING);
}

/** Names a round of drand; `none` if there is none. */
function describeRound(beacon: unknown): string {
  if (!isObject(beacon)) return "none";
  const { round, chainHash } = beacon;
  return `${JSON.stringify(round)} of ${JSON.stringify(chainHash)}`;
}

/** Returns a value as a source gets it: text as it is, else JSON. */
function toArgument(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? NOTHING);
}

/** Returns an argument as a request gives it: a list, else text. */
function fromArgument(arg: string): unknown {
  try {
    const value: unknown = JSON.parse(arg);
    return Array.isArray(value) ? value : arg;
  } catch {
    return arg;
  }
}

function canonicalOf(label: string | undefined): string | undefined {
  return label === undefined ? undefined : canonicalLabel(label);
}

function textIn(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/** A file can't be used as a receipt. */
export class ReceiptError extends TycheError {
  constructor(reason: string) {
    super(
      `${reason}; give the JSON that the API answered to the request, such as the 202 of Prefer: respond-async`,
      {
        code: "invalid_parameter",
        blame: "caller",
      },
    );
  }
}
