import type { Hex } from "viem";
import type { RunRequest, RunResult } from "../../sandbox/index.ts";
import type { Secret } from "./sealSecret.ts";
import type { ThresholdPublicKey } from "./tdh2.ts";

/** Which secrets a request of a subscription names. */
export interface NamedSlots {
  /** As the request has it on chain. */
  readonly reference: Hex;
  readonly subscriptionId: bigint;
}

/** A run of a source with secrets. */
export interface SecretRun {
  readonly run: RunResult;
  /** Characters of the longest secret that the result shows; 0 if it shows none. */
  readonly shownChars: number;
}

/** What holds a network's secrets: its oracle, which alone can read them. The operator's service puts ciphertexts in, and runs sources. */
export interface SecretsHolder {
  readonly threshold: Pick<ThresholdPublicKey, "Group" | "G_bar" | "H">;
  /** Stores a ciphertext in a slot of an uploader. */
  keep(slot: {
    readonly owner: Hex;
    readonly slotId: number;
    readonly version: number;
    readonly ciphertext: string;
    readonly expiresAt: number;
  }): Promise<void>;
  /** Deletes slots of an uploader; those that there are not are ignored. */
  drop(owner: Hex, slotIds: readonly number[]): Promise<void>;
  /** Returns names and hosts of secrets. Throws `secrets_unreadable`. Absent where only requests on chain can have secrets opened. */
  describe?(slots: NamedSlots): Promise<readonly Omit<Secret, "value">[]>;
  /**
   * Runs a source with secrets where they can be read, as a dry run. Throws `secrets_unreadable`, `overloaded` and `chain_unavailable`.
   * Absent as above.
   */
  run?(slots: NamedSlots, request: RunRequest): Promise<SecretRun>;
}
