import type { BeaconTerms } from "../lib/drand.ts";
import type { NetworkReadiness, NetworkView, OracleNodeView } from "../api/types.ts";
import type { Hex } from "viem";
import type { Faucet } from "../dapps/faucet.ts";
import type { NetworkProfile } from "../networks/profiles.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import type { RunRequest, RunResult } from "../../sandbox/index.ts";
import type { Secret } from "../secrets/sealSecret.ts";
import type { ThresholdPublicKey } from "../secrets/tdh2.ts";
import type { RequestIntake } from "./requestIntake.ts";

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

/** What holds a network's secrets: its oracle, which alone can read them. */
export interface SecretsHolder {
  readonly threshold: Pick<ThresholdPublicKey, "Group" | "G_bar" | "H">;
  /** Stores a ciphertext in a slot of the operator. */
  keep(slot: {
    readonly owner: Hex;
    readonly slotId: number;
    readonly version: number;
    readonly ciphertext: string;
    readonly expiresAt: number;
  }): Promise<void>;
  /** Deletes slots of the operator; those that there are not are ignored. */
  drop(owner: Hex, slotIds: readonly number[]): Promise<void>;
  /** Returns names and hosts of secrets. Throws `secrets_unreadable`. Absent where only requests on chain can have secrets opened. */
  describe?(slots: NamedSlots): Promise<readonly Omit<Secret, "value">[]>;
  /** Runs a source with secrets where they can be read. Throws `secrets_unreadable`, `overloaded` and `chain_unavailable`. Absent as above. */
  run?(slots: NamedSlots, request: RunRequest): Promise<SecretRun>;
}

/** Where a network's secrets are, and whose slots hold those of its dapps. */
export interface NetworkSecrets {
  readonly holder: SecretsHolder;
  readonly operator: Hex;
  readonly chainId: number;
  readonly router: Hex;
}

/** A network as the service uses it; its parts become available as it starts. */
export interface ServiceNetwork {
  readonly profile: NetworkProfile;
  readonly maxResponseBytes: number;
  /** The rounds of drand that presets may wait for; absent if they may not. */
  readonly beacon?: BeaconTerms | undefined;
  /** The service's own beacon, which proves nothing; absent if it has none. */
  readonly localBeacon?: BeaconTerms | undefined;
  /** Explorer URL without a trailing slash: `/tx/{hash}` follows. */
  readonly explorerUrl: string;
  view(): NetworkView;
  /** `undefined` until the network serves. */
  pipeline(): RequestIntake | undefined;
  /** `undefined` while the network does not serve, and if its coin is not the service's to give. */
  faucet?(): Faucet | undefined;
  /** What holds the secrets of dapps, or the reason why nothing does. */
  secrets?(): NetworkSecrets | string;
  getCode(address: Hex): Promise<Hex>;
  /** Returns why a dapp's subscriptions are not topped up again today; `undefined` while they are. */
  findSpentBudget(dappId: string): Promise<Error | undefined>;
  readiness(): Promise<NetworkReadiness>;
  /** The oracle's nodes, if several operators run them. */
  oracleNodes(): Promise<readonly OracleNodeView[] | undefined>;
}

/**
 * Returns the pipeline of a network.
 *
 * @throws {ChainUnavailableError} until the network serves; its message says what the network waits for.
 */
export function getPipeline(network: ServiceNetwork): RequestIntake {
  const pipeline = network.pipeline();
  if (pipeline !== undefined) return pipeline;
  throw new ChainUnavailableError(network.profile.name, network.view().statusDetail ?? "it is starting");
}
