import type { CallOptions } from "./limits.ts";
import type { RequestEvent } from "./follow.ts";
import type { Call } from "./transport.ts";
import type {
  ConsumerParams,
  ConsumerResult,
  FunctionParams,
  FunctionResult,
  PresetParams,
  PresetResult,
  PresetValue,
  RandomParams,
  RandomResult,
} from "./types.ts";

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

/** What a request is for, on chain for all to see. A call throws a `LabelTakenError` if `once` can't be. */
export type LabelParams = Pick<FunctionParams, "label" | "once">;

export interface PresetOptions extends SubmitOptions, Omit<PresetParams, "preset"> {}

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
  addConsumer(params: ConsumerParams, options?: SubmitOptions): Promise<Given<ConsumerResult, Form>>;
  removeConsumer(
    params: Omit<ConsumerParams, "dappId">,
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
