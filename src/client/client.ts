import { StillPendingError } from "./errorClasses.ts";
import { follow, type RequestEvent } from "./follow.ts";
import { createLimit, within, type CallOptions } from "./limits.ts";
import type { Presets as BuiltInPresets } from "./presets.ts";
import { createRequests, type Requests, type Send, type SubmitOptions } from "./requests.ts";
import { createCalls, createTransport, fillOptions, type Call, type ConnectionOptions } from "./transport.ts";
import { createLogTriggerCalls, type LogTriggerCalls } from "./logTriggers.ts";
import { createScheduleCalls, type ScheduleCalls } from "./schedules.ts";
import { createSecretCalls, type SecretCalls } from "./secrets.ts";
import { createWebhookCalls, type WebhookCalls } from "./webhooks.ts";
import type {
  ConsumerList,
  ConsumersParams,
  ContractRequestList,
  ContractRequestsParams,
  DappDeletion,
  DryRunPage,
  DryRunsParams,
  DryRunView,
  FaucetParams,
  FaucetResult,
  ListParams,
  NetworkView,
  Outcome,
  PresetView,
  RequestPage,
  RequestView,
  SimulateParams,
  SimulateResult,
  UsageParams,
  UsageReport,
  Verification,
  VerifyParams,
} from "./types.ts";

export interface ClientOptions extends ConnectionOptions {
  /** A dapp's API key, or the operator token together with `dappId`. */
  readonly apiKey: string;
  /** The dapp to act for; needed only when `apiKey` is not a dapp's own key. */
  readonly dappId?: string;
}

/**
 * The typed API. Calls that create a request resolve once its result is on chain, however long that takes and however often the
 * connection drops; the same calls under `submit` resolve as soon as the service has stored the request.
 */
export interface TycheClient<Presets = BuiltInPresets> extends Requests<Presets, "result"> {
  readonly submit: Requests<Presets, "submitted">;
  /** Runs a source off chain. */
  simulate(params: SimulateParams, options?: CallOptions): Promise<SimulateResult>;
  /** Sends 10 coins and 100 LINK to an address on an embedded chain. */
  faucet(params: FaucetParams, options?: CallOptions): Promise<FaucetResult>;
  /** Deletes the dapp that the API key belongs to, permanently: this client's key stops working at once. */
  deleteDapp(dappId: string, options?: CallOptions): Promise<DappDeletion>;
  /** Resolves with the result of an earlier request; rejects with the failure that ended it. */
  wait(id: string, options?: CallOptions): Promise<Outcome>;
  /** Yields a request's states from the first one on, then its result. */
  stream(id: string, options?: CallOptions): AsyncGenerator<RequestEvent<Outcome>>;
  request(id: string, options?: CallOptions): Promise<RequestView>;
  requests(params?: ListParams, options?: CallOptions): Promise<RequestPage>;
  /** Lists dry runs and refused calls, newest first; the service keeps the last 100. */
  dryRuns(params?: DryRunsParams, options?: CallOptions): Promise<DryRunPage>;
  /** Reads one of them, with what a refused call asked for. */
  dryRun(id: string, options?: CallOptions): Promise<DryRunView>;
  /**
   * Lists requests that the dapp's own contracts made on chain, newest first. Each page searches a limited number of blocks, so a page
   * may be empty and still have an older one.
   */
  contractRequests(params?: ContractRequestsParams, options?: CallOptions): Promise<ContractRequestList>;
  /** Lists the contracts that are linked to the dapp's subscriptions, as the chains have them. */
  consumers(params?: ConsumersParams, options?: CallOptions): Promise<ConsumerList>;
  /** Reports requests, words, gas and LINK by day and network. Default: the last 30 days. */
  usage(params?: Omit<UsageParams, "format">, options?: CallOptions): Promise<UsageReport>;
  /** Returns the same report as CSV with a header line. */
  usageCsv(params?: Omit<UsageParams, "format">, options?: CallOptions): Promise<string>;
  /** The dapp's webhooks: its server is told the ends of requests. Messages are verified with `verifyWebhook`. */
  readonly webhooks: WebhookCalls;
  /** The dapp's schedules: requests that the service makes at certain times. */
  readonly schedules: ScheduleCalls;
  /** The dapp's secrets, which its functions read as `secrets.NAME`. */
  readonly secrets: SecretCalls;
  /** The dapp's log triggers: requests that the service makes when contracts emit events. */
  readonly triggers: LogTriggerCalls;
  presets(options?: CallOptions): Promise<readonly PresetView[]>;
  networks(options?: CallOptions): Promise<readonly NetworkView[]>;
  /** Has the service check a result against chain data. To check without trusting the service, use `tyche/verify`. */
  verify(params: VerifyParams, options?: CallOptions): Promise<Verification>;
}

