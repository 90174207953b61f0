import { randomBytes } from "node:crypto";
import { TycheError } from "../lib/errors.ts";
import type { OutsideSecret } from "../lib/outsideSecret.ts";
import { deriveKey } from "../lib/seal.ts";

const MASTER_KEY_BYTES = 32;

/**
 * Parses a master key into its 32 bytes.
 *
 * @throws {TycheError} `data_dir_unusable` for anything but 64 hex digits; the message never contains the text.
 */
export function parseMasterKey({ text, from }: OutsideSecret): Uint8Array {
  const digits = text.trim();
  if (digits.length === 2 * MASTER_KEY_BYTES && /^[0-9a-f]+$/i.test(digits))
    return Buffer.from(digits, "hex");
  throw new TycheError(
    `${from} does not hold 64 hex digits; put the right key back, or start with a new folder`,
    { code: "data_dir_unusable", blame: "caller" },
  );
}

/** Generates a master key: 64 hex digits. */
export function createMasterKey(): string {
  return randomBytes(MASTER_KEY_BYTES).toString("hex");
}

/** Returns the fingerprint that a database stores: 16 hex digits that identify the master key without revealing anything about it. */
export function fingerprintOf(masterKey: Uint8Array): string {
  return Buffer.from(deriveKey(masterKey, "fingerprint")).toString("hex", 0, 8);
}
