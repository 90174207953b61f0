import type { ContractRequestList } from "../explorer/listViews.ts";
import { StillPendingError } from "./errors.ts";
import { follow, type RequestEvent } from "./follow.ts";
import { createLimit, within } from "./limits.ts";
import type { Presets as BuiltInPresets } from "./presets.ts";
import {
  createRequests,
  type CallOptions,
  type DryRunParams,
  type ListParams,
  type Requests,
  type Send,
  type SimulateParams,
  type SubmitOptions,
} from "./requests.ts";
import { createTransport, fillOptions, type Call, type ConnectionOptions } from "./transport.ts";
import type {
  DappDeletion,
  DryRunPage,
  FaucetResult,
  NetworkView,
  Outcome,
  PresetView,
  RequestPage,
  RequestView,
  SimulateResult,
  UsageReport,
  Verification,
} from "./types.ts";

export interface ClientOptions extends ConnectionOptions {
  /** API key of a dapp; or the operator token, with `dappId`. */
  readonly apiKey: string;
  /** The dapp to call for, where `apiKey` is no key of one. */
  readonly dappId?: string;
}

/**
 * The API, typed. Calls that make a request resolve when its result is on chain, however long that takes and however often the
 * connection breaks; those of `submit` as soon as it is stored.
 */
export interface TycheClient<Presets = BuiltInPresets> extends Requests<Presets, "result"> {
  readonly submit: Requests<Presets, "submitted">;
  /** Runs a source without a chain. */
  simulate(params: SimulateParams, options?: CallOptions): Promise<SimulateResult>;
  /** Gives 10 coins and 100 LINK to an address on an embedded chain. */
  faucet(
    params: { readonly network: string; readonly address: string },
    options?: CallOptions,
  ): Promise<FaucetResult>;
  /** Deletes the dapp of the key, for good: the key of this client stops at once. */
  deleteDapp(dappId: string, options?: CallOptions): Promise<DappDeletion>;
  /** Resolves with the result of a request made before; rejects with the failure that ended it. */
  wait(id: string, options?: CallOptions): Promise<Outcome>;
  /** Gives the states of a request from the first, then its result. */
  stream(id: string, options?: CallOptions): AsyncGenerator<RequestEvent<Outcome>>;
  request(id: string, options?: CallOptions): Promise<RequestView>;
  requests(params?: ListParams, options?: CallOptions): Promise<RequestPage>;
  /** Dry runs and refused calls, newest first; the last 100 are kept. */
  dryRuns(params?: DryRunParams, options?: CallOptions): Promise<DryRunPage>;
  /**
   * What the dapp's own contracts requested on chain, newest first. A page may be empty and have an older one: only so many blocks are
   * searched for it.
   */
  contractRequests(
    params: { readonly network: string; readonly before?: string | undefined },
    options?: CallOptions,
  ): Promise<ContractRequestList>;
  /** Requests, words, gas and LINK by day and network. Default: the last 30 days. */
  usage(
    params?: { readonly from?: string; readonly to?: string; readonly network?: string },
    options?: CallOptions,
  ): Promise<UsageReport>;
  /** The same as CSV, with a head line. */
  usageCsv(
    params?: { readonly from?: string; readonly to?: string; readonly network?: string },
    options?: CallOptions,
  ): Promise<string>;
  presets(options?: CallOptions): Promise<readonly PresetView[]>;
  networks(options?: CallOptions): Promise<readonly NetworkView[]>;
  /** Has the service check a result from chain data. Whoever does not want to take its word imports `tyche/verify`. */
  verify(
    params: { readonly network: string; readonly tx: string; readonly requestId?: string },
    options?: CallOptions,
  ): Promise<Verification>;
}

/** Seconds after which the service is to answer a call that still waits: below the limit of common proxies. */
const EXCHANGE_SECONDS = 25;

/**
 * Creates a client. It runs wherever there is `fetch`: Node 20 or later, Deno, Bun, browsers.
 *
 * @typeParam Presets parameters by preset, as `tyche client generate` writes it. Default: the four that come with Tyche.
 */
export function createClient<Presets = BuiltInPresets>(options: ClientOptions): TycheClient<Presets> {
  const transport = createTransport({
    ...fillOptions(options),
    apiKey: options.apiKey,
    dappId: options.dappId,
  });

  const get = <Data>(path: string, query: object, options: CallOptions = {}): Promise<Data> =>
    within(options, async (signal) => {
      const { data } = await transport.send({ method: "GET", path, query: { ...query }, signal });
      return data as Data;
    });

  const list = async <Item>(path: string, options?: CallOptions): Promise<readonly Item[]> =>
    (await get<{ readonly items: readonly Item[] }>(path, {}, options)).items;

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

  const submit: Send<"submitted"> = (call, options) =>
    within(options, async (signal) => {
      const prepared = prepare(call, { ...options, signal, prefer: "respond-async" });
      const { data, id } = await transport.send(prepared);
      const requestId = id ?? (data as { readonly id: string }).id;
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
    simulate: (params, options = {}) =>
      within(options, async (signal) => {
        const path = "/api/oracleFunctions/simulate";
        const { data } = await transport.send({ method: "POST", path, body: params, signal });
        return data as SimulateResult;
      }),
    faucet: (params, options = {}) =>
      within(options, async (signal) => {
        const call = { method: "POST", path: "/api/faucet", body: params, signal, isOnce: true } as const;
        const { data } = await transport.send(call);
        return data as FaucetResult;
      }),
    deleteDapp: (dappId, options = {}) =>
      within(options, async (signal) => {
        const path = `/api/dapps/${encodeURIComponent(dappId)}`;
        return (await transport.send({ method: "DELETE", path, signal })).data as DappDeletion;
      }),
    wait,
    stream,
    request: (id, options) => get(`/api/requests/${encodeURIComponent(id)}`, {}, options),
    requests: (params = {}, options) => get("/api/requests", params, options),
    dryRuns: (params = {}, options) => get("/api/dryRuns", params, options),
    contractRequests: (params, options) => get("/api/contractRequests", params, options),
    usage: (params = {}, options) => get("/api/usage", params, options),
    usageCsv: (params = {}, options = {}) =>
      within(options, (signal) => {
        const query = { ...params, format: "csv" };
        return transport.sendForText({ method: "GET", path: "/api/usage", query, signal });
      }),
    presets: (options) => list("/api/presets", options),
    networks: (options) => list("/api/networks", options),
    verify: (params, options) => get("/api/verify", params, options),
  };
}

/** Adds what makes a call safe to send again, and how long the service is to wait with its answer. */
function prepare(call: Call, options: SubmitOptions & { readonly prefer: string }): Call {
  const headers = {
    "idempotency-key": options.idempotencyKey ?? createIdempotencyKey(),
    prefer: options.prefer,
  };
  return { ...call, headers, signal: options.signal };
}

/** 128 random bits. `crypto.randomUUID` is missing where a page was not loaded over TLS. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
