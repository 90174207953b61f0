// Written by `npm run types` from the schemas beside this file.

/** `0x` followed by hex digits. */
export type Hex = `0x${string}`;

/** What all dapps requested in one hour. */
export interface ActiveHour {
  /** Beginning of the hour. */
  readonly from: string;
  readonly requests: number;
  readonly failed: number;
}

export interface Activity {
  /** The last 24 hours, oldest first. */
  readonly hours: readonly ActiveHour[];
  /** Counting stops here: an hour with this many requests may have had more. */
  readonly maxCounted: number;
}

/** A page of an address's transactions. */
export interface AddressTransactions {
  /** Newest first: those that it sent or received, that created it, or that call others with its address in the arguments. */
  readonly transactions: readonly TransactionSummary[];
  /** The blocks searched for the page; with an index, all that it covers. */
  readonly searched: {
    /** First block. */
    readonly from: string;
    /** Last block. */
    readonly to: string;
  };
  /** Give it as `before` for the next page of transactions; null on the last. */
  readonly older: string | null;
  /** The node no longer has older data; with an index, it lacks some of it. */
  readonly isForgotten: boolean;
  /** Whether the page comes from an index by address; it then includes transactions in which the address emitted a log. */
  readonly isIndexed: boolean;
}

/** An address: its balance, and a page of its transactions. */
export interface AddressView extends AddressTransactions {
  /** Checksummed address. */
  readonly address: Hex;
  /** Its role here, if known. */
  readonly name?: string;
  readonly network: string;
  /** Its balance, in wei. */
  readonly balanceWei: string;
  /** How much LINK it holds, in juels (1e-18 LINK); absent if unknown. */
  readonly linkJuels?: string;
  readonly nonce: number;
  /** Size of its code; 0 for an account, 23 for one that delegates to a contract. */
  readonly codeBytes: number;
  /** Contract whose code the account runs as its own (EIP-7702); `null` for contracts and for all other accounts. */
  readonly delegatesTo: Party | null;
  /** Whether it is a contract whose source is known here. */
  readonly hasSource: boolean;
  /** What it does here, in a sentence; absent if unknown. */
  readonly about?: string;
  /** The transaction that created the contract; absent if that is not in the index by address. */
  readonly createdIn?: Hex;
  /** Who sent that transaction; of what holds a preset's source, the contract that created it. */
  readonly createdBy?: Party;
  /** The source of a preset that the contract holds as its code; absent if it holds none. */
  readonly storedSource?: {
    /** Its id in PresetConsumer. */
    readonly sourceId: number;
    /** The preset whose source it is; absent if none here has it. */
    readonly preset?: {
      readonly name: string;
      readonly title: string;
    };
  };
  /** The transaction that linked the contract as a consumer of a dapp here; absent if none did. */
  readonly linkedIn?: Hex;
  /** Contracts that a contract created (CREATE) and that have code, the newest first: of the last 25 numbers that its nonce counts, on the first page only. */
  readonly contractsCreated: readonly {
    /** Checksummed address. */
    readonly address: Hex;
    /** Its role here, if known. */
    readonly name?: string;
    /** Size of its code. */
    readonly codeBytes: number;
  }[];
  /** What it emitted in the page's transactions, the first 100. */
  readonly events: readonly {
    /** Its transaction, which has all of it. */
    readonly transactionHash: Hex;
    /** Index among the logs of the block. */
    readonly logIndex: number;
    /** Absent where no known interface declares it. */
    readonly event?: string;
    readonly topics: readonly Hex[];
    /** Values are cut to 100 characters and lists to 8 entries; `…` takes the place of the rest. */
    readonly fields: readonly DecodedValue[];
    /** Its data where no known interface declares it: at most the first 256 bytes. */
    readonly data?: Hex;
  }[];
  /** How many further events in them; absent: none. */
  readonly moreEvents?: number;
  /** Those of the service's own among the first 200 requests that the page's transactions make or answer, or whose random words they deliver. */
  readonly requests: readonly RequestSummary[];
  /** How many further requests they make or answer, whosever they are; absent: none. */
  readonly moreRequests?: number;
}

/** A member that was changed. */
export interface AuditChange {
  /** Name of the member in the answer of the operation, such as `role`. */
  readonly member: string;
  /** What it was, as text; `null` if it had no value, or one that isn't kept. */
  readonly from: string | null;
  /** What it became, as `from`; of a URL, only the host. */
  readonly to: string | null;
}

/** A change that somebody made. */
export interface AuditEntry {
  /** Identifier: `aud_` and 26 characters. */
  readonly id: string;
  /** When. */
  readonly at: string;
  /** Id of the person or of the API key; `operator` for the operator token, `session_…` for a session of it. */
  readonly actor: string;
  /** Name of the person or of the API key at that time; empty for others. */
  readonly actorName: string;
  /** The dapp that was changed, if it was one. */
  readonly dappId: string | null;
  /** Id of the operation in `/openapi.json`, or `signIn`, `acceptInvitation` or `addPasskey`. */
  readonly action: string;
  /** Id of what was created, changed or deleted, if it has one. */
  readonly subject: string | null;
  /** Its name at that time, who an invitation is for, the host of a webhook's URL, or a contract's address; `null` if it has none. */
  readonly subjectName: string | null;
  /** What was changed of it; of what was created, role, daily limit, access and expiry; of what was removed, the role. */
  readonly changes: readonly AuditChange[];
}

