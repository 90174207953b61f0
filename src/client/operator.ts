import { createClient, type TycheClient, createIdempotencyKey } from "./client.ts";
import type {
  Activity,
  AddKeyParams,
  AuditParams,
  ChangeKeyParams,
  CreateDappParams,
  FaucetParams,
  RotateParams,
  UpdateDappParams,
  AuditPage,
  DappDeletion,
  DappView,
  FaucetResult,
  FundedAccount,
  InvitationView,
  KeyView,
  Me,
  MemberView,
  NetworkConfigView,
  NetworkView,
  NewDapp,
  NewInvitation,
  NewKeyView,
  PasskeyView,
  PersonView,
  PresetProblem,
  PresetView,
  Readiness,
  RoleName,
  ServiceInfo,
  SessionView,
  SubscriptionBalances,
} from "./types.ts";
import type { CallOptions } from "./limits.ts";
import type { SubmitOptions } from "./requests.ts";
import type { Presets as BuiltInPresets } from "./presets.ts";
import { createCalls, createTransport, fillOptions, type ConnectionOptions } from "./transport.ts";

export interface OperatorOptions extends ConnectionOptions {
  /** The service's operator token, or the token of a session in the application. */
  readonly token: string;
}

/** Everything a service's operator can do in the application, for programs. */
export interface TycheOperator {
  /** Returns a client that acts for one dapp without one of its keys. */
  as<Presets = BuiltInPresets>(dappId: string): TycheClient<Presets>;
  info(options?: CallOptions): Promise<ServiceInfo>;
  dapps(options?: CallOptions): Promise<readonly DappView[]>;
  dapp(dappId: string, options?: CallOptions): Promise<DappView>;
  createDapp(params: CreateDappParams, options?: SubmitOptions): Promise<NewDapp>;
  /** Changes what is given; `beacon: null`: presets wait for what the network says. */
  changeDapp(dappId: string, change: UpdateDappParams, options?: CallOptions): Promise<DappView>;
  deleteDapp(dappId: string, options?: CallOptions): Promise<DappDeletion>;
  /** Lists keys, oldest first, including revoked ones. */
  keys(dappId: string, options?: CallOptions): Promise<readonly KeyView[]>;
  addKey(dappId: string, params?: AddKeyParams, options?: SubmitOptions): Promise<NewKeyView>;
  /** Changes what is given; `null` ends a limit or an expiry. */
  changeKey(dappId: string, keyId: string, change: ChangeKeyParams, options?: CallOptions): Promise<KeyView>;
  /**
   * Gives a key a new value; the present one stays valid for `overlapHours` (default 24; 0: not at all). Not repeated if its answer is lost:
   * {@link revealKey} has the value then.
   */
  rotateKey(dappId: string, keyId: string, params?: RotateParams, options?: CallOptions): Promise<NewKeyView>;
  /** Returns a key that has not been revoked, in plain text. */
  revealKey(dappId: string, keyId: string, options?: CallOptions): Promise<NewKeyView>;
  revokeKey(dappId: string, keyId: string, options?: CallOptions): Promise<KeyView>;
  configVars(dappId: string, options?: CallOptions): Promise<readonly NetworkConfigView[]>;
  /** Omits a network while it can't be queried or has no subscriptions yet. */
  balances(dappId: string, options?: CallOptions): Promise<readonly SubscriptionBalances[]>;
  /** Returns who the token is of. */
  me(options?: CallOptions): Promise<Me>;
  members(dappId: string, options?: CallOptions): Promise<readonly MemberView[]>;
  changeMember(dappId: string, personId: string, role: RoleName, options?: CallOptions): Promise<MemberView>;
  removeMember(dappId: string, personId: string, options?: CallOptions): Promise<MemberView>;
  /** Lists invitations that nobody has accepted yet. */
  invitations(dappId: string, options?: CallOptions): Promise<readonly InvitationView[]>;
  /** The answer has the link, which is not shown again. Not repeated if its answer is lost. */
  invite(
    dappId: string,
    role: RoleName,
    options?: CallOptions & {
      /** Who it is for, for whoever lists invitations or reads the audit log. Default: empty. */
      readonly name?: string;
    },
  ): Promise<NewInvitation>;
  revokeInvitation(dappId: string, invitationId: string, options?: CallOptions): Promise<InvitationView>;
  people(options?: CallOptions): Promise<readonly PersonView[]>;
  /** Gives a person all rights, or takes them back. */
  setOperator(personId: string, isOperator: boolean, options?: CallOptions): Promise<PersonView>;
  removePerson(personId: string, options?: CallOptions): Promise<PersonView>;
  sessions(options?: CallOptions): Promise<readonly SessionView[]>;
  endSession(sessionId: string, options?: CallOptions): Promise<SessionView>;
  removePasskey(passkeyId: string, options?: CallOptions): Promise<PasskeyView>;
  /** Lists changes, newest first: of one dapp, or without `dappId` of the whole service. */
  audit(
    page?: Omit<AuditParams, "action"> & {
      readonly dappId?: string | undefined;
      readonly action?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<AuditPage>;
  /** Same as in `createClient`, but not tied to a dapp. */
  presets(options?: CallOptions): Promise<readonly PresetView[]>;
  networks(options?: CallOptions): Promise<readonly NetworkView[]>;
  faucet(params: FaucetParams, options?: CallOptions): Promise<FaucetResult>;
  activity(options?: CallOptions): Promise<Activity>;
  presetProblems(options?: CallOptions): Promise<readonly PresetProblem[]>;
  fundedAccounts(options?: CallOptions): Promise<readonly FundedAccount[]>;
  /** Returns the readiness even if the service is not ready. */
  readiness(options?: CallOptions): Promise<Readiness>;
}

/** Creates a client for the operator's part of the API. */
export function createOperator({ token, ...options }: OperatorOptions): TycheOperator {
  const transport = createTransport({ ...fillOptions(options), apiKey: token });
  const { send, get, getItems } = createCalls(transport);
  const create = <Data>(path: string, body: object, options: SubmitOptions = {}): Promise<Data> => {
    const headers = { "idempotency-key": options.idempotencyKey ?? createIdempotencyKey() };
    return send({ method: "POST", path, body, headers }, options);
  };
  const of = (dappId: string, rest = ""): string => `/api/dapps/${encodeURIComponent(dappId)}${rest}`;
  const memberOf = (dappId: string, personId: string): string =>
    of(dappId, `/members/${encodeURIComponent(personId)}`);
  const personOf = (personId: string): string => `/api/people/${encodeURIComponent(personId)}`;
  const keyOf = (dappId: string, keyId: string): string => of(dappId, `/keys/${encodeURIComponent(keyId)}`);

  return {
    as: <Presets>(dappId: string) => createClient<Presets>({ ...options, apiKey: token, dappId }),
    info: (options) => get("/api/info", options),
    dapps: (options) => getItems("/api/dapps", options),
    dapp: (dappId, options) => get(of(dappId), options),
    createDapp: (body, options) => create("/api/dapps", body, options),
    changeDapp: (dappId, body, options) => send({ method: "PATCH", path: of(dappId), body }, options),
    deleteDapp: (dappId, options) => send({ method: "DELETE", path: of(dappId) }, options),
    keys: (dappId, options) => getItems(of(dappId, "/keys"), options),
    addKey: (dappId, body = {}, options) => create(of(dappId, "/keys"), body, options),
    changeKey: (dappId, keyId, body, options) =>
      send({ method: "PATCH", path: keyOf(dappId, keyId), body }, options),
    rotateKey: (dappId, keyId, body = {}, options) =>
      send({ method: "POST", path: `${keyOf(dappId, keyId)}/rotate`, body, isOnce: true }, options),
    revealKey: (dappId, keyId, options) => get(keyOf(dappId, keyId), options),
    revokeKey: (dappId, keyId, options) => send({ method: "DELETE", path: keyOf(dappId, keyId) }, options),
    configVars: (dappId, options) => getItems(of(dappId, "/configVars"), options),
    balances: (dappId, options) => getItems(of(dappId, "/balances"), options),
    me: (options) => get("/api/me", options),
    members: (dappId, options) => getItems(of(dappId, "/members"), options),
    changeMember: (dappId, personId, role, options) =>
      send({ method: "PATCH", path: memberOf(dappId, personId), body: { role } }, options),
    removeMember: (dappId, personId, options) =>
      send({ method: "DELETE", path: memberOf(dappId, personId) }, options),
    invitations: (dappId, options) => getItems(of(dappId, "/invitations"), options),
    invite: (dappId, role, { name, ...options } = {}) =>
      send({ method: "POST", path: of(dappId, "/invitations"), body: { role, name }, isOnce: true }, options),
    revokeInvitation: (dappId, invitationId, options) =>
      send(
        { method: "DELETE", path: of(dappId, `/invitations/${encodeURIComponent(invitationId)}`) },
        options,
      ),
    people: (options) => getItems("/api/people", options),
    setOperator: (personId, isOperator, options) =>
      send({ method: "PATCH", path: personOf(personId), body: { isOperator } }, options),
    removePerson: (personId, options) => send({ method: "DELETE", path: personOf(personId) }, options),
    sessions: (options) => getItems("/api/sessions", options),
    endSession: (sessionId, options) =>
      send({ method: "DELETE", path: `/api/sessions/${encodeURIComponent(sessionId)}` }, options),
    removePasskey: (passkeyId, options) =>
      send({ method: "DELETE", path: `/api/passkeys/${encodeURIComponent(passkeyId)}` }, options),
    audit: ({ dappId, ...query } = {}, options) =>
      send(
        {
          method: "GET",
          path: "/api/audit",
          query,
          headers: dappId === undefined ? {} : { "tyche-dapp": dappId },
        },
        options,
      ),
    presets: (options) => getItems("/api/presets", options),
    networks: (options) => getItems("/api/networks", options),
    faucet: (body, options) => send({ method: "POST", path: "/api/faucet", body, isOnce: true }, options),
    activity: (options) => get("/api/activity", options),
    presetProblems: (options) => getItems("/api/presetProblems", options),
    fundedAccounts: (options) => getItems("/api/faucet/accounts", options),
    readiness: (options) => get("/api/readiness", options),
  };
}
