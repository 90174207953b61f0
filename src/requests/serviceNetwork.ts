import type { Hex } from "viem";
import type { BeaconTerms } from "../beacon/drand.ts";
import type { NetworkReadiness, NetworkView, OracleNodeView } from "../api/types.ts";
import type { Faucet } from "../dapps/faucet.ts";
import type { NetworkProfile } from "../networks/profiles.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import type { SecretsHolder } from "../secrets/holder.ts";
import type { SubscriptionReader } from "../dapps/subscriptionReads.ts";
import type { Subscriptions } from "../dapps/subscriptions.ts";
import type { OpenRequest } from "./openRequest.ts";
import type { PresetSource } from "./dispatch/sources.ts";

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
  /** The rounds of drand that presets may wait for; absent if they may not. */
  readonly beacon?: BeaconTerms | undefined;
  /** The service's own beacon, which proves nothing; absent if it has none. */
  readonly localBeacon?: BeaconTerms | undefined;
  /** Explorer URL without a trailing slash: `/tx/{hash}` follows. */
  readonly explorerUrl: string;
  view(): NetworkView;
  /** `undefined` until the network serves. */
  intake(): RequestIntake | undefined;
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
 * Returns the intake of a network.
 *
 * @throws {ChainUnavailableError} until the network serves; its message says what the network waits for.
 */
export function getIntake(network: ServiceNetwork): RequestIntake {
  const intake = network.intake();
  if (intake !== undefined) return intake;
  throw new ChainUnavailableError(network.profile.name, network.view().statusDetail ?? "it is starting");
}

/** Why a request isn't making progress. */
export interface Explanation {
  /** One sentence without a full stop. */
  readonly why: string;
  /** Whether it is that its round of drand is late and no relay was seen to have it. */
  readonly isBeaconLate: boolean;
}

/** What the use cases need from one network, whether this process dispatches on it or another replica does. */
export interface RequestIntake {
  readonly subscriptions: SubscriptionReader;
  /** Starts processing a stored request. */
  take(request: OpenRequest): void;
  /** Ensures that a preset's source is on chain before its first use. */
  storeSource(source: PresetSource): Promise<void>;
  readonly setSecretsSigner: Subscriptions["setSecretsSigner"];
  /** Explains in one sentence why a request isn't making progress; `null` when it has ended. Queries the chain, and never rejects. */
  explain(request: OpenRequest): Promise<string | null>;
  /** The latest periodic explanation of an old request; `undefined` if there is none. */
  explained(id: string): Explanation | undefined;
  /** Number of requests that no transaction carries yet. */
  queued(): number;
}
