import { ROLES, type Role } from "./vocabulary.ts";

interface OperationFacts {
  /** The least that a caller must be: anyone who is signed in, or a member with a role. Absent where it is the operator's, or needs no key. */
  readonly least?: "anyone" | Role;
  /**
   * What it did, in the audit log's words: "Ada {audit} {subject}". Absent where it only reads, or makes a request that the dapp's list of
   * requests records.
   */
  readonly audit?: string;
}

/** The operations of the API by their ids. */
export const OPERATIONS = {
  listPresets: { least: "anyone" },
  listNetworks: { least: "anyone" },
  listFundedAccounts: { least: "anyone" },
  getInfo: { least: "anyone" },
  getReadiness: { least: "anyone" },
  useFaucet: { least: "anyone" },
  listDapps: { least: "anyone" },
  getMe: { least: "anyone" },
  removePasskey: { least: "anyone", audit: "removed the passkey" },
  listSessions: { least: "anyone" },
  endSession: { least: "anyone", audit: "ended a session of" },

  getDapp: { least: "viewer" },
  getBalances: { least: "viewer" },
  getConfigVars: { least: "viewer" },
  listConsumers: { least: "viewer" },
  listMembers: { least: "viewer" },
  getRequest: { least: "viewer" },
  listRequests: { least: "viewer" },
  listDryRuns: { least: "viewer" },
  getDryRun: { least: "viewer" },
  listContractRequests: { least: "viewer" },
  verifyTransaction: { least: "viewer" },
  getUsage: { least: "viewer" },
  listWebhooks: { least: "viewer" },
  getWebhook: { least: "viewer" },
  listWebhookAttempts: { least: "viewer" },
  getWebhookAttempt: { least: "viewer" },
  listSecrets: { least: "viewer" },
  getSecretsKey: { least: "viewer" },
  listSchedules: { least: "viewer" },
  getSchedule: { least: "viewer" },
  listScheduleRuns: { least: "viewer" },
  listTriggers: { least: "viewer" },
  getTrigger: { least: "viewer" },
  listTriggerRuns: { least: "viewer" },

  runPreset: { least: "developer" },
  requestRandomNumber: { least: "developer" },
  runFunction: { least: "developer" },
  simulateFunction: { least: "developer" },
  createWebhook: { least: "developer", audit: "created the webhook" },
  changeWebhook: { least: "developer", audit: "changed the webhook" },
  deleteWebhook: { least: "developer", audit: "deleted the webhook" },
  rotateWebhookSecret: { least: "developer", audit: "replaced the secret of the webhook" },
  testWebhook: { least: "developer" },
  replayWebhook: { least: "developer", audit: "sent missed events again to the webhook" },
  setSecret: { least: "developer", audit: "set the secret" },
  deleteSecret: { least: "developer", audit: "deleted the secret" },
  setSecretsSigner: { least: "developer", audit: "set the signer of secrets" },
  createSchedule: { least: "developer", audit: "created the schedule" },
  changeSchedule: { least: "developer", audit: "changed the schedule" },
  deleteSchedule: { least: "developer", audit: "deleted the schedule" },
  runSchedule: { least: "developer" },
  createTrigger: { least: "developer", audit: "created the log trigger" },
  changeTrigger: { least: "developer", audit: "changed the log trigger" },
  deleteTrigger: { least: "developer", audit: "deleted the log trigger" },
  updateDapp: { least: "developer", audit: "changed the dapp" },

  listKeys: { least: "owner" },
  addKey: { least: "owner", audit: "created the API key" },
  changeKey: { least: "owner", audit: "changed the API key" },
  rotateKey: { least: "owner", audit: "gave a new value to the API key" },
  revealKey: { least: "owner", audit: "revealed the API key" },
  revokeKey: { least: "owner", audit: "revoked the API key" },
  addConsumer: { least: "owner", audit: "linked the contract" },
  removeConsumer: { least: "owner", audit: "unlinked the contract" },
  changeMember: { least: "owner", audit: "changed the role of" },
  removeMember: { least: "owner", audit: "removed the member" },
  listInvitations: { least: "owner" },
  createInvitation: { least: "owner", audit: "created the invitation" },
  revokeInvitation: { least: "owner", audit: "revoked the invitation" },
  listAudit: { least: "owner" },
  deleteDapp: { least: "owner", audit: "deleted the dapp" },

  createDapp: { audit: "created the dapp" },
  readSharedResult: {},
  exploreRequests: {},
  readChainData: {},
  exploreNetworks: {},
  explorePresets: {},
  exploreTransaction: {},
  exploreBlocks: {},
  exploreBlock: {},
  exploreNetwork: {},
  exploreAddress: {},
  exploreTransactions: {},
  exploreTransfers: {},
  exploreContractRequests: {},
  exploreContract: {},
  search: {},
  getActivity: {},
  listPresetProblems: {},
  changePerson: { audit: "changed the person" },
  listPeople: {},
  removePerson: { audit: "removed the person" },
} as const satisfies Readonly<Record<string, OperationFacts>>;

export type OperationId = keyof typeof OPERATIONS;

const facts: Readonly<Record<string, OperationFacts>> = OPERATIONS;

/** Id of an operation that isn't the operator's alone. */
export type MemberOperation = {
  [Id in OperationId]: (typeof OPERATIONS)[Id] extends { readonly least: string } ? Id : never;
}[OperationId];

/** Returns the least role for an operation; `undefined` if it is the operator's. */
export const leastRoleOf = (operation: OperationId): OperationFacts["least"] => facts[operation]!.least;

/** Whether a role is at least another one. */
export function roleAllows(role: Role, least: "anyone" | Role): boolean {
  return least === "anyone" || ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** The actions of the audit log, which are operations and what people do to sign in, in words. */
export const AUDIT_TEXT: ReadonlyMap<string, string> = new Map([
  ["signIn", "signed in, with the session"],
  ["acceptInvitation", "accepted the invitation"],
  ["addPasskey", "added the passkey"],
  ...Object.entries(facts).flatMap(([id, { audit }]): (readonly [string, string])[] =>
    audit === undefined ? [] : [[id, audit]],
  ),
]);
