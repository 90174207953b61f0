import { ROLES, type Role } from "./vocabulary.ts";

/** The least that a caller must be: anyone who is signed in, or a member with a role. */
type Least = "anyone" | Role;

/** The least role for each operation of the API. What isn't listed is the operator's. */
export const LEAST_ROLE = {
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
  getWebhookAttempt: "viewer",
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
  changeKey: "owner",
  rotateKey: "owner",
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
} as const satisfies Readonly<Record<string, Least>>;

/** Id of an operation that isn't the operator's alone. */
export type MemberOperation = keyof typeof LEAST_ROLE;

/** Returns the least role for an operation; `undefined` if it is the operator's. */
export function leastRoleOf(operation: string): Least | undefined {
  return Object.hasOwn(LEAST_ROLE, operation) ? LEAST_ROLE[operation as MemberOperation] : undefined;
}

/** Whether a role is at least another one. */
export function roleAllows(role: Role, least: Least): boolean {
  return least === "anyone" || ROLES.indexOf(role) >= ROLES.indexOf(least);
}
