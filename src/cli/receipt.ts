import { readFile } from "node:fs/promises";
import type { RequestVerification, Verification } from "../api/types.ts";
import { keccak256, stringToHex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { UNKNOWN_PRESET } from "../lib/drawWords.ts";
import { isObject } from "../lib/isObject.ts";

/**
 * How much older than an answer the block of its request may be, in ms. A block bears the time at which its slot began, and takes
 * transactions that came in until it was built: Ethereum's slots have 12 seconds.
 */
const SLOT_MS = 12_000;

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
  /** What was asked for; empty for a result. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The result; empty without one. */
  readonly outcome: Readonly<Record<string, unknown>>;
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
  const text = await readFile(file, "utf8");
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
    label: textIn(params, "label") ?? textIn(outcome, "label"),
    requestId: textIn(outcome, "requestId")?.toLowerCase(),
    params,
    outcome,
  };
  if (receipt.label === undefined && receipt.requestId === undefined)
    throw new ReceiptError(`${file} names neither a label nor an id on chain, so it could be any request's`);
  if (Number.isNaN(receipt.receivedAtMs)) throw new ReceiptError(`${file} doesn't say when it was received`);
  return receipt;
}

/** Compares a receipt with what a verification found. */
export function checkReceipt(receipt: Receipt, found: Verification): ReceiptCheck {
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
  for (const [what, told, actual] of compare(receipt, request, found))
    if (told === actual) agreed.push(what);
    else problems.push(`${what}: the receipt says ${told}, the chain ${actual}`);
  if (params["once"] === true && request.label !== null) {
    const { draw, draws, searched } = request.label;
    if (draws.length > 1)
      problems.push(
        `once: it is request ${draw} of ${draws.length} with the label, and was to be the only one`,
      );
    else if (!searched.isWhole)
      problems.push(
        `once: not all ${searched.omits ? "requests with the label could be read" : "blocks were searched for the label"}, so whether it is the only one is open`,
      );
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
  } else agreed.push("time");
  return { agreed, problems };
}

/** Pairs what the receipt says with what was found, of all that it says. */
function* compare(
  { network, kind, dappId, label, params, outcome }: Receipt,
  request: RequestVerification,
  found: Verification,
): Generator<readonly [what: string, told: string, found: string]> {
  if (network !== undefined) yield ["network", network, found.network];
  if (kind !== undefined) yield ["kind", kind, request.kind];
  // Only a label names the dapp on chain.
  if (dappId !== undefined && request.label !== null) yield ["dapp", dappId, request.label.dapp];
  yield ["label", JSON.stringify(label ?? null), JSON.stringify(request.label?.label ?? null)];
  const { preset, args, keyHashes, sourceHash } = request;
  yield ["round", describeRound(params["beacon"] ?? outcome["beacon"]), describeRound(request.beacon)];
  if (params["preset"] !== undefined)
    yield ["preset", toArgument(params["preset"]), preset?.name ?? UNKNOWN_PRESET];
  for (const [i, name] of (preset?.parameters ?? []).entries())
    if (Object.hasOwn(params, name)) yield [name, toArgument(params[name]), args?.[i] ?? "nothing"];
  if (kind === "function") {
    const source = params["source"];
    if (typeof source === "string") yield ["source", keccak256(stringToHex(source)), sourceHash ?? "nothing"];
    if (params["args"] !== undefined) yield ["args", JSON.stringify(params["args"]), JSON.stringify(args)];
  }
  if (kind === "random") {
    const told = params["keyHashes"] ?? [params["keyHash"]];
    yield ["key hashes", JSON.stringify(told), JSON.stringify(keyHashes)];
    // Without a proof there are no words, and nothing is valid.
    const { length } = request.randomNumber;
    if (length > 0) yield ["numWords", toArgument(params["numWords"]), `${length}`];
  }
  for (const name of ["result", "err"] as const)
    if (outcome[name] !== undefined) yield [name, toArgument(outcome[name]), request[name] ?? "nothing"];
  if (outcome["randomNumber"] !== undefined)
    yield ["randomNumber", JSON.stringify(outcome["randomNumber"]), JSON.stringify(request.randomNumber)];
}

/** Names a round of drand; `none` if there is none. */
function describeRound(beacon: unknown): string {
  if (!isObject(beacon)) return "none";
  const { round, chainHash } = beacon;
  return `${JSON.stringify(round)} of ${JSON.stringify(chainHash)}`;
}

/** Returns a value as a source gets it: text as it is, else JSON. */
function toArgument(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
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
