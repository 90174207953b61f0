import type { Checked } from "../api/parameters/requestSchemas.ts";
import type {
  DappDeletion,
  DryRunPage,
  DryRunView,
  FaucetResult,
  NetworkView,
  PresetProblem,
  PresetView,
  Readiness,
  RequestSummary,
  RequestView,
  SearchHit,
  Shared,
  SimulateResult,
  StateChange,
  UsageReport,
} from "../api/types.ts";
import type { Dapp } from "../dapps/dapp.ts";
import type { Hex } from "viem";
import type { ActiveHour } from "./read/activity.ts";

/** A request as the API shows it, without its address. */
export type RequestRecord = Omit<RequestView, "statusUrl">;

/** What a caller requests; its parameters are valid when it reaches {@link Service.submit}. */
export type Command = PresetCommand | FunctionCommand | RandomCommand | ConsumerCommand | UnlinkCommand;

/** What a request is for. */
export interface Labelled {
  /** Canonical, see `domain/label.ts`. */
  readonly label?: string;
  /** The label as its caller spelled it, if otherwise. */
  readonly givenLabel?: string;
  /** Whether it must be the dapp's only request with the label on the network. */
  readonly once?: true;
}

/** Parameters as they were checked, without what the schema has of a label. */
type Unlabelled<Name extends "preset" | "function" | "random"> = Omit<Checked<Name>, "label" | "once">;

export interface PresetCommand extends Labelled, Unlabelled<"preset"> {
  readonly kind: "preset";
  /** What {@link Service.parsePresetParams} returned. */
  readonly params: Readonly<Record<string, unknown>>;
}

export interface FunctionCommand extends Labelled, Unlabelled<"function"> {
  readonly kind: "function";
}

/** A dry run. Without `network`, it runs with limits that hold on every network. */
export type SimulateCommand = Checked<"simulate">;

export interface RandomCommand extends Labelled, Unlabelled<"random"> {
  readonly kind: "random";
}

export interface ConsumerCommand {
  readonly kind: "consumer";
  readonly network: string;
  readonly dappId: string;
  /** Checksummed address of the contract. */
  readonly consumer: Hex;
}

/** Removes a contract from the caller's own subscriptions. */
export interface UnlinkCommand {
  readonly kind: "unlink";
  readonly network: string;
  /** Checksummed address of the contract. */
  readonly consumer: Hex;
}

export interface SubmitOptions {
  /** 1–255 visible ASCII characters, scoped to the dapp. */
  readonly idempotencyKey?: string;
  /**
   * Whether to return a preset or function request in state `checking` at once and dry-run its source afterwards: a source
   * that fails then ends the request with `function_failed`. Default: the dry run comes first, and a source that fails
   * creates no request.
   */
  readonly isAsync?: boolean;
  /** Cancels the dry run of a caller's source. A request that has been accepted continues. */
  readonly signal?: AbortSignal;
}

/** An answer to {@link Service.listRequests}, newest request first. */
export interface RequestPage {
  readonly items: readonly RequestRecord[];
  /** Pass it as `cursor` to get the next page; `null` on the last one. */
  readonly nextCursor: string | null;
}

export interface OnChainPage {
  readonly items: readonly RequestSummary[];
  readonly nextCursor: string | null;
  /** How many there are among the newest 1,000, and whether that is all; on the first page only. */
  readonly matches?: { readonly count: number; readonly isAll: boolean };
}

/** The use cases, as every interface (HTTP, command line, web pages) sees them. Every method that fails throws a `TycheError`. */
export interface Service {
  /** Finds the dapp of an API key, given without `Bearer`. Throws `unauthenticated` for a missing, malformed, unknown or revoked key. */
  authenticate(apiKey: string): Promise<Dapp>;

  /**
   * Checks the parameters of a preset, fills in its defaults and normalizes numeric strings and integers to one form. With
   * `network`, it also checks that the largest possible result fits there. Throws `invalid_parameter` with all violations;
   * their paths are those of the parameters (`/min`). The preset and the network must exist: the caller has looked them up in
   * {@link presets} and {@link networks}.
   */
  parsePresetParams(
    preset: string,
    params: Readonly<Record<string, unknown>>,
    options: { readonly network?: string },
  ): Record<string, unknown>;

  /**
   * Stores a request, starts processing it and returns the record as stored. For a known idempotency key and the same
   * command, returns the earlier record. Throws `forbidden` (facility missing), `not_found` (another dapp's),
   * `invalid_parameter` (what only the service can check: the encoded size, code at a consumer's address), `function_failed`
   * (the dry run failed; details: `FunctionRefusal`), `idempotency_conflict`, `too_many_consumers`, `overloaded`,
   * `rate_limited`, `chain_unavailable`.
   */
  submit(dapp: Dapp, command: Command, options: SubmitOptions): Promise<RequestRecord>;

