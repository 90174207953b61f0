import { decode, encode } from "cborg";
import type { Hex } from "viem";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { isObject } from "../lib/isObject.ts";
import { CiphertextError } from "./tdh2.ts";

/** A version of what an uploader put in one of their slots. */
export interface SlotVersion {
  readonly slotId: number;
  readonly version: number;
}

/** What a request with secrets that the oracle network holds (location 2) says about them. */
export interface SecretsReference {
  /** Who uploaded them, lower case; absent: whoever may for the subscription. */
  readonly owner?: Hex;
  readonly slots: readonly SlotVersion[];
}

const ADDRESS_BYTES = 20;
/** Highest number of slots that one request may name. */
export const MAX_SLOTS_OF_REQUEST = 100;

/** Encodes the names of several slots of one owner, as our own requests have it. */
export function encodeSecretsReference({ owner, slots }: Required<SecretsReference>): Hex {
  const pairs = slots.map(({ slotId, version }) => [slotId, version]);
  return toHexText(encode({ owner: fromHexText(owner), slots: pairs }));
}

/**
 * Decodes our form, or `{slotId, version}` of the toolkit's `buildDONHostedEncryptedSecretsReference`.
 *
 * @throws {CiphertextError} for anything else.
 */
export function decodeSecretsReference(bytes: Uint8Array): SecretsReference {
  let content: unknown;
  try {
    content = decode(bytes);
  } catch {
    // Reported below, like any other content.
  }
  if (isObject(content)) {
    const { slotId, version, owner, slots } = content;
    if (isCount(slotId) && isCount(version)) return { slots: [{ slotId, version }] };
    if (
      owner instanceof Uint8Array &&
      owner.length === ADDRESS_BYTES &&
      Array.isArray(slots) &&
      slots.length <= MAX_SLOTS_OF_REQUEST &&
      slots.every(isPair) &&
      new Set(slots.map(([id]) => id)).size === slots.length
    )
      return { owner: toHexText(owner), slots: slots.map(([id, of]) => ({ slotId: id, version: of })) };
  }
  throw new CiphertextError("the request does not say in which slot they are");
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isPair = (value: unknown): value is [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(isCount);