/** Seconds after which the service should answer a call that is still waiting; below the timeout of common proxies. */
const EXCHANGE_SECONDS = 25;

/**
 * Creates a client. Runs wherever `fetch` exists: Node 20 or later, Deno, Bun, browsers.
 *
 * @typeParam Presets parameters and value by preset, as `tyche client generate` writes them. Default: the four presets that ship with Tyche.
 */
export function createClient<Presets = BuiltInPresets>(options: ClientOptions): TycheClient<Presets> {
  const transport = createTransport({
    ...fillOptions(options),
    apiKey: options.apiKey,
    dappId: options.dappId,
  });

  const { send, get, getItems } = createCalls(transport);

  async function* stream<Result>(
    id: string,
    options: CallOptions = {},
  ): AsyncGenerator<RequestEvent<Result>> {
    const { signal, explain } = createLimit(options);
    try {
      yield* follow<Result>(transport, id, signal);
    } catch (error) {
      throw explain(error, id);
    }
  }

  const waitFor = async <Result>(id: string, signal: AbortSignal | undefined): Promise<Result> => {
    for await (const event of follow<Result>(transport, id, signal))
      if (event.type === "result") return event.result;
    throw new Error("a stream ends with a result or throws");
  };
  const wait = <Result>(id: string, options: CallOptions = {}): Promise<Result> =>
    within(options, (signal, onId) => {
      onId(id);
      return waitFor<Result>(id, signal);
    });

  const sendForId = async (call: Call, options: SubmitOptions): Promise<string> => {
    // The stream of a request begins once its source has passed the dry run.
    if (options.dryRunsFirst === true) {
      const { headers, ...rest } = prepare(call, options);
      return await transport.sendForId({ ...rest, headers: { ...headers, accept: "text/event-stream" } });
    }
    const { data, id } = await transport.send(prepare(call, { ...options, prefer: "respond-async" }));
    return id ?? (data as { readonly id: string }).id;
  };

  const submit: Send<"submitted"> = (call, options) =>
    within(options, async (signal) => {
      const requestId = await sendForId(call, { ...options, signal });
      return {
        id: requestId,
        wait: (options) => wait(requestId, options),
        stream: (options) => stream(requestId, options),
      };
    });

  const run: Send<"result"> = (call, options) =>
    within(options, async (signal, onId) => {
      try {
        const prepared = prepare(call, { ...options, signal, prefer: `wait=${EXCHANGE_SECONDS}` });
        return (await transport.send(prepared)).data as never;
      } catch (error) {
        if (!(error instanceof StillPendingError) || error.id === undefined) throw error;
        onId(error.id);
        return await waitFor(error.id, signal);
      }
    });

  return {
    ...createRequests<Presets, "result">(run),
    submit: createRequests<Presets, "submitted">(submit),
    simulate: (params, options) =>
      send({ method: "POST", path: "/api/oracleFunctions/simulate", body: params }, options),
    faucet: (params, options) =>
      send({ method: "POST", path: "/api/faucet", body: params, isOnce: true }, options),
    deleteDapp: (dappId, options) =>
      send({ method: "DELETE", path: `/api/dapps/${encodeURIComponent(dappId)}` }, options),
    wait,
    stream,
    request: (id, options) => get(`/api/requests/${encodeURIComponent(id)}`, options),
    requests: (params, options) => get("/api/requests", options, params),
    dryRuns: (params, options) => get("/api/dryRuns", options, params),
    dryRun: (id, options) => get(`/api/dryRuns/${encodeURIComponent(id)}`, options),
    contractRequests: (params, options) => get("/api/contractRequests", options, params),
    consumers: (params, options) => get("/api/vrfv2/consumers", options, params),
    usage: (params, options) => get("/api/usage", options, params),
    usageCsv: (params = {}, options = {}) =>
      within(options, (signal) => {
        const query = { ...params, format: "csv" };
        return transport.sendForText({ method: "GET", path: "/api/usage", query, signal });
      }),
    webhooks: createWebhookCalls(transport),
    schedules: createScheduleCalls(transport),
    secrets: createSecretCalls(transport),
    triggers: createLogTriggerCalls(transport),
    presets: (options) => getItems("/api/presets", options),
    networks: (options) => getItems("/api/networks", options),
    verify: (params, options) => get("/api/verify", options, params),
  };
}

/** Adds the headers that make a call safe to resend and, with `prefer`, tell the service how long to wait before it answers. */
function prepare(call: Call, options: SubmitOptions & { readonly prefer?: string }): Call {
  const { prefer } = options;
  const headers = {
    "idempotency-key": options.idempotencyKey ?? createIdempotencyKey(),
    ...(prefer === undefined ? {} : { prefer }),
  };
  return { ...call, headers, signal: options.signal };
}

/** Returns 128 random bits in hex. `crypto.randomUUID` is missing on pages that were not loaded over TLS. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
