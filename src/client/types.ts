/** `0x` followed by hex digits. */
export type Hex = `0x${string}`;

/** A whole number: a string of decimal digits, a bigint, or a number that is a safe integer. */
export type Decimal = string | number | bigint;

/** Values of presets: true or false, text, whole numbers, texts. */
export type PresetValue = boolean | string | readonly (number | string)[];

/** Result of a preset. */
export interface PresetResult<Value = PresetValue> {
  /** `false` when the function failed on the oracle network; `err` says why. */
  readonly success: boolean;
  /** Id of the request, as in {@link TycheClient.request}. */
  readonly id: string;
  /** Hash of the transaction with the VRF proof. */
  readonly vrfv2Hash: Hex;
  /** Explorer page of that transaction. */
  readonly vrfv2EventHash: string;
  /** Identifier that the oracle network assigned, 32 bytes. */
  readonly requestId: Hex;
  readonly result: Hex;
  readonly parsedResult: string;
  /**
   * The result as its preset types it. In an array, a whole number beyond 2^53 - 1 is a decimal string. `null` after a failure, and when
   * a list's entries contain its separator and can't be told apart.
   */
  readonly value: Value | null;
  /** `0x` when there is no error. */
  readonly err: string;
  /** Code of a failure. */
  readonly code?: "function_failed";
  /** Explorer page of the transaction that delivered the result. */
  readonly url: string;
  /** Public page with the result. */
  readonly shareUrl: string;
}

/** Result of a function. */
export interface FunctionResult {
  /** `false` when the source failed on the oracle network; `err` says why. */
  readonly success: boolean;
  /** Id of the request, as in {@link TycheClient.request}. */
  readonly id: string;
  readonly requestId: Hex;
  readonly result: Hex;
  readonly parsedResult: string;
  /** The decoded result; `null` after a failure. */
  readonly value: string | null;
  /** `0x` when there is no error. */
  readonly err: string;
  /** Code of a failure. */
  readonly code?: "function_failed";
  /** Explorer page of the transaction that delivered the result. */
  readonly url: string;
  /** Public page with the result. */
  readonly shareUrl: string;
}

/** Random numbers. */
export interface RandomResult {
  readonly success: boolean;
  /** Id of the request, as in {@link TycheClient.request}. */
  readonly id: string;
  readonly requestId: Hex;
  /** Hash of the transaction with the VRF proof. */
  readonly transactionHash: Hex;
  readonly url: string;
  /** Public page with the numbers. */
  readonly shareUrl: string;
  /** 256-bit unsigned integers in decimal: `BigInt(randomNumber[0])`. */
  readonly randomNumber: readonly string[];
  /** The same numbers. */
  readonly value: readonly string[];
}

/** Result of linking or unlinking a contract. */
export interface ConsumerResult {
  readonly success: boolean;
  /** Id of the request, as in {@link TycheClient.request}. */
  readonly id: string;
  readonly transactionHash: Hex;
}

/** What the faucet sent. */
export interface FaucetResult {
  readonly success: boolean;
  readonly coinWei: string;
  readonly linkJuels: string;
  /** The coin transfer, then the LINK transfer. */
  readonly transactionHashes: readonly Hex[];
}