/** A page of the audit log. */
export interface AuditPage {
  /** Newest first. */
  readonly items: readonly AuditEntry[];
  /** Give it as `cursor` for the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** A future round of drand that a preset's word also follows from. */
export interface BeaconView {
  /** Number of the round. */
  readonly round: string;
  /** When the round is due. The request must be mined before. */
  readonly time: string;
  /** The chain of rounds: `0x52db…` is drand's quicknet. */
  readonly chainHash: Hex;
  /** The round is one of the service's own beacon, which proves nothing. */
  readonly isLocal?: true;
}

/** A page of a chain's blocks. */
export interface BlockListView {
  readonly network: string;
  /** Number of the newest block. */
  readonly headNumber: string;
  /** Newest first. */
  readonly blocks: readonly BlockSummary[];
  /** Give it as `before` for the next page of blocks; null on the last. */
  readonly older: string | null;
}

/** A block in a list. */
export interface BlockSummary {
  /** Number. */
  readonly number: string;
  /** Hash. */
  readonly hash: Hex;
  /** Time of the block. */
  readonly at: string;
  readonly transactionCount: number;
  /** Gas used. */
  readonly gasUsed: string;
  /** Gas limit. */
  readonly gasLimit: string;
}

/** A block with its transactions. */
export interface BlockView extends BlockSummary {
  readonly network: string;
  /** Hash of the parent block. */
  readonly parentHash: Hex;
  /** Who receives its fees; `null` where the chain names nobody. */
  readonly miner: Party | null;
  /** `null` without EIP-1559. */
  readonly baseFeeWei: string | null;
  /** Number of the newest block. */
  readonly headNumber: string;
  readonly transactions: readonly TransactionSummary[];
  /** Those of the service's own among the first 200 requests that its transactions make or answer, or whose random words they deliver, in their order; absent without a transaction. */
  readonly requests?: readonly RequestSummary[];
  /** How many further requests they make or answer, whosever they are; absent: none. */
  readonly moreRequests?: number;
}

/** What a node answered: enough to check a result again without it. */
export interface ChainData {
  readonly format: "tyche-chain-data/1";
  readonly answers: readonly {
    /** JSON-RPC method. */
    readonly method: string;
    readonly params: readonly unknown[];
    /** Absent if the node answered with an error. */
    readonly result?: unknown;
    readonly error?: {
      readonly message: string;
      /** What a call reverted with. */
      readonly data?: Hex;
    };
  }[];
}

/** A chain's newest blocks and transactions. */
export interface ChainOverview {
  readonly network: string;
  readonly title: string;
  readonly chainId: number;
  /** Number of the newest block. */
  readonly headNumber: string;
  readonly contracts: readonly Party[];
  /** Newest first. */
  readonly blocks: readonly BlockSummary[];
  /** Newest first. */
  readonly transactions: readonly TransactionSummary[];
}

/** A round as the chain has it: when it is due follows from its chain of rounds. */
export interface ChainRound {
  /** Number of the round. */
  readonly round: string;
  /** Null for a chain of rounds that is not known. */
  readonly time: string | null;
  /** The chain of rounds: `0x52db…` is drand's quicknet. */
  readonly chainHash: Hex;
  /** The round is one of the service's own beacon, which proves nothing. */
  readonly isLocal?: true;
}

/** The coordinator's struct RequestCommitment. */
export interface CommitmentView {
  /** Block of the request. */
  readonly blockNum: string;
  /** Subscription. */
  readonly subId: string;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  readonly sender: Party;
  /** VRF v2.5 only. */
  readonly nativePayment?: boolean;
}

/** Two values that must be equal. */
export interface Comparison {
  readonly what: string;
  /** What follows from the step before, or from the chain's registers. */
  readonly expected: string;
  /** The value that was used. */
  readonly found: string;
}

export interface ConsumerList {
  readonly linked: readonly LinkedConsumer[];
}

/** Outcome of linking or unlinking a contract. */
export interface ConsumerResult {
  /** Whether the consumer was linked. */
  readonly success: boolean;
  /** Identifier of the request here: the one of `/api/requests/{id}`. */
  readonly id: string;
  /** Network on which the request ran. */
  readonly network: string;
  /** Hash of the linking transaction. */
  readonly transactionHash: Hex;
}

/** A page of requests that contracts made. */
export interface ContractRequestList {
  readonly network: string;
  /** The contract that made them; absent if the list is of several contracts. */
  readonly consumer?: Hex;
  /** Newest first. */
  readonly items: readonly ContractRequestView[];
  /** The blocks that were searched for the page; `null` while the dapp has no subscriptions there yet. */
  readonly searched: {
    /** First block. */
    readonly from: string;
    /** Last block. */
    readonly to: string;
  } | null;
  /** Give it as `before` for the next page of requests; null on the last. */
  readonly older: string | null;
}

/** A request that a contract made itself on a subscription, and its outcome. */
export interface ContractRequestView {
  readonly kind: "random" | "function";
  /** Request id on the chain. */
  readonly requestId: Hex;
  /** A function: what its source or its arguments say it is; absent if they say nothing. */
  readonly title?: string;
  readonly consumer: Party;
  /** Time of its block; absent if the node no longer has the block. */
  readonly at?: string;
  /** Number of its block. */
  readonly blockNumber: string;
  /** The transaction that made the request. */
  readonly transactionHash: Hex;
  readonly state: "waiting" | "fulfilled" | "failed";
  /** What a pending request is waiting for, if known. */
  readonly waitsFor?: string;
  /** The transaction that ended it. */
  readonly answeredBy?: Hex;
  /** Why it failed. */
  readonly error?: string;
  /** Number of random numbers delivered. */
  readonly numWords?: number;
  /** The first ten. */
  readonly words?: readonly string[];
  /** Result of a function. */
  readonly response?: Hex;
  /** What the bytes of `response` may mean; the chain doesn't say. */
  readonly readings?: ReadingsView;
}

/** A contract: its code and, if it is known here, its source. */
export interface ContractView {
  readonly network: string;
  /** Checksummed address. */
  readonly address: Hex;
  /** Absent if its source isn't known here. */
  readonly name?: string;
  /** Its code on the chain. */
  readonly code: Hex;
  /** Its interface, as solc outputs it; empty if it isn't known. */
  readonly abi: readonly Readonly<Record<string, unknown>>[];
  /** `null` if no source is known whose compiler's output is the code on chain. */
  readonly build: {
    /** Version of solc. */
    readonly compiler: string;
    readonly optimizerRuns: number;
    readonly evmVersion: string;
    /** Its own source first, then its imports. */
    readonly sources: readonly {
      readonly path: string;
      readonly content: string;
    }[];
  } | null;
  /** `null` if the transaction that created it isn't known, or its input is not the creation code of the code on chain. */
  readonly constructorArguments: readonly DecodedValue[] | null;
}

/** Outcome of deleting a dapp. */
export interface DappDeletion {
  /** Whether the dapp is deleted. */
  readonly success: boolean;
  /** Identifier of the dapp. */
  readonly dappId: string;
}

/** A customer's application: it has API keys and its own subscriptions on every network. */
export interface DappView {
  /** Identifier: `dapp_` and 26 characters. */
  readonly id: string;
  readonly name: string;
  /** What it may use. */
  readonly facilities: readonly Facility[];
  /** When it was created. */
  readonly createdAt: string;
  /** What its presets wait for where a call doesn't say it; absent: what the network says. */
  readonly beacon?: "drand" | "local" | "none";
}

/** Decoded calldata. */
export interface DecodedCall {
  readonly function: string;
  readonly arguments: readonly DecodedValue[];
}

/** A decoded argument or event field; arrays and structs hold more of them. */
export interface DecodedValue {
  /** Empty where the declaration names none. */
  readonly name: string;
  /** Solidity's type. */
  readonly type: string;
  /** For arrays and structs, a list of such values. */
  readonly value: string | readonly DecodedValue[];
  /** Role here of the address that it is; absent if unknown. */
  readonly knownAs?: string;
  /** Whether it is an amount of LINK, in juels (1e-18 LINK); absent if not. */
  readonly isJuels?: boolean;
  /** What its bytes hold, such as the presets of a batch; absent if unknown, or above 2,000 entries. */
  readonly holds?: readonly DecodedValue[];
}

/** A page of dry runs and refused calls. */
export interface DryRunPage {
  /** Newest first. */
  readonly items: readonly DryRunView[];
  /** Give it as `cursor` for the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** A source that ran without creating a request: in a dry run that was asked for, or in a call that was refused. */
export interface DryRunView {
  /** `dry_` and 26 characters, ordered by time. */
  readonly id: string;
  /** `dry-run`: a dry run was requested; the others: a call of that kind was refused. */
  readonly kind: "dry-run" | "preset" | "function";
  /** `null` where none was named. */
  readonly network: string | null;
  /** When it ran. */
  readonly at: string;
  /** Name of the preset, or the beginning of the source. */
  readonly title: string;
  /** Whether the source returned a result. */
  readonly success: boolean;
  /** At most 1,000 characters. */
  readonly parsedResult: string;
  /** `0x` means no error. */
  readonly err: string;
  /** The first 1,000 characters that the source wrote. */
  readonly console: string;
  /** Line where the source threw. */
  readonly line?: number;
  /** Column on that line. */
  readonly column?: number;
  /** Duration of the run in milliseconds. */
  readonly timeMs?: number;
  /** Heap in use at the end of the run, in bytes; 0 if it was stopped. */
  readonly memoryBytes?: number;
  /** HTTP requests that the source made. */
  readonly httpRequests?: number;
  /** The cause of `err`, if its text doesn't state it. */
  readonly details?: readonly {
    /** JSON Pointer to the parameter. */
    readonly path: string;
    /** What is wrong, where, and what to do. */
    readonly message: string;
  }[];
  /** What to know about the source although it ran: for example, that it uses time or randomness, which differ from node to node. */
  readonly warnings?: readonly string[];
  /** Of a refused call, where one run is read: its source and arguments with the names of its secrets, or the preset with its parameters. Absent once 1 MB of newer ones is kept. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** `true` if the result showed a secret: `parsedResult` is empty then. */
  readonly withheld?: boolean;
}

/** A log. */
export interface EventView {
  /** Index among the logs of the block. */
  readonly logIndex: number;
  readonly contract: Party;
  /** Absent where no known interface declares it. */
  readonly event?: string;
  readonly fields: readonly DecodedValue[];
  readonly topics: readonly Hex[];
  /** Data. */
  readonly data: Hex;
}

/** A network as everybody may see it, without a key. */
export interface ExplorerNetwork {
  /** The value of `network` parameters. */
  readonly name: string;
  /** Name for people; that of a chain that Tyche runs says so. */
  readonly title: string;
  readonly chainId: number;
  /** Symbol of the coin that pays for gas, such as `ETH`; `coin` if unknown. */
  readonly coin: string;
  /** Whether Tyche runs this chain itself. */
  readonly embedded: boolean;
  /** Whether a block's hash is that of an Ethereum header, so that a verification can recompute it. */
  readonly hasEthereumBlocks: boolean;
  /** URL at which your own tools reach the chain. */
  readonly rpcUrl?: string;
  /** Transactions are at `{explorerUrl}/tx/{hash}`. */
  readonly explorerUrl: string;
  readonly status: "starting" | "serving" | "unavailable";
  /** Why it isn't serving. */
  readonly statusDetail?: string;
  /** The contracts' addresses; absent until the chain is known. */
  readonly contracts?: {
    /** LINK token */
    readonly link: Hex;
    /** VRFCoordinatorV2, or VRFCoordinatorV2_5 where `vrf.version` is v2.5 */
    readonly vrfCoordinator: Hex;
    /** FunctionsRouter */
    readonly functionsRouter: Hex;
    /** FunctionsCoordinator */
    readonly functionsCoordinator: Hex;
    /** Consumer through which presets run */
    readonly presetConsumer: Hex;
    /** Owner of the subscriptions */
    readonly subscriptionOwner: Hex;
  };
  /** Block in which the deployment of these contracts had ended, where a search for requests may begin; absent for embedded chains. */
  readonly deploymentBlock?: number;
  readonly vrf: {
    /** Version of Chainlink VRF, of the coordinator and of the consumers of its words. */
    readonly version: "v2" | "v2.5";
    /** Whether random words are paid for in the network's own coin instead of LINK. */
    readonly nativePayment: boolean;
    /** Registered key hashes; the first is the default. */
    readonly keyHashes: readonly Hex[];
    readonly minConfirmations: number;
    readonly maxConfirmations: number;
    /** Maximum number of random numbers in one request. */
    readonly maxWords: number;
  };
  readonly functions: {
    /** Name of the oracle network that runs the functions. */
    readonly donId: string;
    readonly maxSourceBytes: number;
    /** Maximum size of the whole encoded request. */
    readonly maxRequestBytes: number;
    readonly maxResponseBytes: number;
  };
  /** The rounds of drand that presets may wait for; absent if they may not. */
  readonly beacon?: {
    /** Hash of the chain of rounds. */
    readonly chainHash: string;
    /** Key that signs the rounds. */
    readonly publicKey: string;
    /** Unix time of round 1, in seconds. */
    readonly genesisTime: number;
    /** Seconds between rounds. */
    readonly period: number;
    readonly groupHash: string;
    readonly beaconId: string;
    /** How far in the future a request's round is. */
    readonly marginSeconds: number;
    /** Whether presets wait for a round where neither call nor dapp says otherwise. */
    readonly isDefault: boolean;
  };
  /** The rounds of the service's own beacon, for `beacon: "local"`: whoever runs the service knows all of them, so they prove nothing. */
  readonly localBeacon?: {
    /** Hash of the chain of rounds. */
    readonly chainHash: string;
    /** Key that signs the rounds. */
    readonly publicKey: string;
    /** Unix time of round 1, in seconds. */
    readonly genesisTime: number;
    /** Seconds between rounds. */
    readonly period: number;
    readonly groupHash: string;
    readonly beaconId: string;
    /** How far in the future a request's round is. */
    readonly marginSeconds: number;
    /** Whether presets wait for a round where neither call nor dapp says otherwise. */
    readonly isDefault: boolean;
  };
  /** The newest block that was seen; while the chain can't be read, the last one. */
  readonly head?: {
    /** Its number. */
    readonly number: string;
    /** Its time. */
    readonly at: string;
    /** How long ago the node named it, in milliseconds. */
    readonly agoMs: number;
  };
}

export type Facility = "presets" | "functions";

/** Outcome of a faucet call. */
export interface FaucetResult {
  /** Whether the request was successful. */
  readonly success: boolean;
  /** The network's own coin, in wei. */
  readonly coinWei: string;
  /** LINK, in juels. */
  readonly linkJuels: string;
  /** The transfer of coin, then that of LINK. */
  readonly transactionHashes: readonly Hex[];
}

/** The response to a function request. */
export interface FunctionAnswer {
  /** Name of `FunctionsResponse.FulfillResult`. */
  readonly outcome: string;
  /** Result. */
  readonly response: Hex;
  /** What the bytes of `response` may mean; the chain doesn't say. */
  readonly readings: ReadingsView;
  /** The error's text; empty when there was none. */
  readonly err: string;
  /** Why the consumer's callback failed. */
  readonly callbackReason?: string;
}

/** A request to run a function that a transaction made. */
export interface FunctionRequestView {
  /** Function request id. */
  readonly requestId: Hex;
  /** Subscription. */
  readonly subscriptionId: string;
  readonly consumer: Party;
  readonly callbackGasLimit: number;
  /** `null` if its data is not a request that a node can run. */
  readonly program: ProgramView | null;
  /** The round of drand that the request fixed and that the last of its byte arguments follows from; `null` without one. */
  readonly beacon: ChainRound | null;
  /** The transaction with the answer, once there is one. */
  readonly answeredBy?: Hex;
  readonly answer?: FunctionAnswer;
  /** What it is waiting for, while there is no answer. */
  readonly waitsFor?: string;
  /** The router took it off the chain without a result, so that none can follow. */
  readonly isTimedOut?: true;
}

/** Outcome of a function run. */
export interface FunctionResult {
  /** Whether the request was successful. */
  readonly success: boolean;
  /** Identifier of the request here: the one of `/api/requests/{id}`. */
  readonly id: string;
  /** Network on which the request ran. */
  readonly network: string;
  /** Request identifier assigned by the oracle network, 32 bytes. */
  readonly requestId: Hex;
  /** The generated output, as the oracle network reported it; `0x` when it failed. */
  readonly result: Hex;
  /** The result decoded according to `returnType`; empty when the function failed. */
  readonly parsedResult: string;
  /** The decoded result; `null` when the function failed. */
  readonly value: string | null;
  /** Error message, if any. `0x` means no error. */
  readonly err: string;
  /** Code of the failure; absent after a success. */
  readonly code?: "function_failed";
  /** Explorer page of the transaction that delivered the result. */
  readonly url: string;
  /** What to know about the source although it ran: for example, that it uses time or randomness, which differ from node to node. */
  readonly warnings?: readonly string[];
  /** Public page with the result: `/r/{id}`. */
  readonly shareUrl: string;
  /** What the request is for, as it is on chain; absent without a label. */
  readonly label?: string;
  /** The round of drand that the request fixed; absent without one. */
  readonly beacon?: BeaconView;
}

/** A response that a transaction delivered. */
export interface FunctionResultView extends FunctionAnswer {
  /** Function request id. */
  readonly requestId: Hex;
  readonly transmitter: Party;
  /** What it cost, in juels (1e-18 LINK). */
  readonly totalCostJuels?: string;
  /** Who requested it; absent if that isn't known. */
  readonly consumer?: Party;
  /** `null` if the request is no longer available. */
  readonly program: ProgramView | null;
  /** The round of drand that the request fixed and that the last of its byte arguments follows from; `null` without one. */
  readonly beacon: ChainRound | null;
  /** The transaction with the request, if still known. */
  readonly requestedBy?: Hex;
}

/** An account that holds coin on every embedded chain from the first block on. Its key is public. */
export interface FundedAccount {
  /** Checksummed address. */
  readonly address: Hex;
  /** 32 bytes. */
  readonly secretKey: Hex;
}

/** An open invitation, without its link. */
export interface InvitationView {
  /** Identifier: `inv_` and 26 characters. */
  readonly id: string;
  /** Who it is for, as the one who invites says; empty if they don't. */
  readonly name: string;
  readonly role: RoleName;
  /** When it was created. */
  readonly createdAt: string;
  /** When it is over. */
  readonly expiresAt: string;
}

/** One request's words, joined from those of several proving keys. */
export interface JoinView {
  /** VRF request of the first part, and the id of the whole. */
  readonly requestId: Hex;
  /** The transaction with the request. */
  readonly requestedBy: Hex;
  /** In the order in which they are joined. */
  readonly parts: readonly {
    /** VRF request id. */
    readonly requestId: Hex;
    /** Key hash. */
    readonly keyHash: Hex;
    readonly answeredBy: Hex | null;
  }[];
  /** `null` until every part has arrived. */
  readonly seed: Hex | null;
  readonly joinedBy: Hex | null;
}

/** An API key, without the key itself. */
export interface KeyView {
  readonly id: string;
  /** Name that its owner chose; may be empty. */
  readonly name: string;
  readonly ending: string | null;
  /** When it was created. */
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
  readonly dailyLimit: number | null;
  /** Requests that were made with it today (UTC); `null` without a daily limit, where they aren't counted. */
  readonly requestsToday: number | null;
  /** `read`: GET alone; `full`: all calls of the dapp. */
  readonly access: "read" | "full";
  readonly expiresAt: string | null;
  readonly previousUntil: string | null;
}

/** A contract that is linked to a dapp's subscriptions. */
export interface LinkedConsumer {
  readonly network: string;
  /** Checksummed address. */
  readonly address: Hex;
  /** The subscriptions that it is linked to on chain; `null` if the chain could not be reached. */
  readonly onChain: {
    readonly vrf: boolean;
    readonly functions: boolean;
  } | null;
  /** When the service linked it, if known. */
  readonly linkedAt?: string;
  /** The transaction that linked it. */
  readonly transactionHash?: Hex;
}

/** A log that a trigger wants, and its request. */
export interface LogRun {
  /** `run_` and 26 characters, ordered by when it was recorded. */
  readonly id: string;
  /** When the log was read. */
  readonly at: string;
  /** `seen`: its block is not as certain as `confidence` wants; `due`: it waits; `requested`: `requestId` is its request; `skipped`: it has none. */
  readonly state: "seen" | "due" | "requested" | "skipped";
  /** Why it was skipped. `limit`: too many of the dapp's runs wait, so neither this log nor the trigger's next ones make requests; `refused`: the request was refused; `key`: its API key is revoked or has expired; `reverted`: a reorg removed the log first. */
  readonly reason: "missed" | "overlap" | "paused" | "refused" | "limit" | "key" | "reverted" | null;
  /** The reason in a sentence, or what a run without a request waits for. */
  readonly detail: string | null;
  /** Its request. */
  readonly requestId: string | null;
  /** State of its request; `null` without one, and for one that can't be read. */
  readonly requestState: RequestState | null;
  /** The result of its request in one line, at most 200 characters; `null` until there is one. */
  readonly result: string | null;
  /** Why its request failed; `null` if it did not. */
  readonly error: {
    readonly code: string;
    readonly message: string;
  } | null;
  readonly log: {
    readonly blockNumber: number;
    /** Hash of the block. */
    readonly blockHash: Hex;
    /** Hash of the transaction. */
    readonly transactionHash: Hex;
    /** Position in the block. */
    readonly logIndex: number;
    /** The event's arguments and the values of each log (`$blockNumber` …), by name, as text. */
    readonly values: Readonly<Record<string, string>>;
    /** The transaction in the explorer; `null` while the network is not served. */
    readonly url: string | null;
  };
  readonly revertedAt: string | null;
}

/** A page of a log trigger's runs. */
export interface LogRunPage {
  /** Newest first. */
  readonly items: readonly LogRun[];
  /** Give it as `cursor` for the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** Requests that are made when contracts emit events. */
export interface LogTriggerView {
  /** Identifier: `trg_` and 26 characters. */
  readonly id: string;
  /** Its owner's name for it. */
  readonly name: string;
  /** Network whose logs it acts on. */
  readonly network: string;
  readonly addresses: readonly Hex[];
  /** Human-readable ABI of the event; `null` if `topics` were given. */
  readonly event: string | null;
  /** Wanted values of indexed arguments, by name. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Wanted topics by position, from `event` and `filters` or as given; `null` is any. */
  readonly topics: readonly (readonly Hex[] | null)[];
  /** Which blocks it acts on: `latest` each new one; `safe` and `finalized` those that the node calls so. */
  readonly confidence: "latest" | "safe" | "finalized";
  /** As given: `{"event": "name"}` stands for a value of the log. */
  readonly action: Readonly<Record<string, unknown>>;
  /** Network of its requests. */
  readonly actionNetwork: string;
  /** First block whose logs it acts on. */
  readonly fromBlock: number;
  /** Last block whose logs it has been shown; `null` before the first. */
  readonly readTo: number | null;
  readonly pausedAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** API key that created or last changed it, with which it acts; `null` if that was a person or the operator. */
  readonly keyId: string | null;
}

/** Who makes a call. */
export interface Me {
  /** `null` for the operator token and its sessions. */
  readonly id: string | null;
  /** The person's name; `Operator` for the operator token. */
  readonly name: string;
  /** Whether everything is allowed. */
  readonly isOperator: boolean;
  readonly memberships: readonly Membership[];
  /** What the person signs in with, oldest first. */
  readonly passkeys: readonly PasskeyView[];
}

/** A member of a dapp. */
export interface MemberView {
  /** Identifier of the person: `person_` and 26 characters. */
  readonly personId: string;
  readonly name: string;
  readonly role: RoleName;
  /** When the person became a member. */
  readonly createdAt: string;
}

/** A person's role in a dapp. */
export interface Membership {
  readonly dappId: string;
  readonly role: RoleName;
}

/** The values with which a consumer contract on one network is deployed. */
export interface NetworkConfigView {
  readonly network: string;
  readonly title: string;
  readonly chainId: number;
  readonly rpcUrl?: string;
  /** Decimal; absent until the service has created the subscriptions. */
  readonly vrfSubscriptionId?: string;
  readonly functionsSubscriptionId?: string;
  /** Default key hash. */
  readonly keyHash?: Hex;
  readonly donId: string;
  /** Addresses by role. */
  readonly contracts: {
    /** VRFCoordinatorV2, or VRFCoordinatorV2_5. */
    readonly vrfCoordinator?: Hex;
    /** FunctionsRouter. */
    readonly functionsRouter?: Hex;
    /** LINK token. */
    readonly link?: Hex;
  };
  /** The same values as environment variables, one per line. */
  readonly env: string;
  /** Solidity of a consumer with these values; absent until there are subscriptions. */
  readonly sampleContract?: string;
}

/** Whether one network would serve a request now. */
export interface NetworkReadiness {
  readonly ready: boolean;
  /** Why it isn't ready, in one sentence. */
  readonly why?: string;
  /** Newest block seen; while the node doesn't answer, the last one. */
  readonly blockNumber?: number;
  /** Milliseconds since the newest block was first seen; an embedded chain mines no blocks while nobody uses it. */
  readonly headAgeMs?: number;
  /** Last balance read; out of date while the node doesn't answer. */
  readonly operatorBalanceWei?: string;
  /** Milliseconds since the oldest unanswered request; 0 when there is none. */
  readonly oracleLagMs?: number;
  /** Open requests. */
  readonly pendingRequests?: number;
  /** Open requests that no transaction carries yet. */
  readonly queuedRequests?: number;
  /** Requests found whose database rows differ from what was written. */
  readonly damagedRequests?: number;
  /** Whether the network's node answers. */
  readonly rpcReachable?: boolean;
  /** Latency of its last answer. */
  readonly rpcLatencyMs?: number;
  readonly subscriptions?: {
    /** Dapps with subscriptions here. */
    readonly count: number;
    /** Lowest balance of a dapp's VRF subscription. */
    readonly lowestVrfJuels?: string;
    /** Lowest balance of a dapp's Functions subscription, less what is reserved for open requests. */
    readonly lowestFunctionsJuels?: string;
    /** What is left in the reserve that funds subscriptions. */
    readonly reserveJuels: string;
  };
  /** Which replica dispatches and tracks, where several may serve from one database. */
  readonly dispatcher?: {
    /** Its id; absent while no dispatcher is known. */
    readonly replica?: string;
    /** Whether it is the replica that answers this call. */
    readonly isHere: boolean;
  };
  readonly oracle?: {
    /** Whether it has read all blocks from before its start. */
    readonly caughtUp: boolean;
    /** Newest block that it has processed. */
    readonly blockNumber?: number;
    /** Requests for words that it has not answered. */
    readonly pendingWords: number;
    /** Function requests, and batches of presets with a word, that it has not answered. */
    readonly pendingFunctions: number;
    /** What the oldest of them waits for. */
    readonly waitsFor?: string;
    /** For each role, the account with the lowest balance. */
    readonly lowestAccounts: Readonly<
      Record<
        string,
        {
          /** The account */
          readonly address: Hex;
          readonly balanceWei: string;
        }
      >
    >;
  };
  /** What needs the operator's attention although the network is being served. */
  readonly warnings?: readonly string[];
}

/** A network as callers see it. */
export interface NetworkView {
  /** The value of `network` parameters. */
  readonly name: string;
  /** Name for people; that of a chain that Tyche runs says so. */
  readonly title: string;
  readonly chainId: number;
  /** Symbol of the coin that pays for gas, such as `ETH`; `coin` if unknown. */
  readonly coin: string;
  /** Whether Tyche runs this chain itself. */
  readonly embedded: boolean;
  /** Whether a block's hash is that of an Ethereum header, so that a verification can recompute it. */
  readonly hasEthereumBlocks: boolean;
  /** URL at which your own tools reach the chain. */
  readonly rpcUrl?: string;
  /** Transactions are at `{explorerUrl}/tx/{hash}`. */
  readonly explorerUrl: string;
  readonly status: "starting" | "serving" | "unavailable";
  /** Why it isn't serving. */
  readonly statusDetail?: string;
  readonly contracts: {
    /** LINK token */
    readonly link: Hex;
    /** VRFCoordinatorV2, or VRFCoordinatorV2_5 where `vrf.version` is v2.5 */
    readonly vrfCoordinator: Hex;
    /** FunctionsRouter */
    readonly functionsRouter: Hex;
    /** FunctionsCoordinator */
    readonly functionsCoordinator: Hex;
    /** Consumer through which presets run */
    readonly presetConsumer: Hex;
    /** Owner of the subscriptions */
    readonly subscriptionOwner: Hex;
  };
  /** Block in which the deployment of these contracts had ended, where a search for requests may begin; absent for embedded chains. */
  readonly deploymentBlock?: number;
  readonly vrf: {
    /** Version of Chainlink VRF, of the coordinator and of the consumers of its words. */
    readonly version: "v2" | "v2.5";
    /** Whether random words are paid for in the network's own coin instead of LINK. */
    readonly nativePayment: boolean;
    /** Registered key hashes; the first is the default. */
    readonly keyHashes: readonly Hex[];
    readonly minConfirmations: number;
    readonly maxConfirmations: number;
    /** Maximum number of random numbers in one request. */
    readonly maxWords: number;
  };
  readonly functions: {
    /** Name of the oracle network that runs the functions. */
    readonly donId: string;
    readonly maxSourceBytes: number;
    /** Maximum size of the whole encoded request. */
    readonly maxRequestBytes: number;
    readonly maxResponseBytes: number;
  };
  /** The rounds of drand that presets may wait for; absent if they may not. */
  readonly beacon?: {
    /** Hash of the chain of rounds. */
    readonly chainHash: string;
    /** Key that signs the rounds. */
    readonly publicKey: string;
    /** Unix time of round 1, in seconds. */
    readonly genesisTime: number;
    /** Seconds between rounds. */
    readonly period: number;
    readonly groupHash: string;
    readonly beaconId: string;
    /** How far in the future a request's round is. */
    readonly marginSeconds: number;
    /** Whether presets wait for a round where neither call nor dapp says otherwise. */
    readonly isDefault: boolean;
  };
  /** The rounds of the service's own beacon, for `beacon: "local"`: whoever runs the service knows all of them, so they prove nothing. */
  readonly localBeacon?: {
    /** Hash of the chain of rounds. */
    readonly chainHash: string;
    /** Key that signs the rounds. */
    readonly publicKey: string;
    /** Unix time of round 1, in seconds. */
    readonly genesisTime: number;
    /** Seconds between rounds. */
    readonly period: number;
    readonly groupHash: string;
    readonly beaconId: string;
    /** How far in the future a request's round is. */
    readonly marginSeconds: number;
    /** Whether presets wait for a round where neither call nor dapp says otherwise. */
    readonly isDefault: boolean;
  };
  /** The oracle's nodes, where several operators run them. */
  readonly nodes?: readonly OracleNodeView[];
}

/** A new dapp with its first key. */
export interface NewDapp extends DappView {
  readonly key: NewKeyView;
}

/** An invitation as it is shown on creation. */
export interface NewInvitation extends InvitationView {
  /** Opens the invitation, once. It is not shown again. Keep it secret. */
  readonly link: string;
}

/** An API key with its value. */
export interface NewKeyView extends KeyView {
  /** The key itself, for the `Authorization` header. Keep it secret. */
  readonly apiKey: string;
}

/** A webhook with the secret that its receiver verifies messages with, which is shown only on creation and rotation. */
export interface NewWebhookView extends WebhookView {
  /** `whsec_` and the HMAC key in base64, shown this once; `null` for `ed25519`, where `publicKey` verifies. */
  readonly secret: string | null;
}

/** One node of an oracle that several operators run. */
export interface OracleNodeView {
  /** URL at which the other nodes reach it, as its operator published it on chain. */
  readonly url: string;
  /** Key that signs its reports */
  readonly signer: Hex;
  /** Account that sends them */
  readonly transmitter: Hex;
  /** Whether it answered recently and counts itself among the coordinator's nodes. */
  readonly answers: boolean;
  /** When the others last heard from it (ISO 8601): the median of their reports. */
  readonly lastSeen?: string;
  /** Share of the answers on chain that match what it had observed, 0 to 1: the median of the others' reports. */
  readonly agreementRate?: number;
  /** Transaction of the last report that it sent */
  readonly lastTransmission?: Hex;
  /** How many of the others hold evidence that it contradicted itself. */
  readonly accusers: number;
}

/** The result of a request. */
export type Outcome = PresetResult | FunctionResult | RandomResult | ConsumerResult;

/** An address with the name by which it is known here, if any. */
export interface Party {
  /** Checksummed address. */
  readonly address: Hex;
  /** Its role here, if known. */
  readonly name?: string;
}

/** A passkey of a person. */
export interface PasskeyView {
  /** Identifier that its authenticator chose, base64url. */
  readonly id: string;
  /** What the browser that made it called itself. */
  readonly browser: string;
  /** When it was made. */
  readonly createdAt: string;
}

/** A person who signs in. */
export interface PersonView {
  /** Identifier of the person: `person_` and 26 characters. */
  readonly id: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** When the person accepted the first invitation. */
  readonly createdAt: string;
  readonly memberships: readonly Membership[];
}

/** A problem that keeps a preset from being served. */
export interface PresetProblem {
  /** Name of the preset's folder. */
  readonly preset: string;
  /** Path relative to the folder of all presets, such as `range/preset.json`; the preset's name if it is about the folder itself. */
  readonly file: string;
  /** 1-based; absent if the problem concerns the whole file or folder. */
  readonly line?: number;
  /** 1-based, in UTF-16 code units. */
  readonly column?: number;
  /** One sentence without a full stop. */
  readonly reason: string;
}

/** Outcome of a preset. */
export interface PresetResult {
  /** Whether the request was successful. */
  readonly success: boolean;
  /** Identifier of the request here: the one of `/api/requests/{id}`. */
  readonly id: string;
  /** Network on which the request ran. */
  readonly network: string;
  /** Hash of the transaction that put the VRF proof on chain. */
  readonly vrfv2Hash: Hex;
  /** Explorer page of that transaction. */
  readonly vrfv2EventHash: string;
  /** Request identifier assigned by the oracle network, 32 bytes. */
  readonly requestId: Hex;
  /** The generated output, as the oracle network reported it; `0x` when it failed. */
  readonly result: Hex;
  /** The output decoded to text; empty when the function failed. */
  readonly parsedResult: string;
  /** The output for programs, typed by the preset: `GET /api/presets` has each preset's schema. A whole number in an array that JSON readers would round is a decimal string. `null` when the function failed, or when entries of a list can't be told apart. */
  readonly value: boolean | string | readonly (number | string)[] | null;
  /** Error message, if any. `0x` means no error. */
  readonly err: string;
  /** Code of the failure; absent after a success. */
  readonly code?: "function_failed";
  /** Explorer page of the transaction that delivered the result. */
  readonly url: string;
  /** Public page with the result: `/r/{id}`. */
  readonly shareUrl: string;
  /** What the request is for, as it is on chain; absent without a label. */
  readonly label?: string;
  /** The round of drand that the request fixed; absent without one. */
  readonly beacon?: BeaconView;
}

/** A preset that a transaction requested or answered, or whose random words it delivered. */
export interface PresetRunView {
  /** Its id: keccak256(VRF request id ‖ item). */
  readonly requestId: Hex;
  /** VRF request of its batch. */
  readonly vrfRequestId: Hex;
  /** Its place in the batch. */
  readonly item: number;
  /** Its random word; `null` until it is on chain. */
  readonly word: Hex | null;
  /** The round of drand that its batch fixed and that the word also follows from; `null` without one. */
  readonly beacon: ChainRound | null;
  /** `null` if its source or its arguments can't be read. */
  readonly program: ProgramView | null;
  /** The transaction with the request. */
  readonly requestedBy: Hex;
  readonly answer: {
    /** Result. */
    readonly response: Hex;
    /** What the bytes of `response` may mean; the chain doesn't say. */
    readonly readings: ReadingsView;
    /** The result in one line as the installed preset reads it, such as `Heads`; absent after an error, and if none has this source. */
    readonly result?: string;
    /** The preset's result as structured data, if the preset declares how to display it. */
    readonly shown?: ShownResult;
    /** The error's text; empty when there was none. */
    readonly err: string;
  } | null;
  readonly answeredBy: Hex | null;
  /** What it is waiting for, while there is no answer. */
  readonly waitsFor?: string;
}

/** A preset as its author wrote it. */
export interface PresetSourceView {
  readonly name: string;
  readonly title: string;
  /** The source before it was minified, preceded by the modules that it imports. */
  readonly source: string;
  /** What it calls the arguments that it takes, in their order. */
  readonly argumentTitles: readonly string[];
}

/** Values of presets: true or false, text, whole numbers (a decimal string for each beyond 2^53 - 1), or texts. */
export type PresetValue = boolean | string | readonly (number | string)[];

/** A live preset as callers see it. */
export interface PresetView {
  /** The value of `preset` parameters. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of the parameters: an object that refuses unknown members. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Names of the parameters in the order in which the source gets them as `args`. */
  readonly parameterOrder: readonly string[];
  /** JavaScript that the oracle runs on the word, with what it imports. */
  readonly source: string;
  readonly returnType: ReturnType;
  /** JSON Schema (draft 2020-12) of `value` in a successful answer. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly examples: readonly {
    readonly params: Readonly<Record<string, unknown>>;
    readonly parsedResult: string;
  }[];
}

/** What the oracle nodes are asked to run. */
export interface ProgramView {
  readonly source: string;
  /** The installed preset whose source this is, as its author wrote it. */
  readonly preset?: PresetSourceView;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
}

/** The coordinator's struct Proof. Numbers are 32-byte hex; points are pairs of x and y. */
export interface ProofView {
  /** A point of the curve: x and y. */
  readonly pk: readonly [Hex, Hex];
  /** A point of the curve: x and y. */
  readonly gamma: readonly [Hex, Hex];
  /** Integer, 32 bytes. */
  readonly c: Hex;
  /** Integer, 32 bytes. */
  readonly s: Hex;
  /** The pre-seed; the proof's seed is its hash with the hash of the request's block. */
  readonly seed: Hex;
  /** Address, 20 bytes. */
  readonly uWitness: Hex;
  /** A point of the curve: x and y. */
  readonly cGammaWitness: readonly [Hex, Hex];
  /** A point of the curve: x and y. */
  readonly sHashWitness: readonly [Hex, Hex];
  /** Integer, 32 bytes. */
  readonly zInv: Hex;
}

/** A request for random words that a transaction made. */
export interface RandomRequestView {
  /** VRF request id. */
  readonly requestId: Hex;
  /** Key hash. */
  readonly keyHash: Hex;
  /** Pre-seed, 32 bytes. */
  readonly preSeed: Hex;
  /** Subscription. */
  readonly subId: string;
  readonly confirmations: number;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  readonly sender: Party;
  /** VRF v2.5 only: paid in coin, not LINK. */
  readonly nativePayment?: boolean;
  /** The transaction with the proof, once there is one. */
  readonly answeredBy?: Hex;
  /** Its words. */
  readonly words?: readonly string[];
  /** Why the consumer's callback failed. */
  readonly callbackReason?: string;
  /** What it is waiting for, while there is no answer. */
  readonly waitsFor?: string;
}

/** Outcome of a request for random numbers. */
export interface RandomResult {
  /** Whether the request was successful. */
  readonly success: boolean;
  /** Identifier of the request here: the one of `/api/requests/{id}`. */
  readonly id: string;
  /** Network on which the request ran. */
  readonly network: string;
  /** Request identifier assigned by the oracle network, 32 bytes. */
  readonly requestId: Hex;
  /** Hash of the transaction that put the VRF proof on chain. */
  readonly transactionHash: Hex;
  /** Explorer page of that transaction. */
  readonly url: string;
  /** Public page with the result: `/r/{id}`. */
  readonly shareUrl: string;
  /** What the request is for, as it is on chain; absent without a label. */
  readonly label?: string;
  /** The random numbers, each a 256-bit unsigned integer in decimal. */
  readonly randomNumber: readonly string[];
  /** The same numbers. */
  readonly value: readonly string[];
}

/** A proof in a transaction, and the coordinator's verdict on it. */
export interface RandomnessView {
  /** VRF request id. */
  readonly requestId: Hex;
  /** Key hash. */
  readonly keyHash: Hex;
  /** The coordinator's struct Proof. */
  readonly proof: ProofView;
  /** The coordinator's struct RequestCommitment. */
  readonly commitment: CommitmentView;
  /** keccak256(3 ‖ gamma). */
  readonly output: Hex;
  /** Word i is keccak256(output ‖ i). */
  readonly words: readonly string[];
  readonly outcome: "fulfilled" | "callback failed" | "refused";
  /** Why it was refused, or why the callback failed. */
  readonly reason?: string;
  /** Payment, in juels (1e-18 LINK). */
  readonly paymentJuels?: string;
  /** Payment in wei, if it was made in coin. */
  readonly paymentWei?: string;
  /** VRF v2.5 only: the gas was not charged. */
  readonly onlyPremium?: boolean;
  /** The transaction with the request, if still known. */
  readonly requestedBy?: Hex;
}

/** Whether requests would be served now. */
export interface Readiness {
  /** True while every network is served and sources can be run. */
  readonly ready: boolean;
  /** Whether sources can be run. */
  readonly sandbox: {
    readonly ready: boolean;
    /** The layers of confinement that are in force. */
    readonly layers: readonly string[];
    /** What is wrong, including when it serves although a process did not start. */
    readonly why?: string;
  };
  /** By network name. */
  readonly networks: Readonly<Record<string, NetworkReadiness>>;
}

/** Ways to read a response. */
export interface ReadingsView {
  /** Present only if the bytes are UTF-8 without control characters. */
  readonly text?: string;
  /** Present only for 1 to 32 bytes. */
  readonly uint256?: string;
  readonly int256?: string;
}

/** A report that the oracle network's nodes signed and a transaction delivered. */
export interface ReportView {
  /** Configuration, 32 bytes. For presets: the one that PresetConsumer has adopted now. */
  readonly configDigest: Hex;
  /** Absent in a report on presets. */
  readonly epoch?: number;
  /** Absent in a report on presets. */
  readonly round?: number;
  readonly requestIds: readonly Hex[];
  /** What the nodes signed. */
  readonly digest: Hex;
  readonly signatures: readonly {
    /** 32 bytes. */
    readonly r: Hex;
    /** 32 bytes. */
    readonly s: Hex;
    readonly recoveryId: number;
    /** Recovered from the signature; `null` if it is invalid or, in a report on presets, not of a node that is adopted now. */
    readonly signer: Party | null;
  }[];
}

export type RequestKind = "preset" | "function" | "random" | "consumer" | "unlink";

/** What a request is for, and which other requests say the same. */
export interface RequestLabel {
  /** Id of the dapp, as the service's operator wrote it. */
  readonly dapp: string;
  readonly label: string;
  /** Place of this request among those in `draws`, from 1. */
  readonly draw: number;
  /** All requests of the dapp with the label that were found in the blocks of `searched`, and this one, oldest first. */
  readonly draws: readonly {
    /** The request's transaction. */
    readonly transactionHash: Hex;
    readonly blockNumber: string;
  }[];
  readonly searched: {
    readonly from: string;
    /** First and last block in which the node was asked for such requests. */
    readonly to: string;
    /** The block before which the contract had no code, by the node's word, so that there can be no request; `0` where no `deploymentBlock` is published; `null` where the node has no state of that time. */
    readonly codeFrom: string | null;
    /** Whether requests of these blocks may be missing in `draws`: there are too many, or the node lists some that it doesn't show, or leaves out some that it does, or doesn't show all of the blocks up to the request's of which its hash would tell. */
    readonly omits: boolean;
    /** Whether that is the chain from its first block, or from `codeFrom` on, and all that were found are listed. */
    readonly isWhole: boolean;
    /** The block from which on, up to the request's own, no request with the label can be left out, as the hash that the VRF proof is for fixes these blocks; `null` where that is the node's word, as everywhere after the request. */
    readonly provenFrom: string | null;
  };
}

/** A page of requests. */
export interface RequestPage {
  /** Newest first. */
  readonly items: readonly RequestView[];
  /** Give it as `cursor` for the next page; null on the last one. */
  readonly nextCursor: string | null;
}

export type RequestState =
  | "checking"
  | "received"
  | "submitted"
  | "randomness"
  | "executing"
  | "fulfilled"
  | "failed";

/** One of the service's own requests, as far as it is on chain. */
export interface RequestSummary {
  /** Its id, which leads to the page `/r/{id}` once it has a result. */
  readonly id: string;
  /** Its id on the chain. */
  readonly requestId: Hex;
  readonly network: string;
  readonly kind: "preset" | "random" | "function";
  /** Title of the preset, or what a function's source says first in a comment, or the hosts that it names, or its arguments; absent for random numbers, and while it isn't known here. */
  readonly title?: string;
  readonly label?: string;
  /** The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that. */
  readonly givenLabel?: string;
  /** Id of its dapp, on chain with the label; absent without one. */
  readonly dappId?: string;
  /** When it was made. */
  readonly at: string;
  readonly state: "checking" | "received" | "submitted" | "randomness" | "executing" | "fulfilled" | "failed";
  /** Its result in one line, at most 200 characters; after an error, the error. */
  readonly result?: string;
  /** Absent without a result. */
  readonly success?: boolean;
  /** The newest of its transactions. */
  readonly transactionHash?: Hex;
}

/** A page of the service's own requests. */
export interface RequestSummaryPage {
  /** Newest first. */
  readonly items: readonly RequestSummary[];
  /** Give it as `cursor` for the next page; null on the last one. */
  readonly nextCursor: string | null;
  /** How many requests match, among the newest 1,000 on chain; on the first page only. */
  readonly matches?: {
    readonly count: number;
    /** Whether there are no older ones that were not looked through. */
    readonly isAll: boolean;
  };
}

/** The parts of one request. */
export interface RequestVerification {
  readonly kind: "preset" | "function" | "random";
  /** Identifier on chain: of a preset, keccak256 of `vrfRequestId` and its place in the batch, 32 bytes each; of the function request; for random numbers of VRF. */
  readonly requestId: Hex;
  readonly vrfRequestId: Hex | null;
  /** `valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request that it follows from. `incomplete`: no check failed, but there is no result on chain (yet). `invalid`: a check failed. */
  readonly verdict: Verdict;
  /** The first step that failed. */
  readonly failed: StepName | null;
  /** The transactions that contain each part. */
  readonly transactions: {
    readonly request: Hex | null;
    readonly randomness: Hex | null;
    readonly report: Hex | null;
  };
  /** Result that the report delivered, `0x` hex; null for random numbers and without a report. */
  readonly result: string | null;
  /** Error that the report delivered instead, `0x` hex of its text; `0x` means no error. */
  readonly err: string | null;
  /** Words that follow from the proof, in decimal: all for random numbers, a preset's own one. */
  readonly randomNumber: readonly string[];
  /** The VRF keys whose words it takes, as the request named them, in its order; empty for functions, and where the node doesn't show the request. */
  readonly keyHashes: readonly Hex[];
  /** Null for random numbers, and if the node doesn't show the source. */
  readonly sourceHash: Hex | null;
  /** The source that was run, in JavaScript; a preset's is minified. Null for random numbers, if the node doesn't show it, and if it is longer than the 30720 bytes that the oracle takes. */
  readonly source: string | null;
  /** Arguments of the source, as it gets them; null for random numbers, and if they are malformed. */
  readonly args: readonly string[] | null;
  /** The preset; null for functions and random numbers. */
  readonly preset: {
    /** Id of the preset's source on chain. */
    readonly sourceId: number;
    /** Name of the verifier's own preset with this source; null if it knows none. */
    readonly name: string | null;
    /** Names of `args`, as that preset has them; empty without it. */
    readonly parameters: readonly string[];
  } | null;
  /** The round of drand that the request fixed: the step `beacon` checks it. Null without one. */
  readonly beacon: ChainRound | null;
  /** Null if the node doesn't show the block. */
  readonly requestedAt: string | null;
  /** Null without one, or if the node doesn't show it. */
  readonly deliveredAt: string | null;
  /** Null without a result. */
  readonly deliveredBy: Hex | null;
  /** What the request is for; null without a label: it may be one of many. */
  readonly label: RequestLabel | null;
  readonly steps: readonly VerificationStep[];
}

/** A request, as the API shows it. */
export interface RequestView {
  /** Identifier of the request here (not the oracle network's). */
  readonly id: string;
  /** The dapp that made it; on chain with a label. */
  readonly dappId: string;
  readonly kind: RequestKind;
  readonly network: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that. */
  readonly givenLabel?: string;
  readonly state: RequestState;
  /** What a pending request is waiting for. */
  readonly why: string | null;
  /** When the request was received. */
  readonly createdAt: string;
  /** When its state last changed. */
  readonly updatedAt: string;
  /** When the service deleted the payload, as its configuration says: `params` no longer contains it. */
  readonly payloadDeletedAt?: string;
  /** Schedule or log trigger that made the request, also one that is deleted since; `null` if a call made it. */
  readonly triggerId: string | null;
  readonly timeline: readonly StateChange[];
  /** The result that the endpoint answers with, once there is one. */
  readonly outcome: PresetResult | FunctionResult | RandomResult | ConsumerResult | null;
  /** The preset's result as structured data, if the preset declares how to display it. */
  readonly shown?: ShownResult;
  /** Why the request ended without an outcome. */
  readonly error: {
    readonly code: string;
    readonly message: string;
  } | null;
  /** What the dry run of its source wrote and took, before anything was sent: of a function, and of a preset whose dry run failed. */
  readonly dryRun?: {
    /** The first 1,000 characters that the source wrote. */
    readonly console: string;
    /** Duration of the run in milliseconds. */
    readonly timeMs: number;
    /** Heap in use at the end of the run, in bytes. */
    readonly memoryBytes: number;
    /** HTTP requests that the source made. */
    readonly httpRequests: number;
  };
  /** Address of this request. */
  readonly statusUrl: string;
  /** Public page with the result, once there is one; absent for the linking and unlinking of contracts. */
  readonly shareUrl?: string;
}

export type ReturnType = "string" | "uint256" | "int256";

/** What a member may do: a viewer reads; a developer also runs, and edits what runs; an owner also has keys, members, linked contracts and deletion. */
export type RoleName = "viewer" | "developer" | "owner";

/** Requests that are made at certain times. */
export interface ScheduleView {
  /** Identifier: `sch_` and 26 characters. */
  readonly id: string;
  /** Its owner's name for it. */
  readonly name: string;
  /** Network of its requests. */
  readonly network: string;
  /** Distance between ticks, such as `1h`; `null` if `cron` says when. */
  readonly every: string | null;
  /** Five fields, or six with seconds first; `null` if `every` says when. */
  readonly cron: string | null;
  /** Time zone of `cron`; `null` with `every`. */
  readonly timeZone: string | null;
  /** `{"preset": "coinflip", …}` with the preset's parameters, `{"random": {…}}` or `{"function": {…}}` with those of that endpoint. */
  readonly action: Readonly<Record<string, unknown>>;
  /** What is done about ticks that the service could not act on in time: `skip` none, `one` the newest, `all` each of them. */
  readonly catchUp: "skip" | "one" | "all";
  /** How late a tick may be acted on, such as `1d`. */
  readonly window: string;
  /** Whether a tick is skipped while the request before it has not ended. */
  readonly overlap: "skip" | "allow";
  readonly until: string | null;
  readonly pausedAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** API key that created or last changed it, with which it acts; `null` if that was a person or the operator. */
  readonly keyId: string | null;
  /** The next five ticks; fewer before its end, none while it is paused. */
  readonly next: readonly string[];
}

/** A search hit. */
export type SearchHit =
  | {
      readonly network: string;
      readonly kind: "transaction";
      /** Hash. */
      readonly transactionHash: Hex;
    }
  | {
      readonly network: string;
      readonly kind: "block";
      /** Number. */
      readonly number: string;
    }
  | {
      readonly network: string;
      readonly kind: "address";
      readonly party: Party;
    }
  | {
      readonly network: string;
      readonly kind: "label";
      readonly label: string;
      /** The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that. */
      readonly givenLabel?: string;
      /** Id of the dapp that gave it. */
      readonly dapp: string;
      /** The transaction with the request. */
      readonly transactionHash: Hex;
      /** Its id on the chain; absent if the node no longer has the logs. */
      readonly requestId?: Hex;
      /** Title of its preset, if this service made it. */
      readonly title?: string;
      /** Its result in one line, if this service made it and has one. */
      readonly result?: string;
      /** When it was made, if this service made it. */
      readonly at?: string;
    }
  | {
      readonly network: string;
      readonly kind: "random" | "function" | "preset";
      /** Id of a request of VRF or of functions, or of a preset. */
      readonly requestId: Hex;
      readonly isAnswered: boolean;
      /** The transaction with the answer or, until there is one, with the request. */
      readonly transactionHash: Hex;
      /** Its label, if this service made it with one. */
      readonly label?: string;
      /** The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that. */
      readonly givenLabel?: string;
      /** Title of what it runs, if this service made it. */
      readonly title?: string;
      /** Its result in one line, if this service made it and has one. */
      readonly result?: string;
      /** When it was made, if this service made it. */
      readonly at?: string;
    };

/** What a search found. */
export interface SearchResult {
  readonly query: string;
  /** What the text was searched as. */
  readonly takenFor: readonly string[];
  /** The hits: `network`, `kind` and an identifier. */
  readonly hits: readonly SearchHit[];
  /** Pages of the application, in the order of the hits; then those without a hit: a shared result, presets and networks of that name. */
  readonly paths: readonly string[];
  /** Networks that could not be searched. */
  readonly silent: readonly string[];
  /** Networks where older requests may have the label: search again with `network` and `before`. */
  readonly older: readonly {
    readonly network: string;
    /** Where to go on: a block, or a log of one. */
    readonly before: string;
  }[];
  /** How many requests have the text in their label, title or result, among the newest 1,000 on chain; absent if they were not looked through. */
  readonly matches?: {
    readonly count: number;
    /** Whether there are no older ones that were not looked through. */
    readonly isAll: boolean;
  };
  /** Why nothing was found. */
  readonly reason?: string;
}

/** A secret as the API shows it, without its value. */
export interface SecretView {
  /** Its name, by which a source reads it: `secrets.NAME`. */
  readonly name: string;
  /** Network whose functions may read it. */
  readonly network: string;
  /** Rises with each change. */
  readonly version: number;
  /** Length of what is encrypted, in bytes. */
  readonly size: number;
  /** When it was set. */
  readonly changedAt: string;
  readonly expiresAt: string | null;
  /** Hosts to which a source with it may send requests; empty: any; null: only the oracle knows. */
  readonly allowedHosts: readonly string[] | null;
  /** Whether the network's nodes have another key by now, so that none can read it: set it again. */
  readonly outdated: boolean;
}

/** What a client encrypts a secret to, so that the service never sees it. */
export interface SecretsKey {
  /** Network. */
  readonly network: string;
  /** As `getThresholdPublicKey` of FunctionsCoordinator returns it. */
  readonly thresholdPublicKey: {
    /** `P256`. */
    readonly Group: string;
    /** Second generator: an uncompressed point in base64. */
    readonly G_bar: string;
    /** Public key: an uncompressed point in base64. */
    readonly H: string;
  };
  /** 32 bytes in hex, which say that only requests of the dapp's subscription may open it. */
  readonly label: string;
}

/** Who may upload secrets for a dapp's subscription beside the service. */
export interface SecretsSigner {
  /** Network. */
  readonly network: string;
  /** The dapp's subscription for functions. */
  readonly functionsSubscriptionId: string;
  /** Account whose uploads its requests may name */
  readonly signer: Hex;
  /** Transaction that says so; null if the account was the signer already. */
  readonly transactionHash: Hex | null;
}

/** An attempt with the message that was sent. */
export interface SentWebhook extends WebhookAttempt {
  /** Its headers, but `webhook-signature`, which isn't kept. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body, byte for byte; `null` once the event is no longer stored. */
  readonly body: string | null;
  /** Headers of the answer, up to 2,048 bytes, but those that may hold secrets, such as `set-cookie`; `null` if no answer came. */
  readonly answerHeaders: Readonly<Record<string, string>> | null;
}

/** Facts about the service itself. */
export interface ServiceInfo {
  readonly version: string;
}

/** A browser in which a person is signed in. */
export interface SessionView {
  /** Identifier: `session_` and 12 hex digits. */
  readonly id: string;
  /** Identifier of the person: `person_` and 26 characters. */
  readonly personId: string;
  /** The person's name. */
  readonly name: string;
  /** What the browser called itself at the sign-in. */
  readonly browser: string;
  /** Whether this call is made in it. */
  readonly isCurrent: boolean;
  /** When the person signed in. */
  readonly createdAt: string;
  /** When it was last used, to the minute. It ends 30 days later. */
  readonly lastUsedAt: string;
}

/** A result or, while there is none, its request. */
export type Shared = SharedResult | SharedRequest;

/** A request without a result, as anyone who knows its id may see it: nothing that is neither on chain nor in that id. */
export interface SharedRequest {
  readonly id: string;
  /** `waiting`: it has no result yet; ask again. `failed`: it will have none. */
  readonly state: "waiting" | "failed";
  /** What it waits for, or that it failed. */
  readonly why: string;
  /** When it was made, which its id tells, too. */
  readonly createdAt: string;
  /** Public page of its result. */
  readonly shareUrl: string;
  /** The round of drand that the request fixed; absent without one. */
  readonly beacon?: BeaconView;
  readonly kind?: "preset" | "random" | "function";
  readonly network?: string;
  /** Its id on the chain. */
  readonly requestId?: Hex;
  readonly label?: string;
  /** Name of the preset; absent for others. */
  readonly preset?: string;
  /** Title of the preset, or what a function's source says first in a comment, or the hosts that it names, or its arguments; absent for random numbers, and while it isn't known here. */
  readonly title?: string;
  /** A preset's parameters, whose values are on chain; absent once they were deleted here. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** A function's arguments, which are on chain; absent once they were deleted here. */
  readonly args?: readonly string[];
  /** What the preset calls its parameters, by name, as far as it says it. */
  readonly parameterTitles?: Readonly<Record<string, string>>;
  /** The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that. */
  readonly givenLabel?: string;
  /** Id of the dapp, on chain with the label; absent without one. */
  readonly dappId?: string;
  /** What that dapp calls itself, or its operator: nothing proves it. Absent without a label, of a dapp that was deleted, and of one with the name of the first, `default`. */
  readonly dappName?: string;
  /** The transaction with the request, if still known. */
  readonly requestedIn?: Hex;
}

/** A result as anyone who knows its id may see it. */
export interface SharedResult {
  readonly id: string;
  readonly network: string;
  /** When the result was stored. */
  readonly updatedAt: string;
  /** Name of the preset; absent for others. */
  readonly preset?: string;
  /** Title of the preset, or what a function's source says first in a comment, or the hosts that it names, or its arguments; absent for random numbers, and while it isn't known here. */
  readonly title?: string;
  /** A preset's parameters, whose values are on chain; absent once they were deleted here. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** A function's arguments, which are on chain; absent once they were deleted here. */
  readonly args?: readonly string[];
  /** What the preset calls its parameters, by name, as far as it says it. */
  readonly parameterTitles?: Readonly<Record<string, string>>;
  /** The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that. */
  readonly givenLabel?: string;
  /** Id of the dapp, on chain with the label; absent without one. */
  readonly dappId?: string;
  /** What that dapp calls itself, or its operator: nothing proves it. Absent without a label, of a dapp that was deleted, and of one with the name of the first, `default`. */
  readonly dappName?: string;
  /** The transaction with the request, if still known. */
  readonly requestedIn?: Hex;
  readonly outcome: PresetResult | FunctionResult | RandomResult;
  /** The preset's result as structured data, if the preset declares how to display it. */
  readonly shown?: ShownResult;
}

/** A preset's result, parsed for display as its `preset.json` specifies. */
export type ShownResult =
  | {
      readonly as: "coin";
      readonly side: string;
      readonly index: 0 | 1;
    }
  | {
      readonly as: "dice";
      readonly rolls: readonly string[];
      readonly hasPips: boolean;
    }
  | {
      readonly as: "list";
      readonly entries: readonly string[];
    };

/** Outcome of a dry run. Nothing was sent to a chain. */
export interface SimulateResult {
  /** Whether the request was successful. */
  readonly success: boolean;
  /** The generated output, as the oracle network reported it; `0x` when it failed. */
  readonly result: Hex;
  /** The result decoded according to `returnType`; empty when the function failed. */
  readonly parsedResult: string;
  /** The decoded result; `null` when the function failed. */
  readonly value: string | null;
  /** The text that the oracle nodes would report. `0x` means no error. */
  readonly err: string;
  /** Code of the failure; absent after a success. */
  readonly code?: "function_failed";
  /** What the source wrote with `console`. */
  readonly console: string;
  readonly consoleTruncated: boolean;
  /** Duration of the run in milliseconds. */
  readonly timeMs: number;
  /** Heap in use at the end of the run, in bytes. */
  readonly memoryBytes: number;
  /** HTTP requests that the source made. */
  readonly httpRequests: number;
  /** Line in the caller's source where it threw. */
  readonly line?: number;
  /** Column on that line. */
  readonly column?: number;
  /** The cause of `err`, if its text doesn't state it. */
  readonly details?: readonly {
    /** JSON Pointer to the parameter. */
    readonly path: string;
    /** What is wrong, where, and what to do. */
    readonly message: string;
  }[];
  /** What to know about the source although it ran: for example, that it uses time or randomness, which differ from node to node. */
  readonly warnings?: readonly string[];
}

/** One change of a request's state, as the API shows it. */
export interface StateChange {
  readonly seq: number;
  readonly state: RequestState;
  /** When the state was reached. */
  readonly at: string;
  /** Transaction that caused the state. */
  readonly transactionHash?: string;
  /** Explorer page of that transaction. */
  readonly url?: string;
  readonly detail?: string;
}

export type StepName =
  | "transactions"
  | "contracts"
  | "key"
  | "proof"
  | "join"
  | "beacon"
  | "source"
  | "signers"
  | "signatures"
  | "delivery"
  | "execution";

/** Balances of a dapp's subscriptions on one network. */
export interface SubscriptionBalances {
  readonly network: string;
  /** Balance of the VRF subscription, in juels (1e-18 LINK). */
  readonly vrfJuels: string;
  /** Coin on the VRF subscription, in wei: random words are paid for from it where `vrf.nativePayment` is true. 0 before VRF v2.5. */
  readonly vrfWei: string;
  /** Balance of the Functions subscription, less what is reserved for open requests, in juels (1e-18 LINK). */
  readonly functionsJuels: string;
}

/** A page of a chain's transactions. */
export interface TransactionList {
  readonly network: string;
  /** Newest first. */
  readonly transactions: readonly TransactionSummary[];
  /** The blocks searched for the page; with an index, all that it covers. */
  readonly searched: {
    /** First block. */
    readonly from: string;
    /** Last block. */
    readonly to: string;
  };
  /** Give it as `before` for the next page of transactions; null on the last. */
  readonly older: string | null;
}

/** Outcome of a mined transaction. */
export type TransactionStatus = "succeeded" | "reverted";

/** A transaction in a list. */
export interface TransactionSummary {
  /** Hash. */
  readonly hash: Hex;
  /** `null` if it was not read. */
  readonly status: TransactionStatus | null;
  /** Number of its block. */
  readonly blockNumber: string;
  /** Time of its block. */
  readonly at: string;
  readonly from: Party;
  /** `null` if it creates a contract. */
  readonly to: Party | null;
  /** The contract that it creates. */
  readonly created: Party | null;
  /** Name of the called function, or its selector; empty for a transfer. */
  readonly method: string;
  /** Value in wei. */
  readonly valueWei: string;
  /** What it cost, in wei; absent if its outcome was not read. */
  readonly feeWei?: string;
  /** What failed in it although it succeeded itself, such as `callback failed` or `2 × draw failed`; absent if nothing did. */
  readonly failure?: string;
  /** The service's own requests that it makes or answers, or whose random words it delivers, with kind and title if they share them; absent without any, and beyond the first 200 of a list. */
  readonly requests?: {
    readonly count: number;
    readonly kind?: "preset" | "random" | "function";
    /** Title of the preset, or what a function's source says first in a comment, or the hosts that it names, or its arguments; absent for random numbers, and while it isn't known here. */
    readonly title?: string;
    /** Result of a single one that it answers, in one line. */
    readonly result?: string;
  };
}

/** A transaction with everything that could be decoded from it. */
export interface TransactionView {
  readonly network: string;
  /** Hash. */
  readonly hash: Hex;
  readonly status: "pending" | "succeeded" | "reverted";
  readonly revertReason?: string;
  readonly block: {
    /** Number. */
    readonly number: string;
    /** Hash. */
    readonly hash: Hex;
    /** Time. */
    readonly at: string;
    /** Number of blocks from it to the newest, both included. */
    readonly confirmations: string;
  } | null;
  /** Index in the block. */
  readonly index: number | null;
  readonly from: Party;
  readonly to: Party | null;
  /** The contract that it created. */
  readonly created: Party | null;
  readonly nonce: number;
  /** Value in wei. */
  readonly valueWei: string;
  /** Gas limit. */
  readonly gasLimit: string;
  readonly gasUsed: string | null;
  /** Price of a unit of gas in wei. */
  readonly gasPriceWei: string;
  /** Calldata. */
  readonly input: Hex;
  /** The decoded call, where the interface is known. */
  readonly call: DecodedCall | null;
  /** Requests for random words that it made. */
  readonly randomRequests: readonly RandomRequestView[];
  /** VRF proofs in it, each with its words and their outcome. */
  readonly randomness: readonly RandomnessView[];
  /** Joined words of several proving keys. */
  readonly joins: readonly JoinView[];
  /** Presets that it requested or answered, or whose random words it delivered. */
  readonly presets: readonly PresetRunView[];
  /** Requests to run a function that it made. */
  readonly functionRequests: readonly FunctionRequestView[];
  /** Function results in it. */
  readonly functionResults: readonly FunctionResultView[];
  /** Those of the service's own requests that it makes or answers; absent without any. */
  readonly requests?: readonly RequestSummary[];
  /** The oracle network's signed reports in it. */
  readonly reports: readonly ReportView[];
  /** Its logs, decoded where the interface is known: the first 1,000. */
  readonly events: readonly EventView[];
  /** How many further logs it has; absent: none. */
  readonly moreEvents?: number;
}

/** A page of the LINK that an address sent and received. */
export interface TransferList {
  readonly network: string;
  /** Newest first; of the token itself, all that was moved. */
  readonly transfers: readonly {
    /** Its transaction. */
    readonly transactionHash: Hex;
    /** Number of its block. */
    readonly blockNumber: string;
    readonly from: Party;
    readonly to: Party;
    /** Amount in juels (1e-18 LINK). */
    readonly juels: string;
  }[];
  /** Their transactions, as far as the node has them. */
  readonly transactions: readonly TransactionSummary[];
  /** The blocks searched for the page; with an index, all that it covers. */
  readonly searched: {
    /** First block. */
    readonly from: string;
    /** Last block. */
    readonly to: string;
  };
  /** Give it as `before` for the next page of transfers; null on the last. */
  readonly older: string | null;
}

/** One time that a trigger was due. */
export interface TriggerRun {
  /** `run_` and 26 characters, ordered by when it was recorded. */
  readonly id: string;
  /** When it was due. */
  readonly at: string;
  /** Whether its owner asked for it, instead of a tick. */
  readonly asked: boolean;
  /** `due`: it waits; `requested`: `requestId` is its request; `skipped`: it has none. */
  readonly state: "due" | "requested" | "skipped";
  /** Why it was skipped. `missed`: the service could not act in time; `overlap`: the request before it had not ended; `paused`; `refused`: the request was refused; `limit`: the requests of the day were used up; `key`: its API key is revoked or has expired. */
  readonly reason: "missed" | "overlap" | "paused" | "refused" | "limit" | "key" | "reverted" | null;
  /** The reason in a sentence, or what a run that is due waits for. */
  readonly detail: string | null;
  /** Its request. */
  readonly requestId: string | null;
  /** State of its request; `null` without one, and for one that can't be read. */
  readonly requestState: RequestState | null;
  /** The result of its request in one line, at most 200 characters; `null` until there is one. */
  readonly result: string | null;
  /** Why its request failed; `null` if it did not. */
  readonly error: {
    readonly code: string;
    readonly message: string;
  } | null;
}

/** A page of a trigger's runs. */
export interface TriggerRunPage {
  /** Newest first. */
  readonly items: readonly TriggerRun[];
  /** Give it as `cursor` for the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** What a dapp used on one network and one day. */
export interface UsageDay {
  /** Day in UTC. A request counts on the day on which it was accepted. */
  readonly day: string;
  /** `null` for dry runs that name no network. */
  readonly network: string | null;
  /** Requests accepted, by kind. */
  readonly requests: {
    /** Presets. */
    readonly preset: number;
    /** Functions. */
    readonly function: number;
    /** Requests for random numbers. */
    readonly random: number;
    /** Contracts linked. */
    readonly consumer: number;
    /** Contracts unlinked. */
    readonly unlink: number;
  };
  /** Of these, how many were fulfilled. */
  readonly fulfilled: number;
  /** Of these, how many failed. The rest are in progress. */
  readonly failed: number;
  /** Calls refused after their dry run; nothing was sent to a chain. */
  readonly refused: number;
  /** Dry runs requested. */
  readonly dryRuns: number;
  /** Random words delivered. */
  readonly words: number;
  /** Gas of the service's own transactions; requests that share a transaction share it equally. The oracle's gas is part of what is charged. */
  readonly gasUsed: string;
  /** LINK charged to the subscriptions for the requests that have ended, in juels (1e-18). */
  readonly linkJuels: string;
  /** Coin charged where words are paid for in coin instead, in wei. */
  readonly coinWei: string;
  /** LINK that the service topped up the subscriptions with, in juels, on the day it did so. Covers what the dapp's own contracts spend; counts against the dapp's daily budget. */
  readonly toppedUpJuels: string;
  /** Coin that the service topped up a subscription with, in wei. */
  readonly toppedUpWei: string;
}

/** Usage of a dapp: a row for each day and network with any usage. */
export interface UsageReport {
  /** First day. */
  readonly from: string;
  /** Last day. */
  readonly to: string;
  /** Oldest first. */
  readonly items: readonly UsageDay[];
}

/** `valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request that it follows from. `incomplete`: no check failed, but there is no result on chain (yet). `invalid`: a check failed. */
export type Verdict = "invalid" | "incomplete" | "unconfirmed" | "conditional" | "valid";

/** What a check of a transaction against chain data found. */
export interface Verification {
  readonly network: string;
  readonly chainId: number;
  /** The transaction that was checked. */
  readonly transactionHash: Hex;
  /** Whether every request's verdict is `valid`. */
  readonly valid: boolean;
  /** `valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request that it follows from. `incomplete`: no check failed, but there is no result on chain (yet). `invalid`: a check failed. */
  readonly verdict: Verdict;
  readonly requests: readonly RequestVerification[];
  /** The oracle's contracts that the checks relied on. */
  readonly contracts: Readonly<Record<string, string>>;
  /** What these checks can't show: whose word it remains. */
  readonly trust: readonly string[];
}

/** One check. */
export interface VerificationStep {
  readonly name: StepName;
  /** `notApplicable`: can't be checked, for the reason in `detail`. In all steps but `key`, `join`, `source` and `signers`, it decides the verdict. */
  readonly outcome: "ok" | "failed" | "notApplicable";
  /** One sentence: what holds, what doesn't, or why it can't be checked. */
  readonly detail: string;
  readonly compared: readonly Comparison[];
}

/** One attempt to deliver an event. */
export interface WebhookAttempt {
  /** `att_` and 26 characters, ordered by time. */
  readonly id: string;
  /** Identifier of the event: the `webhook-id` of each attempt. */
  readonly eventId: string;
  /** Which attempt to deliver the event it is, from 1. */
  readonly number: number;
  /** Type of the event; `null` if it is no longer stored. */
  readonly type: string | null;
  /** What the event is about, such as the id of a request. */
  readonly subject: string | null;
  /** When the attempt began. */
  readonly at: string;
  readonly durationMs: number;
  /** Whether the answer's status was 2xx. */
  readonly success: boolean;
  /** HTTP status of the answer; `null` if none came. */
  readonly status: number | null;
  /** Why no answer came; `null` if one did. */
  readonly error: string | null;
  /** The first 2,048 bytes of the answer's body, as text. */
  readonly answer: string;
  readonly nextAttemptAt: string | null;
  /** What has become of the event by now: `delivered` by this attempt or another, `failed` after the last one; `null` once it is no longer stored. */
  readonly eventState: "pending" | "delivered" | "failed" | null;
}

/** A page of a webhook's attempts. */
export interface WebhookAttemptPage {
  /** Newest first. */
  readonly items: readonly WebhookAttempt[];
  /** Give it as `cursor` for the next page; null on the last one. */
  readonly nextCursor: string | null;
}

export interface WebhookReplay {
  /** How many events are sent again. */
  readonly replayed: number;
}

/** A test event that is on its way. */
export interface WebhookTest {
  /** Identifier of the event, to find its attempts by. */
  readonly eventId: string;
}

/** An address at which a dapp's server is told events. */
export interface WebhookView {
  /** Identifier: `wh_` and 26 characters. */
  readonly id: string;
  /** Where events are sent. */
  readonly url: string;
  /** Its owner's note; may be empty. */
  readonly description: string;
  /** Types of the events that it is told. */
  readonly events: readonly (
    | "request.fulfilled"
    | "request.failed"
    | "request.reopened"
    | "trigger.skipped"
    | "trigger.reverted"
  )[];
  /** `hmac`: HMAC-SHA256, `v1` in the signature header; `ed25519`: `v1a`. */
  readonly signature: "hmac" | "ed25519";
  /** `whpk_` and the public key in base64, to verify ed25519 signatures with; `null` for `hmac`. */
  readonly publicKey: string | null;
  /** When it was created. */
  readonly createdAt: string;
  readonly previousSecretUntil: string | null;
  readonly pausedAt: string | null;
  /** `owner`: its owner paused it; `gone`: it answered 410; `failing`: each attempt failed for five days. */
  readonly pausedWhy: "owner" | "gone" | "failing" | null;
  readonly failingSince: string | null;
  readonly lastSuccessAt: string | null;
  /** Events that are still to be delivered. */
  readonly pending: number;
  /** Events whose attempts all failed; they can be replayed. */
  readonly failed: number;
}

export interface AddKeyParams {
  /** Name of the key: at most 60 characters. Default: `""`. */
  readonly name?: string | undefined;
  /** Maximum number of requests that the key may make per day (UTC); further calls get 429. Default: no limit. */
  readonly dailyLimit?: number | undefined;
  /** What calls with it may do: `read` takes GET alone, and refuses others with 403. Default: `"full"`. */
  readonly access?: "read" | "full" | undefined;
  /** From then on calls with it get 401 `key_expired`. Default: never. */
  readonly expiresAt?: string | null | undefined;
}

export interface AttemptsParams {
  /** Maximum number of attempts in one answer. Default: `20`. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only attempts that were answered with 2xx, or only those that weren't. Default: all. */
  readonly state?: "delivered" | "failed" | undefined;
  /** Only attempts to tell events of this type. Default: all. */
  readonly type?:
    | "request.fulfilled"
    | "request.failed"
    | "request.reopened"
    | "trigger.skipped"
    | "trigger.reverted"
    | "webhook.test"
    | undefined;
  /** Only attempts to tell this event, by its `webhook-id`. Default: all. */
  readonly eventId?: string | undefined;
}

export interface AuditParams {
  /** Maximum number of entries in one answer. Default: `50`. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only what this person, API key or session did; `operator` is the token. */
  readonly actor?: string | undefined;
  /** Only this operation, by its name here, or `signIn` or `acceptInvitation`. */
  readonly action?:
    | "signIn"
    | "acceptInvitation"
    | "addPasskey"
    | "removePasskey"
    | "endSession"
    | "createWebhook"
    | "changeWebhook"
    | "deleteWebhook"
    | "rotateWebhookSecret"
    | "replayWebhook"
    | "setSecret"
    | "deleteSecret"
    | "setSecretsSigner"
    | "createSchedule"
    | "changeSchedule"
    | "deleteSchedule"
    | "createTrigger"
    | "changeTrigger"
    | "deleteTrigger"
    | "updateDapp"
    | "addKey"
    | "changeKey"
    | "rotateKey"
    | "revealKey"
    | "revokeKey"
    | "addConsumer"
    | "removeConsumer"
    | "changeMember"
    | "removeMember"
    | "createInvitation"
    | "revokeInvitation"
    | "deleteDapp"
    | "createDapp"
    | "changePerson"
    | "removePerson"
    | undefined;
}

export interface BeforeParams {
  /** `older` of the previous page: a block number, or one with a position in the block. */
  readonly before?: string | undefined;
}

export interface ChangeKeyParams {
  /** The new name: at most 60 characters; empty for none. */
  readonly name?: string | undefined;
  /** Maximum number of requests that the key may make per day (UTC); `null` for no limit. */
  readonly dailyLimit?: number | null | undefined;
  /** From then on calls with it get 401 `key_expired`; `null` for never. */
  readonly expiresAt?: string | null | undefined;
}

export interface ChangeMemberParams {
  /** What the member may do. */
  readonly role: "viewer" | "developer" | "owner";
}

export interface ChangePersonParams {
  /** Whether everything is allowed. */
  readonly isOperator: boolean;
}

export interface ChangeScheduleParams {
  /** A name of your own. */
  readonly name?: string | undefined;
  /** What is requested: `{"preset": "coinflip", …}` with the preset's parameters, `{"random": {…}}` or `{"function": {…}}` with those of that endpoint, without `network`. */
  readonly action?: Readonly<Record<string, unknown>> | undefined;
  /** Distance between ticks: `10s`, `5m`, `1h`, `1d`. The first one is that much later. */
  readonly every?: string | undefined;
  /** Cron expression, instead of `every`: minute, hour, day, month and weekday, or six fields with seconds first. */
  readonly cron?: string | undefined;
  /** Time zone of `cron`, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string | undefined;
  /** How late a tick may be caught up with: `1m` to `30d`. Default: `1d`. Not with `skip`: `1m`. */
  readonly window?: string | undefined;
  /** What is done about ticks that the service could not act on in time: `skip` none, `one` the newest, `all` each of them. */
  readonly catchUp?: "skip" | "one" | "all" | undefined;
  /** Whether a tick is skipped while the request before it has not ended. */
  readonly overlap?: "skip" | "allow" | undefined;
  /** After this there are no ticks. `null`: no end, as by default. */
  readonly until?: string | null | undefined;
  /** Whether it does nothing for now. */
  readonly paused?: boolean | undefined;
}

export interface ChangeTriggerParams {
  /** A name of your own. */
  readonly name?: string | undefined;
  /** As in a schedule; `{"event": "name"}` in place of a value stands for a value of the log. */
  readonly action?: Readonly<Record<string, unknown>> | undefined;
  /** Network on which the requests run. Default: that of the logs. */
  readonly actionNetwork?: string | undefined;
  /** Whether it does nothing for now. */
  readonly paused?: boolean | undefined;
}

export interface ChangeWebhookParams {
  /** Where events are sent: an https URL on a public host. */
  readonly url?: string | undefined;
  /** Types of the events to be told. */
  readonly events?:
    | readonly (
        | "request.fulfilled"
        | "request.failed"
        | "request.reopened"
        | "trigger.skipped"
        | "trigger.reverted"
      )[]
    | undefined;
  /** A note of your own: at most 200 characters. */
  readonly description?: string | undefined;
  /** Whether deliveries wait. `false` resumes a webhook, whatever paused it. */
  readonly paused?: boolean | undefined;
}

export interface ConsumerParams {
  /** Identifier of the dapp, as in the address of its page. Default: the key's dapp. */
  readonly dappId?: string | undefined;
  /** Network on which the request runs. Default: the only one. */
  readonly network?: string | undefined;
  /** Address of the consumer contract; its checksum is verified when mixed case. */
  readonly consumer: string;
}

export interface ConsumersParams {
  /** Only the contracts on this network. Default: on all. */
  readonly network?: string | undefined;
}

export interface ContractRequestsParams {
  /** Network of the contracts. Default: the only one. */
  readonly network?: string | undefined;
  /** `older` of the previous page: a block number, or one with a position in the block. */
  readonly before?: string | undefined;
}

export interface CreateDappParams {
  /** Its name: 1 to 60 characters. Everybody sees it on results with a label. */
  readonly name: string;
  /** What it may use; `presets` includes random numbers. Default: `["presets","functions"]`. */
  readonly facilities?: readonly ("presets" | "functions")[] | undefined;
}

export interface CreateInvitationParams {
  /** What the member may do. */
  readonly role: "viewer" | "developer" | "owner";
  /** Who it is for: at most 60 characters. Default: `""`. */
  readonly name?: string | undefined;
}

export interface CreateScheduleParams {
  /** A name of your own. */
  readonly name: string;
  /** Network on which the request runs. Default: the only one. */
  readonly network?: string | undefined;
  /** What is requested: `{"preset": "coinflip", …}` with the preset's parameters, `{"random": {…}}` or `{"function": {…}}` with those of that endpoint, without `network`. */
  readonly action: Readonly<Record<string, unknown>>;
  /** Distance between ticks: `10s`, `5m`, `1h`, `1d`. The first one is that much later. */
  readonly every?: string | undefined;
  /** Cron expression, instead of `every`: minute, hour, day, month and weekday, or six fields with seconds first. */
  readonly cron?: string | undefined;
  /** Time zone of `cron`, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string | undefined;
  /** How late a tick may be caught up with: `1m` to `30d`. Default: `1d`. Not with `skip`: `1m`. */
  readonly window?: string | undefined;
  /** What is done about ticks that the service could not act on in time: `skip` none, `one` the newest, `all` each of them. Default: `"one"`. */
  readonly catchUp?: "skip" | "one" | "all" | undefined;
  /** Whether a tick is skipped while the request before it has not ended. Default: `"skip"`. */
  readonly overlap?: "skip" | "allow" | undefined;
  /** After this there are no ticks. `null`: no end, as by default. */
  readonly until?: string | null | undefined;
  /** Whether it does nothing for now. Default: `false`. */
  readonly paused?: boolean | undefined;
}

export interface CreateTriggerParams {
  /** A name of your own. */
  readonly name: string;
  /** Network whose logs it acts on. Default: the only one. */
  readonly network?: string | undefined;
  /** Addresses of the contracts: 1 to 10. */
  readonly addresses: readonly string[];
  /** Human-readable ABI: `event Closed(uint256 indexed round, uint256 players)`. */
  readonly event?: string | undefined;
  /** Instead of `event`: topics by position, as in `eth_getLogs`; `null` is any. */
  readonly topics?: readonly (string | readonly string[] | null)[] | undefined;
  /** Wanted values of the event's indexed arguments, by name: one value, or a list of up to 10. */
  readonly filters?: Readonly<Record<string, unknown>> | undefined;
  /** Which blocks it acts on: `latest` each new one; `safe` and `finalized` those that the node calls so. On an embedded network each block is final. Default: `"safe"`. */
  readonly confidence?: "latest" | "safe" | "finalized" | undefined;
  /** As in a schedule; `{"event": "name"}` in place of a value stands for a value of the log. */
  readonly action: Readonly<Record<string, unknown>>;
  /** Network on which the requests run. Default: that of the logs. */
  readonly actionNetwork?: string | undefined;
  /** First block whose logs it acts on; an earlier one is replayed. Default: the next block. */
  readonly fromBlock?: number | undefined;
  /** Whether it does nothing for now. Default: `false`. */
  readonly paused?: boolean | undefined;
}

export interface CreateWebhookParams {
  /** Where events are sent: an https URL on a public host. */
  readonly url: string;
  /** Types of the events to be told. Default: `["request.fulfilled","request.failed","request.reopened","trigger.skipped","trigger.reverted"]`. */
  readonly events?:
    | readonly (
        | "request.fulfilled"
        | "request.failed"
        | "request.reopened"
        | "trigger.skipped"
        | "trigger.reverted"
      )[]
    | undefined;
  /** A note of your own: at most 200 characters. Default: `""`. */
  readonly description?: string | undefined;
  /** How messages are signed: with a shared secret, or with a key pair whose public key verifies. Default: `"hmac"`. */
  readonly signature?: "hmac" | "ed25519" | undefined;
}

export interface DryRunsParams {
  /** Maximum number of dry runs in one answer. Default: `100`. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** `dry-run`: a dry run was requested; the others: a call of that kind was refused. */
  readonly kind?: "dry-run" | "preset" | "function" | undefined;
  /** Only those that named this network. */
  readonly network?: string | undefined;
}

export interface FaucetParams {
  /** Embedded network to send on. Default: the only one. */
  readonly network?: string | undefined;
  /** Recipient of the coin and LINK; its checksum is verified when mixed case. */
  readonly address: string;
}

export interface FunctionParams {
  /** Network on which the request runs. Default: the only one. */
  readonly network?: string | undefined;
  /** JavaScript source of the function: the body of an async function that returns a byte buffer. Its arguments are in the array `args`. At most 30,720 bytes of UTF-8. */
  readonly source: string;
  /** Arguments for the function. Default: `[]`. */
  readonly args?: readonly string[] | undefined;
  /** Names of the dapp's secrets on the network that the source may read, as `secrets.NAME`. */
  readonly secrets?: readonly string[] | undefined;
  /** Type used to decode the result. Default: `"string"`. */
  readonly returnType?: "string" | "uint256" | "int256" | undefined;
  /** A source of randomness for the function: the first round of drand that is due after the network's margin, which the answer names. The source gets a word of 32 bytes that follows from it as the last of `bytesArgs`. `local` as for presets. Default: `none`, and no word. */
  readonly beacon?: "drand" | "local" | "none" | undefined;
  /** What the request is for, such as `raffle-2026-12-24`: 1 to 100 characters, fixed on chain with it for all to see. Upper and lower case are the same letter by letter. */
  readonly label?: string | undefined;
  /** Whether this must be the dapp's only request with this label on the network: it is refused if there is another, and so is every later one. */
  readonly once?: boolean | undefined;
}

export interface ListParams {
  /** Maximum number of requests in one answer. Default: `20`. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly state?:
    | "checking"
    | "received"
    | "submitted"
    | "randomness"
    | "executing"
    | "fulfilled"
    | "failed"
    | undefined;
  readonly kind?: "preset" | "function" | "random" | "consumer" | "unlink" | undefined;
  /** Only requests on this network. */
  readonly network?: string | undefined;
}

export interface ListSecretsParams {
  /** Only the secrets on this network. Default: on all. */
  readonly network?: string | undefined;
}

export interface OnChainParams {
  /** Only the requests on this network. Default: on all. */
  readonly network?: string | undefined;
  /** Only the requests for this preset. With any filter but `network`, a page looks through 1,000 requests, so that it may have few or none of them before the last. */
  readonly preset?: string | undefined;
  /** Only the requests of this kind. */
  readonly kind?: "preset" | "random" | "function" | undefined;
  /** Only the requests in this state. `waiting`: without a result yet. */
  readonly state?: "waiting" | "fulfilled" | "failed" | undefined;
  /** Only the requests whose preset's name, title, label or result contains this text, in any case. */
  readonly text?: string | undefined;
  /** Only the requests with a label of the dapp with this id: with the label, it is on chain. */
  readonly dapp?: string | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface PresetParams {
  /** Network on which the request runs. Default: the only one, or `"polygon_mumbai"`. */
  readonly network?: string | undefined;
  /** Preset to run. */
  readonly preset: string;
  /** Block confirmations before the random word is drawn. Default: 1, or the network's minimum if that is higher. `GET /api/networks` lists each network's range. */
  readonly confirmations?: number | undefined;
  /** A source of randomness that the word also follows from: the first round of drand that is due after the network's margin. The answer names it. `local`, on embedded networks: a round of the service's own beacon, which works without internet and proves nothing. Default: what the dapp says, or else the network, mostly `none`. */
  readonly beacon?: "drand" | "local" | "none" | undefined;
  /** What the request is for, such as `raffle-2026-12-24`: 1 to 100 characters, fixed on chain with it for all to see. Upper and lower case are the same letter by letter. */
  readonly label?: string | undefined;
  /** Whether this must be the dapp's only request with this label on the network: it is refused if there is another, and so is every later one. */
  readonly once?: boolean | undefined;
}

export interface RandomParams {
  /** Network on which the request runs. Default: the only one, or `"fantom_testnet"`. */
  readonly network?: string | undefined;
  /** Number of random numbers. Default: `1`. */
  readonly numWords?: number | undefined;
  /** Block confirmations before the random numbers are drawn. Default: 1, or the network's minimum if that is higher. `GET /api/networks` lists each network's range. */
  readonly confirmations?: number | undefined;
  /** What the request is for, such as `raffle-2026-12-24`: 1 to 100 characters, fixed on chain with it for all to see. Upper and lower case are the same letter by letter. */
  readonly label?: string | undefined;
  /** Whether this must be the dapp's only request with this label on the network: it is refused if there is another, and so is every later one. */
  readonly once?: boolean | undefined;
  /** Keccak256 hash that names the VRF key: one that `GET /api/networks` lists for the network. */
  readonly keyHash?: string | undefined;
  /** VRF keys whose words are joined, instead of `keyHash`: 1 to 4 different ones that `GET /api/networks` lists. The numbers are a hash of all their words, so one honest operator is enough. In the query, separated by commas. */
  readonly keyHashes?: readonly string[] | undefined;
}

export interface ReplayParams {
  /** The event to send again, delivered or not. */
  readonly eventId?: string | undefined;
  /** Send again all events since then that are not delivered. Instead of `eventId`. */
  readonly since?: string | undefined;
}

export interface RotateParams {
  /** For how many hours the present value stays valid beside the new one; 0: it ends at once. Default: `24`. */
  readonly overlapHours?: number | undefined;
}

export interface RunsParams {
  /** Maximum number of runs in one answer. Default: `20`. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface SearchParams {
  /** What to look for. */
  readonly q: string;
  /** Network whose hits are preferred. */
  readonly network?: string | undefined;
  /** Searches `network` for the label from here on: `before` of an entry of `older`. */
  readonly before?: string | undefined;
}

export interface SecretNetworkParams {
  /** Network of the secrets. Default: the only one. */
  readonly network?: string | undefined;
}

export interface SecretsSignerParams {
  /** Network of the subscription. Default: the only one. */
  readonly network?: string | undefined;
  /** Account that uploads; the zero address: nobody. */
  readonly address: string;
  /** The account's signature (EIP-191) of the message that a call without it answers with. */
  readonly signature?: string | undefined;
}

export interface SetSecretParams {
  /** Network whose functions may read it. Default: the only one. */
  readonly network?: string | undefined;
  /** Its value: at most 2,048 bytes of UTF-8. */
  readonly value?: string | undefined;
  /** In place of `value`: what `tyche/client` makes of it with the network's key. */
  readonly ciphertext?: string | undefined;
  /** Hosts to which a source with the secret may send requests, such as `api.example.com` or `api.example.com:8443`, by https. A run that sends one elsewhere fails. Default: any. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** After this no request can read it. Default: never. */
  readonly expiresAt?: string | undefined;
}

export interface SimulateParams {
  /** Network whose limits apply, and whose secrets. */
  readonly network?: string | undefined;
  /** JavaScript source of the function: the body of an async function that returns a byte buffer. Its arguments are in the array `args`. At most 30,720 bytes of UTF-8. */
  readonly source: string;
  /** Arguments for the function. Default: `[]`. */
  readonly args?: readonly string[] | undefined;
  /** Names of the dapp's secrets on the network that the source may read, as `secrets.NAME`. */
  readonly secrets?: readonly string[] | undefined;
  /** Values that the source reads as `secrets.NAME` in this run, in place of the dapp's secrets: at most 2,048 bytes of UTF-8 each. They are kept nowhere, and may be sent to any host. */
  readonly secretValues?: Readonly<Record<string, string>> | undefined;
  /** Type used to decode the result. Default: `"string"`. */
  readonly returnType?: "string" | "uint256" | "int256" | undefined;
  /** As of a function on the network; the word that the source gets here is always the same. Default: `none`. */
  readonly beacon?: "drand" | "local" | "none" | undefined;
}

export interface TestWebhookParams {
  /** Type of the event. Its `data` is a sample, with `test` true. Default: `"webhook.test"`. */
  readonly type?:
    | "request.fulfilled"
    | "request.failed"
    | "request.reopened"
    | "trigger.skipped"
    | "trigger.reverted"
    | "webhook.test"
    | undefined;
}

export interface UnlinkParams {
  /** Network on which the request runs. Default: the only one. */
  readonly network?: string | undefined;
}

export interface UpdateDappParams {
  /** The new name: 1 to 60 characters. Everybody sees it on results with a label. */
  readonly name?: string | undefined;
  /** What it may use from now on. Only the operator may set it; others get 403 `forbidden`. */
  readonly facilities?: readonly ("presets" | "functions")[] | undefined;
  /** What presets wait for where a call doesn't say it, see `beacon` of presets. `null`: what the network says, as by default. */
  readonly beacon?: "drand" | "local" | "none" | null | undefined;
}

export interface UsageParams {
  /** First day, in UTC. Default: 29 days before `to`. */
  readonly from?: string | undefined;
  /** Last day. Default: today. A report covers at most 366 days. */
  readonly to?: string | undefined;
  /** Network. Default: all. */
  readonly network?: string | undefined;
  /** `csv` gives `text/csv`, as the header `Accept: text/csv` does. Default: `"json"`. */
  readonly format?: "json" | "csv" | undefined;
}

export interface VerifyParams {
  /** Network of the transaction. Default: the only one. */
  readonly network?: string | undefined;
  /** Hash of the transaction: of a request, a VRF proof (`vrfv2Hash`) or a report. */
  readonly tx: string;
  /** Check only this request, if several share the transaction: a preset, a function, or all that share a VRF request. */
  readonly requestId?: string | undefined;
  /** First block in which other requests with the request's label are looked for, to go on where an earlier search ended. Default: 0. */
  readonly fromBlock?: number | undefined;
  /** Last block in which they are looked for. Default: the newest. */
  readonly toBlock?: number | undefined;
}
