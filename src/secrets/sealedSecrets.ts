import { sha256 } from "@noble/hashes/sha2.js";
import { concat, hashMessage, isAddressEqual, numberToHex, recoverAddress, type Hex } from "viem";
import { fromHexText } from "../lib/hex.ts";
import { isObject, findObject } from "../lib/isObject.ts";
import { openEcies } from "./ecies.ts";
import type { SecretOpener } from "./secretKeys.ts";
import type { Secret } from "./sealSecret.ts";
import { CiphertextError, fromBase64, NO_LABEL } from "./tdh2.ts";

/** The subscription that pays for the requests in which secrets may be opened. */
export interface SecretsPlace {
  readonly chainId: number;
  readonly router: Hex;
  readonly subscriptionId: bigint;
}

/** Returns the label, 32 bytes, of secrets that open only in requests of one subscription. */
export function secretsLabel({ chainId, router, subscriptionId }: SecretsPlace): Uint8Array {
  const place = concat([
    numberToHex(chainId, { size: 8 }),
    router.toLowerCase() as Hex,
    numberToHex(subscriptionId, { size: 8 }),
  ]);
  return sha256(new Uint8Array([...new TextEncoder().encode("tyche secrets 1"), ...fromHexText(place)]));
}

/** Whose secrets may be opened, and in which requests. */
export interface SecretsOf {
  /** Who uploaded them; `undefined` if only those count whose label says whose they are. */
  readonly uploader: Hex | undefined;
  readonly place: SecretsPlace;
}

/** Whether a ciphertext may be opened, by its label: ours names the subscription, functions-toolkit's is empty. */
export function isLabelFor(label: Uint8Array, { uploader, place }: SecretsOf): boolean {
  return isSame(secretsLabel(place), label) || (uploader !== undefined && isSame(NO_LABEL, label));
}

/** Whether two labels are the same. */
export const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.every((byte, i) => byte === other[i]);

/**
 * Opens what somebody has uploaded, for a request that a subscription pays for. There are two forms. Ours says in its label which
 * subscription it is for. That of functions-toolkit's `encryptSecrets` has no label: what is inside is signed by who made it, who must be
 * who uploaded it, or else anybody could upload a copy and have it opened for themselves.
 *
 * @throws {CiphertextError} when it can't be opened, or is for somebody else.
 */
export async function openSecrets(
  keys: SecretOpener,
  ciphertext: string,
  of: SecretsOf,
): Promise<readonly Secret[]> {
  let signer: Hex | undefined;
  const bytes = await keys.open(ciphertext, ({ label }) => {
    if (isSame(NO_LABEL, label)) signer = of.uploader;
    return isLabelFor(label, of);
  });
  const text = new TextDecoder().decode(bytes);
  return readSecrets(signer === undefined ? text : await openSigned(keys, text, signer));
}

/** The member under which the toolkit puts the ciphertext for all nodes. */
const FOR_ALL_NODES = "0x0";

async function openSigned(keys: SecretOpener, text: string, uploader: Hex): Promise<string> {
  const sealed = readObject(text)[FOR_ALL_NODES];
  if (typeof sealed !== "string") throw new CiphertextError("what is in it is not functions-toolkit's");
  const signed = readObject(new TextDecoder().decode(openEcies(keys.donSecretKey, fromBase64(sealed))));
  const { message, signature } = signed;
  if (typeof message !== "string" || typeof signature !== "string")
    throw new CiphertextError("what is in it is not signed");
  const signer = await recoverAddress({ hash: hashMessage(message), signature: signature as Hex }).catch(
    () => undefined,
  );
  if (signer === undefined || !isAddressEqual(signer, uploader))
    throw new CiphertextError(`they are signed by ${signer ?? "nobody"}, and were uploaded by ${uploader}`);
  return message;
}

function readSecrets(text: string): readonly Secret[] {
  return Object.entries(readObject(text)).map(([name, content]) => {
    if (typeof content === "string") return { name, value: content };
    const { value, allowedHosts } = isObject(content) ? content : {};
    const isWhole =
      typeof value === "string" &&
      Array.isArray(allowedHosts) &&
      allowedHosts.every((host): host is string => typeof host === "string");
    if (!isWhole) throw new CiphertextError("what is in it is no map of texts");
    return { name, value, allowedHosts };
  });
}

/**
 * Reads what a caller wrote as a JSON object.
 *
 * @throws {CiphertextError} for anything else.
 */
export function readObject(text: string): Readonly<Record<string, unknown>> {
  const found = findObject(text);
  // Not said why: the parser's message quotes the text.
  if (found === undefined) throw new CiphertextError("what is in it is no JSON object");
  return found;
}
