import type { Hex } from "viem";
import { countShownChars, type RunRequest, type RunResult } from "../../../sandbox/index.ts";
import { fromHexText } from "../../lib/hex.ts";
import { toSandboxSecrets, type Secret } from "../../secrets/sealSecret.ts";
import { decodeSecretsReference } from "../../secrets/secretsReference.ts";
import type { ThresholdPublicKey } from "../../secrets/tdh2.ts";
import type { Slot, Vault } from "./vault.ts";

/** Which slots a request of a subscription names. */
export interface NamedSlots {
  /** As a request has it on chain. */
  readonly reference: Hex;
  readonly subscriptionId: bigint;
}

/** What the operator's service may do with a vault: put ciphertexts in, run sources, and never read a value. */
export interface Holder {
  readonly threshold: ThresholdPublicKey;
  keep(slot: Slot): Promise<void>;
  /** Deletes slots of an uploader; those that there are not are ignored. */
  drop(owner: Hex, slotIds: readonly number[]): Promise<void>;
  /** Returns names and hosts of secrets. Throws as {@link Vault.open}. */
  describe(slots: NamedSlots): Promise<readonly Omit<Secret, "value">[]>;
  /** Runs a source with secrets, as a dry run. Throws as {@link Vault.open}, and what the runner throws. */
  run(slots: NamedSlots, request: RunRequest): Promise<SecretRun>;
}

/** A run of a source with secrets. */
export interface SecretRun {
  readonly run: RunResult;
  /** Characters of the longest secret that the result shows; 0 if it shows none. */
  readonly shownChars: number;
}

/** Creates the holder of a vault. */
export function createHolder({
  vault,
  threshold,
  runner,
}: {
  readonly vault: Pick<Vault, "keep" | "drop" | "open">;
  readonly threshold: ThresholdPublicKey;
  readonly runner: { readonly run: (request: RunRequest) => Promise<RunResult> };
}): Holder {
  const open = ({ reference, subscriptionId }: NamedSlots): Promise<readonly Secret[]> =>
    vault.open(decodeSecretsReference(fromHexText(reference)), subscriptionId);
  return {
    threshold,
    keep: (slot) => vault.keep(slot),
    drop: (owner, slotIds) => vault.drop(owner, slotIds),
    describe: async (slots) =>
      (await open(slots)).map(({ name, allowedHosts }) => ({
        name,
        ...(allowedHosts === undefined ? {} : { allowedHosts }),
      })),
    async run(slots, request) {
      const secrets = await open(slots);
      const run = await runner.run({ ...request, ...toSandboxSecrets(secrets) });
      const values = secrets.map(({ value }) => value);
      return { run, shownChars: run.ok ? countShownChars(run.bytes, values) : 0 };
    },
  };
}
