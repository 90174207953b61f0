/** What an operator's service asks of an oracle in another process: the payloads of messages whose signature is the operator's. */
import { isHex, type Hex } from "viem";
import type { RunResult } from "../../../sandbox/index.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { isObject } from "../../lib/isObject.ts";
import type { NamedSlots, SecretRun, SecretsHolder } from "../../secrets/holder.ts";
import type { Secret } from "../../secrets/sealSecret.ts";
import { decodeSecretsReference } from "../../secrets/secretsReference.ts";
import { GatewayError, type OperatorMethod } from "./gatewayMessage.ts";
import type { Slot } from "./vault.ts";

/** How far ahead a message's end may be, by the oracle's clock: a recorded one is worth nothing afterwards. */
const MAX_AHEAD_MS = 600_000;
/** Most slots that one message deletes. */
export const MAX_DROPPED = 500;

/** A message's payload: until when it holds, and what the method takes. */
export type OperatorPayload = { readonly validUntil: number } & (
  | { readonly slot: Omit<Slot, "owner"> }
  | { readonly slotIds: readonly number[] }
  | WireSlots
  | (WireSlots & { readonly source: string; readonly args: readonly string[]; readonly maxBytes: number })
);

interface WireSlots {
  readonly reference: Hex;
  readonly subscriptionId: string;
}

/** A {@link SecretRun} as JSON. */
interface WireRun {
  readonly run: (RunResult & { readonly ok: false }) | (Omit<RunResult, "bytes"> & { readonly ok: true });
  /** The result, if there is one. */
  readonly result?: Hex;
  readonly shownChars: number;
}

/**
 * Does what the operator's service asks.
 *
 * @param owner the operator, who has signed the message.
 * @throws {GatewayError} when the payload is malformed, or names secrets that are not the operator's; and as {@link SecretsHolder}.
 */
export async function runOperatorCall(
  holder: Omit<Required<SecretsHolder>, "threshold">,
  {
    method,
    payload,
    owner,
  }: { readonly method: OperatorMethod; readonly payload: unknown; readonly owner: Hex },
): Promise<object> {
  const given = isObject(payload) ? payload : {};
  switch (method) {
    case "operator_keep":
      await holder.keep({ ...parseSlot(given["slot"]), owner });
      return {};
    case "operator_drop":
      await holder.drop(owner, parseSlotIds(given["slotIds"]));
      return {};
    case "operator_describe":
      return { secrets: await holder.describe(parseNamed(given, owner)) };
    case "operator_run": {
      const slots = parseNamed(given, owner);
      const { source, args, maxBytes } = given;
      if (typeof source !== "string" || !isTexts(args) || !isCount(maxBytes))
        return refuse("source, args and maxBytes");
      const request = { source, args, bytesArgs: [], limits: { maxResponseBytes: maxBytes }, observe: true };
      const caller = `dry runs of ${slots.subscriptionId}`;
      return toWire(await holder.run(slots, { ...request, caller }));
    }
  }
}

function toWire({ run, shownChars }: SecretRun): WireRun {
  if (!run.ok) return { run, shownChars };
  const { bytes, ...usage } = run;
  return { run: usage, result: toHexText(bytes), shownChars };
}

/** Parses what {@link runOperatorCall} returns for a run; `undefined` if it is malformed. */
export function parseRun(answer: Readonly<Record<string, unknown>>): SecretRun | undefined {
  const { run, result = "0x", shownChars } = answer;
  if (!isRun(run) || !isCount(shownChars)) return undefined;
  if (!run.ok) return { run, shownChars };
  if (typeof result !== "string" || !/^0x(?:[\da-f]{2})*$/i.test(result)) return undefined;
  return { run: { ...run, bytes: fromHexText(result as Hex) }, shownChars };
}

function isRun(run: unknown): run is WireRun["run"] {
  if (!isObject(run)) return false;
  const { console, consoleTruncated, timeMs, memoryBytes, httpRequests, touched, ok, error } = run;
  return (
    typeof console === "string" &&
    typeof consoleTruncated === "boolean" &&
    typeof timeMs === "number" &&
    isCount(memoryBytes) &&
    isCount(httpRequests) &&
    isTexts(touched) &&
    (ok === true || (ok === false && isRunError(error)))
  );
}

function isRunError(error: unknown): boolean {
  if (!isObject(error)) return false;
  const { kind, message, detail = "", stack = "", line = 1, column = 1 } = error;
  return isTexts([kind, message, detail, stack]) && isCount(line) && isCount(column);
}

/** Parses what {@link runOperatorCall} returns for secrets that it describes; `undefined` if it is malformed. */
export function parseDescribed(secrets: unknown): readonly Omit<Secret, "value">[] | undefined {
  const isOne = (one: unknown): boolean => {
    const { name, allowedHosts = [] } = isObject(one) ? one : {};
    return typeof name === "string" && isTexts(allowedHosts);
  };
  return Array.isArray(secrets) && secrets.every(isOne) ? (secrets as Omit<Secret, "value">[]) : undefined;
}

/**
 * @throws {GatewayError} when a payload of the operator's is too old, or of a time to come.
 */
export function assertInTime(payload: unknown): void {
  const { validUntil } = isObject(payload) ? payload : {};
  const now = Date.now();
  if (isCount(validUntil) && validUntil > now && validUntil <= now + MAX_AHEAD_MS) return;
  throw new GatewayError(
    "it is too old, or comes from a clock that differs by minutes; set the clocks of service and oracle",
  );
}

function parseSlot(given: unknown): Omit<Slot, "owner"> {
  const { slotId, version, ciphertext, expiresAt } = isObject(given) ? given : {};
  if (isCount(slotId) && isCount(version) && typeof ciphertext === "string" && isCount(expiresAt))
    return { slotId, version, ciphertext, expiresAt };
  return refuse("slot");
}

function parseSlotIds(given: unknown): readonly number[] {
  if (Array.isArray(given) && given.length <= MAX_DROPPED && given.every(isCount)) return given;
  return refuse("slotIds");
}

/** Parses the names of secrets that the operator uploaded: nobody else's are run or described for it. */
function parseNamed(
  { reference, subscriptionId }: Readonly<Record<string, unknown>>,
  owner: Hex,
): NamedSlots {
  if (!isHex(reference) || typeof subscriptionId !== "string" || !/^[0-9]{1,20}$/.test(subscriptionId))
    return refuse("reference and subscriptionId");
  if (decodeSecretsReference(fromHexText(reference)).owner !== owner)
    throw new GatewayError("it names secrets that the operator has not uploaded");
  return { reference, subscriptionId: BigInt(subscriptionId) };
}

function refuse(members: string): never {
  throw new GatewayError(`the payload must have ${members}; are service and oracle of the same version?`);
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
