import { createClient, type TycheClient } from "./client.ts";
import type {
  Activity,
  ConsumerList,
  DappView,
  Facility,
  FundedAccount,
  KeyView,
  NetworkConfigView,
  NewKeyView,
  PresetProblem,
  Readiness,
  ServiceInfo,
  SubscriptionBalances,
} from "./operatorTypes.ts";
import { within } from "./limits.ts";
import type { CallOptions } from "./requests.ts";
import type { Presets as BuiltInPresets } from "./presets.ts";
import { createTransport, fillOptions, type Call, type ConnectionOptions } from "./transport.ts";
import type { DappDeletion, FaucetResult, NetworkView, PresetView } from "./types.ts";

export interface OperatorOptions extends ConnectionOptions {
  /** The operator token of the service, or the token of a session in the application. */
  readonly token: string;
}

/** What the operator of a service may do: everything of the application, for programs. */
export interface TycheOperator {
  /** A client that calls for one dapp, without a key of it. */
  as<Presets = BuiltInPresets>(dappId: string): TycheClient<Presets>;
  info(options?: CallOptions): Promise<ServiceInfo>;
  dapps(options?: CallOptions): Promise<readonly DappView[]>;
  dapp(dappId: string, options?: CallOptions): Promise<DappView>;
  createDapp(
    params: { readonly name: string; readonly facilities?: readonly Facility[] },
    options?: CallOptions,
  ): Promise<DappView & { readonly key: NewKeyView }>;
  renameDapp(dappId: string, name: string, options?: CallOptions): Promise<DappView>;
  deleteDapp(dappId: string, options?: CallOptions): Promise<DappDeletion>;
  /** Revoked ones included, oldest first. */
  keys(dappId: string, options?: CallOptions): Promise<readonly KeyView[]>;
  addKey(
    dappId: string,
    params?: { readonly name?: string; readonly dailyLimit?: number },
    options?: CallOptions,
  ): Promise<NewKeyView>;
  /** Gives a live key itself. */
  revealKey(dappId: string, keyId: string, options?: CallOptions): Promise<NewKeyView>;
  revokeKey(dappId: string, keyId: string, options?: CallOptions): Promise<KeyView>;
  configVars(dappId: string, options?: CallOptions): Promise<readonly NetworkConfigView[]>;
  /** A network is absent while it can't be asked, or the subscriptions are not made yet. */
  balances(dappId: string, options?: CallOptions): Promise<readonly SubscriptionBalances[]>;
  consumers(dappId: string, options?: CallOptions): Promise<ConsumerList>;
  /** As `createClient` has them, for no dapp in particular. */
  presets(options?: CallOptions): Promise<readonly PresetView[]>;
  networks(options?: CallOptions): Promise<readonly NetworkView[]>;
  faucet(
    params: { readonly network: string; readonly address: string },
    options?: CallOptions,
  ): Promise<FaucetResult>;
  activity(options?: CallOptions): Promise<Activity>;
  presetProblems(options?: CallOptions): Promise<readonly PresetProblem[]>;
  fundedAccounts(options?: CallOptions): Promise<readonly FundedAccount[]>;
  /** Also where the service is not ready. */
  readiness(options?: CallOptions): Promise<Readiness>;
}

/** Creates a client of the operator's part of the API. */
export function createOperator({ token, ...options }: OperatorOptions): TycheOperator {
  const transport = createTransport({ ...fillOptions(options), apiKey: token });
  const send = <Data>(
    call: Pick<Call, "method" | "path" | "body">,
    options: CallOptions = {},
  ): Promise<Data> =>
    within(
      options,
      async (signal) =>
        (await transport.send({ isOnce: call.method === "POST", ...call, signal })).data as Data,
    );
  const get = <Data>(path: string, options?: CallOptions): Promise<Data> =>
    send({ method: "GET", path }, options);
  const list = async <Item>(path: string, options?: CallOptions): Promise<readonly Item[]> =>
    (await get<{ readonly items: readonly Item[] }>(path, options)).items;
  const of = (dappId: string, rest = ""): string => `/api/dapps/${encodeURIComponent(dappId)}${rest}`;
  const keyOf = (dappId: string, keyId: string): string => of(dappId, `/keys/${encodeURIComponent(keyId)}`);

  return {
    as: <Presets>(dappId: string) => createClient<Presets>({ ...options, apiKey: token, dappId }),
    info: (options) => get("/api/info", options),
    dapps: (options) => list("/api/dapps", options),
    dapp: (dappId, options) => get(of(dappId), options),
    createDapp: (body, options) => send({ method: "POST", path: "/api/dapps", body }, options),
    renameDapp: (dappId, name, options) =>
      send({ method: "PATCH", path: of(dappId), body: { name } }, options),
    deleteDapp: (dappId, options) => send({ method: "DELETE", path: of(dappId) }, options),
    keys: (dappId, options) => list(of(dappId, "/keys"), options),
    addKey: (dappId, body = {}, options) =>
      send({ method: "POST", path: of(dappId, "/keys"), body }, options),
    revealKey: (dappId, keyId, options) => get(keyOf(dappId, keyId), options),
    revokeKey: (dappId, keyId, options) => send({ method: "DELETE", path: keyOf(dappId, keyId) }, options),
    configVars: (dappId, options) => list(of(dappId, "/configVars"), options),
    balances: (dappId, options) => list(of(dappId, "/balances"), options),
    consumers: (dappId, options) => get(of(dappId, "/consumers"), options),
    presets: (options) => list("/api/presets", options),
    networks: (options) => list("/api/networks", options),
    faucet: (body, options) => send({ method: "POST", path: "/api/faucet", body }, options),
    activity: (options) => get("/api/activity", options),
    presetProblems: (options) => list("/api/presetProblems", options),
    fundedAccounts: (options) => list("/api/faucet/accounts", options),
    readiness: (options) => get("/api/readiness", options),
  };
}
