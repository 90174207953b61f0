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
  info(): Promise<ServiceInfo>;
  dapps(): Promise<readonly DappView[]>;
  dapp(dappId: string): Promise<DappView>;
  createDapp(params: {
    readonly name: string;
    readonly facilities?: readonly Facility[];
  }): Promise<DappView & { readonly key: NewKeyView }>;
  renameDapp(dappId: string, name: string): Promise<DappView>;
  deleteDapp(dappId: string): Promise<DappDeletion>;
  /** Revoked ones included, oldest first. */
  keys(dappId: string): Promise<readonly KeyView[]>;
  addKey(
    dappId: string,
    options?: { readonly name?: string; readonly dailyLimit?: number },
  ): Promise<NewKeyView>;
  /** Gives a live key itself. */
  revealKey(dappId: string, keyId: string): Promise<NewKeyView>;
  revokeKey(dappId: string, keyId: string): Promise<KeyView>;
  configVars(dappId: string): Promise<readonly NetworkConfigView[]>;
  /** A network is absent while it can't be asked, or the subscriptions are not made yet. */
  balances(dappId: string): Promise<readonly SubscriptionBalances[]>;
  consumers(dappId: string): Promise<ConsumerList>;
  /** As `createClient` has them, for no dapp in particular. */
  presets(): Promise<readonly PresetView[]>;
  networks(): Promise<readonly NetworkView[]>;
  faucet(params: { readonly network: string; readonly address: string }): Promise<FaucetResult>;
  activity(): Promise<Activity>;
  presetProblems(): Promise<readonly PresetProblem[]>;
  fundedAccounts(): Promise<readonly FundedAccount[]>;
  /** Also where the service is not ready. */
  readiness(): Promise<Readiness>;
}

/** Creates a client of the operator's part of the API. */
export function createOperator({ token, ...options }: OperatorOptions): TycheOperator {
  const transport = createTransport({ ...fillOptions(options), apiKey: token });
  const send = async <Data>(method: Call["method"], path: string, body?: object): Promise<Data> =>
    (
      await transport.send({
        method,
        path,
        isOnce: method === "POST",
        ...(body === undefined ? {} : { body }),
      })
    ).data as Data;
  const list = async <Item>(path: string): Promise<readonly Item[]> =>
    (await send<{ readonly items: readonly Item[] }>("GET", path)).items;
  const of = (dappId: string, rest = ""): string => `/api/dapps/${encodeURIComponent(dappId)}${rest}`;
  const keyOf = (dappId: string, keyId: string): string => of(dappId, `/keys/${encodeURIComponent(keyId)}`);

  return {
    as: <Presets>(dappId: string) => createClient<Presets>({ ...options, apiKey: token, dappId }),
    info: () => send("GET", "/api/info"),
    dapps: () => list("/api/dapps"),
    dapp: (dappId) => send("GET", of(dappId)),
    createDapp: (params) => send("POST", "/api/dapps", params),
    renameDapp: (dappId, name) => send("PATCH", of(dappId), { name }),
    deleteDapp: (dappId) => send("DELETE", of(dappId)),
    keys: (dappId) => list(of(dappId, "/keys")),
    addKey: (dappId, options = {}) => send("POST", of(dappId, "/keys"), options),
    revealKey: (dappId, keyId) => send("GET", keyOf(dappId, keyId)),
    revokeKey: (dappId, keyId) => send("DELETE", keyOf(dappId, keyId)),
    configVars: (dappId) => list(of(dappId, "/configVars")),
    balances: (dappId) => list(of(dappId, "/balances")),
    consumers: (dappId) => send("GET", of(dappId, "/consumers")),
    presets: () => list("/api/presets"),
    networks: () => list("/api/networks"),
    faucet: (params) => send("POST", "/api/faucet", params),
    activity: () => send("GET", "/api/activity"),
    presetProblems: () => list("/api/presetProblems"),
    fundedAccounts: () => list("/api/faucet/accounts"),
    readiness: () => send("GET", "/api/readiness"),
  };
}