/** Result of a dry run. */
export interface SimulateResult {
  readonly success: boolean;
  readonly result: Hex;
  readonly parsedResult: string;
  /** The decoded result; `null` after a failure. */
  readonly value: string | null;
  readonly err: string;
  /** Code of a failure. */
  readonly code?: "function_failed";
  /** Output that the source wrote with `console`. */
  readonly console: string;
  readonly consoleTruncated: boolean;
  readonly timeMs: number;
  readonly memoryBytes: number;
  readonly httpRequests: number;
  /** Where the source threw, starting at 1. */
  readonly line?: number;
  readonly column?: number;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

export type RequestKind = "preset" | "function" | "random" | "consumer" | "unlink";
export type RequestState =
  | "checking"
  | "received"
  | "submitted"
  | "randomness"
  | "executing"
  | "fulfilled"
  | "failed";
export type ReturnType = "string" | "uint256" | "int256";
export type Outcome = PresetResult | FunctionResult | RandomResult | ConsumerResult;

/** A preset's result, parsed for display. */
export type ShownResult =
  | { readonly as: "coin"; readonly side: string; readonly index: 0 | 1 }
  | { readonly as: "dice"; readonly rolls: readonly string[]; readonly hasPips: boolean }
  | { readonly as: "list"; readonly entries: readonly string[] };

/** A change of a request's state. */
export interface StateChange {
  readonly seq: number;
  readonly state: RequestState;
  /** ISO 8601. */
  readonly at: string;
  readonly transactionHash?: string;
  /** Explorer page of that transaction. */
  readonly url?: string;
  readonly detail?: string;
}

/** A request as the service stores it. */
export interface RequestView {
  readonly id: string;
  readonly kind: RequestKind;
  readonly network: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly state: RequestState;
  /** What a pending request is waiting for. */
  readonly why: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When the service deleted the request's payload; `params` has been without it since then. */
  readonly payloadDeletedAt?: string;
  readonly timeline: readonly StateChange[];
  readonly outcome: Outcome | null;
  /** The result parsed for display, if its preset says how to display it. */
  readonly shown?: ShownResult;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly statusUrl: string;
  /** Public page with the result, once there is one; absent for linking and unlinking. */
  readonly shareUrl?: string;
}

export interface RequestPage {
  /** Newest first. */
  readonly items: readonly RequestView[];
  /** `null` on the last page. */
  readonly nextCursor: string | null;
}

/** The response of {@link TycheClient.deleteDapp}. */
export interface DappDeletion {
  readonly success: boolean;
  readonly dappId: string;
}

export interface PresetView {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the parameters. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly parameterOrder: readonly string[];
  readonly returnType: ReturnType;
  /** JSON Schema of `value` in a result. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly examples: readonly {
    readonly params: Readonly<Record<string, unknown>>;
    readonly parsedResult: string;
  }[];
}

/** A network that the service knows, with everything needed to deploy a contract of one's own. */
export interface NetworkView {
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  /** Symbol of the coin that pays for gas, such as `ETH`; `coin` if unknown. */
  readonly coin: string;
  readonly embedded: boolean;
  /** Whether a block's hash is that of an Ethereum header, so that a verification can recompute it. */
  readonly hasEthereumBlocks: boolean;
  readonly rpcUrl?: string;
  readonly explorerUrl: string;
  readonly status: "starting" | "serving" | "unavailable";
  readonly statusDetail?: string;
  readonly contracts: Readonly<Record<string, Hex>>;
  readonly vrf: {
    /** Whether random words are paid for in the network's own coin instead of LINK. */
    readonly nativePayment: boolean;
    readonly keyHashes: readonly Hex[];
    readonly minConfirmations: number;
    readonly maxConfirmations: number;
    readonly maxWords: number;
  };
  readonly functions: {
    readonly donId: string;
    readonly maxSourceBytes: number;
    readonly maxRequestBytes: number;
    readonly maxResponseBytes: number;
  };
  /** The oracle's nodes, if several operators run them. Each node's facts are what the other nodes report about it. */
  readonly nodes?: readonly OracleNodeView[];
}

/** Whether one network can serve a request right now, as far as pages show it. */
export interface NetworkReadiness {
  readonly ready: boolean;
  readonly why?: string;
  readonly blockNumber?: number;
  readonly operatorBalanceWei?: string;
  readonly pendingRequests?: number;
  readonly oracle?: { readonly caughtUp: boolean; readonly waitsFor?: string };
  readonly warnings?: readonly string[];
}

/** One node of an oracle that several operators run. */
export interface OracleNodeView {
  readonly url: string;
  readonly signer: Hex;
  readonly transmitter: Hex;
  readonly answers: boolean;
  /** ISO 8601. */
  readonly lastSeen?: string;
  /** Share of the answers on chain that match what this node observed, 0 to 1. */
  readonly agreementRate?: number;
  readonly lastTransmission?: Hex;
  /** How many of the other nodes hold evidence against it. */
  readonly accusers: number;
}

/** A source that ran once without creating a request: a dry run, or a call that was refused. */
export interface DryRunView {
  readonly id: string;
  readonly kind: "dry-run" | "preset" | "function";
  readonly network: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** Name of the preset, or the beginning of the source. */
  readonly title: string;
  readonly success: boolean;
  readonly parsedResult: string;
  /** `0x` when there is no error. */
  readonly err: string;
  readonly console: string;
  readonly line?: number;
  readonly column?: number;
}

/** A page of dry runs, newest first. */
export interface DryRunPage {
  readonly items: readonly DryRunView[];
  /** Pass it as `cursor` to get the next page; `null` on the last one. */
  readonly nextCursor: string | null;
}

/** What a dapp used on one network in one day. */
export interface UsageDay {
  /** UTC, `YYYY-MM-DD`; a request counts on the day it was accepted. */
  readonly day: string;
  /** `null` for dry runs that name no network. */
  readonly network: string | null;
  /** Requests accepted. */
  readonly requests: Readonly<Record<RequestKind, number>>;
  readonly fulfilled: number;
  readonly failed: number;
  /** Calls refused after their dry run. */
  readonly refused: number;
  readonly dryRuns: number;
  /** Random words delivered. */
  readonly words: number;
  /** Gas of the service's own transactions, decimal. */
  readonly gasUsed: string;
  /** In juels (1e-18 LINK), decimal. */
  readonly linkJuels: string;
  /** Used where words are paid for in coin. */
  readonly coinWei: string;
  /**
   * What the service topped up the subscriptions with, on the day it did so, in juels and wei: covers what the dapp's own contracts spend.
   */
  readonly toppedUpJuels: string;
  readonly toppedUpWei: string;
}

/** A dapp's usage between two days, both included. */
export interface UsageReport {
  readonly from: string;
  readonly to: string;
  /** One row per day and network with any usage, oldest first. */
  readonly items: readonly UsageDay[];
}
