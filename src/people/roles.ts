import { ROLES, type Role } from "../lib/vocabulary.ts";

/** Who makes a call, other than with an API key: the operator token, or a session of an operator or of a person. */
export interface Caller {
  /** Identifies the caller in logs and limits without revealing a credential: `operator`, `session_…` or `person_…`. */
  readonly id: string;
  /** May do everything. */
  readonly isOperator: boolean;
  /** Absent for the operator token and its sessions. */
  readonly person?: {
    readonly name: string;
    /** Id of the session, as lists show it. */
    readonly sessionId: string;
    /** By dapp. */
    readonly roles: ReadonlyMap<string, Role>;
  };
}

/** The least that a caller must be: anyone who is signed in, or a member with a role. */
type Least = "anyone" | Role;

/** The least role for each operation of the API. What isn't listed is the operator's. */
export const LEAST_ROLE: Readonly<Record<string, Least>> = {
  listPresets: "anyone",
  listNetworks: "anyone",
  listFundedAccounts: "anyone",
  getInfo: "anyone",
  getReadiness: "anyone",
  useFaucet: "anyone",
  listDapps: "anyone",
  getMe: "anyone",
  removePasskey: "anyone",
  listSessions: "anyone",
  endSession: "anyone",

  getDapp: "viewer",
  getBalances: "viewer",
  getConfigVars: "viewer",
  listConsumers: "viewer",
  listOwnConsumers: "viewer",
  listMembers: "viewer",
  getRequest: "viewer",
  listRequests: "viewer",
  listDryRuns: "viewer",
  listContractRequests: "viewer",
  verifyTransaction: "viewer",
  getUsage: "viewer",
  listWebhooks: "viewer",
  getWebhook: "viewer",
  listWebhookAttempts: "viewer",
  listSecrets: "viewer",
  getSecretsKey: "viewer",
  listSchedules: "viewer",
  getSchedule: "viewer",
  listScheduleRuns: "viewer",
  listTriggers: "viewer",
  getTrigger: "viewer",
  listTriggerRuns: "viewer",

  runPreset: "developer",
  requestRandomNumber: "developer",
  runFunction: "developer",
  simulateFunction: "developer",
  createWebhook: "developer",
  changeWebhook: "developer",
  deleteWebhook: "developer",
  rotateWebhookSecret: "developer",
  testWebhook: "developer",
  replayWebhook: "developer",
  setSecret: "developer",
  deleteSecret: "developer",
  setSecretsSigner: "developer",
  createSchedule: "developer",
  changeSchedule: "developer",
  deleteSchedule: "developer",
  runSchedule: "developer",
  createTrigger: "developer",
  changeTrigger: "developer",
  deleteTrigger: "developer",
  updateDapp: "developer",

  listKeys: "owner",
  addKey: "owner",
  revealKey: "owner",
  revokeKey: "owner",
  addConsumer: "owner",
  removeConsumer: "owner",
  changeMember: "owner",
  removeMember: "owner",
  listInvitations: "owner",
  createInvitation: "owner",
  revokeInvitation: "owner",
  listAudit: "owner",
  deleteDapp: "owner",
};

/**
 * Decides whether a caller may do an operation: `hidden` if the caller may not even know that there is such a dapp.
 *
 * @param dappId the dapp that it is done to; `undefined` if it is none's.
 */
export function mayCall(
  { isOperator, person }: Caller,
  operation: string,
  dappId: string | undefined,
): "yes" | "no" | "hidden" {
  if (isOperator) return "yes";
  const least = Object.hasOwn(LEAST_ROLE, operation) ? LEAST_ROLE[operation] : undefined;
  if (dappId === undefined) return least === "anyone" ? "yes" : "no";
  const role = person?.roles.get(dappId);
  if (role === undefined) return "hidden";
  if (least === undefined) return "no";
  return least === "anyone" || ROLES.indexOf(role) >= ROLES.indexOf(least) ? "yes" : "no";
}
