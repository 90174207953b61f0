import { encrypt, type ThresholdPublicKey } from "./tdh2.ts";

/** One of a source's `secrets`. */
export interface Secret {
  readonly name: string;
  readonly value: string;
  /** Hosts that a source with this secret may send requests to; absent: any. */
  readonly allowedHosts?: readonly string[] | undefined;
}

/**
 * Encrypts a secret for an oracle network; returns JSON.
 *
 * @param label 32 bytes that say in whose requests it may be opened: `secretsLabel`.
 */
export function sealSecret(
  key: Pick<ThresholdPublicKey, "G_bar" | "H">,
  { name, value, allowedHosts }: Secret,
  label: Uint8Array,
): Promise<string> {
  const content = { [name]: allowedHosts === undefined ? value : { value, allowedHosts } };
  return encrypt(key, new TextEncoder().encode(JSON.stringify(content)), label);
}

/** Secrets as the sandbox takes them. */
export interface SandboxSecrets {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly allowedHosts?: Readonly<Record<string, readonly string[]>>;
}

/** Returns secrets by name, as a source sees them, and who may receive them. */
export function toSandboxSecrets(secrets: readonly Secret[]): SandboxSecrets {
  return {
    secrets: Object.fromEntries(secrets.map(({ name, value }) => [name, value])),
    allowedHosts: Object.fromEntries(
      secrets.flatMap(({ name, allowedHosts }) => (allowedHosts === undefined ? [] : [[name, allowedHosts]])),
    ),
  };
}