  /**
   * Checks, for a command that is submitted later, what would then refuse it: the dapp's facilities, sizes, secrets, and that the source
   * of a function compiles, which isn't run. What can't be checked at present passes. Throws `forbidden`, `not_found` and
   * `invalid_parameter`.
   */
  check(dapp: Dapp, command: Command): Promise<void>;

  /**
   * Waits for a request to end. Returns the ended record, or the pending one when `timeoutMs` has passed or `signal` aborts.
   * Never ends the request itself.
   */
  wait(
    id: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<RequestRecord>;

  /**
   * Yields every change of state after `afterSeq` (0: from the start) as it is stored, and returns after the one that ends
   * the request, or when `signal` aborts. Throws `not_found` as {@link getRequest} does.
   */
  watch(
    dapp: Dapp,
    id: string,
    options: { readonly afterSeq: number; readonly signal: AbortSignal },
  ): AsyncIterable<StateChange>;

  /** Reads a request, by its id or by the one that the oracle network assigned. Throws `not_found` for an unknown id and for another dapp's request alike. */
  getRequest(dapp: Dapp, id: string): Promise<RequestRecord>;
  listRequests(dapp: Dapp, options: Checked<"list">): Promise<RequestPage>;
  /**
   * Reads the result of any dapp's preset, function or random numbers, for a public page: anyone may see it, as
   * what is on chain of it; while there is none, what the request waits for. Throws `not_found` for any other id.
   */
  getShared(id: string): Promise<Shared>;
  /** Lists what is on chain of all dapps' presets, functions and random numbers, newest first. */
  listOnChain(options: Checked<"onChain">): Promise<OnChainPage>;
  /** Finds transactions of this service, and requests, by the beginning of a hash or id: `0x` and lower-case digits, or `req_` and characters. */
  searchPrefix(
    prefix: string,
  ): Promise<{ readonly transactions: readonly SearchHit[]; readonly requests: readonly RequestSummary[] }>;
  /** Returns what is on chain of the requests on a network with these ids of the oracle network's. */
  findOnChain(network: string, requestIds: readonly Hex[]): Promise<readonly RequestSummary[]>;

  /**
   * Runs a source in the sandbox; the run is cancelled when `signal` aborts. A failing source is a normal result. Throws
   * `forbidden`, `invalid_parameter` (size) and `overloaded`.
   */
  simulate(
    dapp: Dapp,
    command: SimulateCommand,
    options?: { readonly signal?: AbortSignal },
  ): Promise<SimulateResult>;

  /** Lists the last 100 dry runs and refused calls of a dapp, newest first. */
  listDryRuns(dapp: Dapp, options?: Partial<Checked<"dryRuns">>): Promise<DryRunPage>;
  /** Reads one of them, with what a refused call asked for. Throws `not_found`. */
  getDryRun(dapp: Dapp, id: string): Promise<DryRunView>;

  /** Reads a dapp's usage, by day and network. Throws `invalid_parameter` for days that can't be reported. */
  readUsage(dapp: Dapp, query: Omit<Checked<"usage">, "format">): Promise<UsageReport>;
  /** Returns why a dapp's subscriptions on a network are not topped up again today, in a sentence; `undefined` while they are. */
  findSpentBudget(dapp: Dapp, network: string): Promise<string | undefined>;

  /**
   * Deletes the caller's own dapp: its keys are revoked at once, its contracts are unlinked soon after. Open requests run to
   * their end; results and usage are kept. Throws `not_found` for another dapp's id and for an unknown one alike.
   */
  deleteDapp(dapp: Dapp, dappId: string): Promise<DappDeletion>;

  /** Sends coin and LINK to an address. Throws `invalid_parameter` for a network without a faucet, and `chain_unavailable`. */
  useFaucet(command: { readonly network: string; readonly address: Hex }): Promise<FaucetResult>;

  /** The networks served. The same array until its content changes. */
  networks(): readonly NetworkView[];
  /** Finds a network that is served. */
  findNetwork(name: string): NetworkView | undefined;
  /** The networks served, each with its oracle's nodes if several operators run them. */
  networksWithNodes(): Promise<readonly NetworkView[]>;
  /** The live presets, by name. The same array until a preset is added, changed or removed. */
  presets(): readonly PresetView[];
  /** The problems that keep presets from being served. */
  presetProblems(): readonly PresetProblem[];
  readiness(): Promise<Readiness>;
  /** Requests of all dapps in each of the last 24 hours, oldest first. */
  activity(): Promise<readonly ActiveHour[]>;
}
