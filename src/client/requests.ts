import type { RequestEvent } from "./follow.ts";
import type { Call } from "./transport.ts";
import type {
  ConsumerResult,
  DryRunView,
  FunctionResult,
  Hex,
  PresetResult,
  PresetValue,
  RandomResult,
  RequestKind,
  RequestState,
  ReturnType,
} from "./types.ts";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call; a request that the service has already accepted continues there. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Aborts the call with a {@link TimeoutError}. Default: no timeout; the service itself ends a request after some
   * minutes.
   */
  readonly timeoutMs?: number | undefined;
}

/** Options of calls that create something. */
export interface SubmitOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters. Calls with the same key are one call. Default: a random key per call. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Whether a call under `submit` resolves only after the dry run of its source, and rejects with a `FunctionFailedError`, with console and
   * position, if the source fails there. Default false: the request is stored first, and fails. Other calls always do so.
   */
  readonly dryRunsFirst?: boolean | undefined;
}

/** What a request is for, on chain for all to see. */
export interface LabelParams {
  /** 1 to 100 characters; upper and lower case are the same. */
  readonly label?: string | undefined;
  /** Whether this must be the dapp's only request with the label on the network. Throws a `LabelTakenError` if it can't be. */
  readonly once?: boolean | undefined;
}

/** What a request waits for besides its block, see {@link PresetOptions.beacon}. */
export type Beacon = "drand" | "local" | "none";

export interface PresetOptions extends SubmitOptions, LabelParams {
  /** Default: the only network that the service has, or `polygon_mumbai`. */
  readonly network?: string | undefined;
  /** Blocks before the word is drawn. Default: the network's minimum. */
  readonly confirmations?: number | undefined;
  /** `drand`: the word also follows from a future round of drand, which the answer names; `local`: of the service's own beacon, which proves nothing. Default: what the dapp says, or the network. */
  readonly beacon?: Beacon | undefined;
}

export interface RandomParams extends LabelParams {
  /** Default: the only network that the service has, or `fantom_testnet`. */
  readonly network?: string | undefined;
  /** Default 1. */
  readonly numWords?: number | undefined;
  /** Blocks before the words are drawn. Default: the network's minimum. */
  readonly confirmations?: number | undefined;
  readonly keyHash?: Hex | undefined;
  /** Replaces `keyHash`: 1 to 4 distinct key hashes. The words of several keys are joined. */
  readonly keyHashes?: readonly Hex[] | undefined;
}

export interface FunctionParams extends LabelParams {
  /** Default: the only network that the service has. */
  readonly network?: string | undefined;
  /** JavaScript: the body of an async function. */
  readonly source: string;
  readonly args?: readonly string[] | undefined;
  /** Names of the dapp's secrets that the source may read, as `secrets.NAME`. */
  readonly secrets?: readonly string[] | undefined;
  /** Unless it is `none`, the source gets a word that follows from a future round as the last of its `bytesArgs`. Default `none`. */
  readonly beacon?: Beacon | undefined;
  /** Default `string`. */
  readonly returnType?: ReturnType | undefined;
}

export interface SimulateParams extends Omit<FunctionParams, "network" | keyof LabelParams> {
  /** Network whose limits apply. Default: limits that hold on all. */
  readonly network?: string | undefined;
  /** Values for this run alone, by name, in place of the dapp's secrets. They reach the service in clear, which keeps none. */
  readonly secretValues?: Readonly<Record<string, string>> | undefined;
}

export interface ListParams {
  /** 1 to 100. Default 20. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly state?: RequestState | undefined;
  readonly kind?: RequestKind | undefined;
  readonly network?: string | undefined;
}

export interface DryRunParams {
  /** 1 to 100. Default 100. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly kind?: DryRunView["kind"] | undefined;
  /** Only entries that named this network. */
  readonly network?: string | undefined;
}

/** A request that the service has accepted. */
export interface Submitted<Result> {
  readonly id: string;
  /** Resolves with the result; rejects with the failure that ended the request. */
  readonly wait: (options?: CallOptions) => Promise<Result>;
  /** Yields each state as it arrives, then the result. */
  readonly stream: (options?: CallOptions) => AsyncGenerator<RequestEvent<Result>>;
}

/** The parts of a preset's type, as `tyche client generate` writes it. */
type ParamsOf<Preset> = Preset extends { readonly params: infer Params } ? Params : never;
type ValueOf<Preset> = Preset extends { readonly value: infer Value } ? Value : PresetValue;

/** Arguments of a preset call; `params` may be omitted if every parameter has a default. */
// eslint-disable-next-line typescript/no-empty-object-type -- an object without members is what is meant
type PresetArguments<Params> = {} extends Params
  ? [params?: Params, options?: PresetOptions]
  : [params: Params, options?: PresetOptions];

/** What a call returns: the result itself, or the request that will have it. */
export type Given<Result, Form extends "result" | "submitted"> = Form extends "result"
  ? Result
  : Submitted<Result>;

/** The calls that create a request. */
export interface Requests<Presets, Form extends "result" | "submitted"> {
  preset<Name extends keyof Presets & string>(
    name: Name,
    ...rest: PresetArguments<ParamsOf<Presets[Name]>>
  ): Promise<Given<PresetResult<ValueOf<Presets[Name]>>, Form>>;
  random(params?: RandomParams, options?: SubmitOptions): Promise<Given<RandomResult, Form>>;
  /** Throws a `FunctionFailedError` if the source fails in the dry run; a failure on chain is a result. */
  runFunction(params: FunctionParams, options?: SubmitOptions): Promise<Given<FunctionResult, Form>>;
  /** Links a contract to the dapp's subscriptions. */
  addConsumer(
    params: {
      /** Default: the key's dapp. */
      readonly dappId?: string;
      /** Default: the only network that the service has. */
      readonly network?: string | undefined;
      readonly consumer: string;
    },
    options?: SubmitOptions,
  ): Promise<Given<ConsumerResult, Form>>;
  removeConsumer(
    params: { readonly network?: string | undefined; readonly consumer: string },
    options?: SubmitOptions,
  ): Promise<Given<ConsumerResult, Form>>;
}

/** Sends a call that creates a request. */
export type Send<Form extends "result" | "submitted"> = <Result>(
  call: Call,
  options: SubmitOptions,
) => Promise<Given<Result, Form>>;

/** Creates the calls that create a request; `send` decides what they return. */
export function createRequests<Presets, Form extends "result" | "submitted">(
  send: Send<Form>,
): Requests<Presets, Form> {
  const post = <Result>(path: string, parts: Pick<Call, "query" | "body">, options: SubmitOptions = {}) =>
    send<Result>({ method: "POST", path, ...parts }, options);
  return {
    preset(preset, ...[params = {}, { network, confirmations, beacon, label, once, ...options } = {}]) {
      const query = { network, preset, confirmations, beacon, label, once: once?.toString() };
      return post("/api/vrfv2/presets", { query, body: params }, options);
    },
    random: (params = {}, options) =>
      post<RandomResult>("/api/vrfv2/requestRandomNumber", { body: params }, options),
    runFunction: (params, options) =>
      post<FunctionResult>("/api/oracleFunctions/runFunction", { body: params }, options),
    addConsumer: (params, options) =>
      post<ConsumerResult>("/api/vrfv2/addConsumer", { query: { ...params } }, options),
    removeConsumer({ network, consumer }, options = {}) {
      const path = `/api/vrfv2/consumers/${encodeURIComponent(consumer)}`;
      return send<ConsumerResult>({ method: "DELETE", path, query: { network } }, options);
    },
  };
}
