import type { AuditChange, AuditEntry } from "../../../client/index.ts";

/** What the actions of the audit log are in words: "Ada {words} {subject}". */
export const AUDIT_WORDS: Readonly<Record<string, string>> = {
  signIn: "signed in, with the session",
  acceptInvitation: "accepted the invitation",
  addPasskey: "added the passkey",
  removePasskey: "removed the passkey",
  endSession: "ended a session of",
  changePerson: "changed the person",
  removePerson: "removed the person",
  createDapp: "created the dapp",
  updateDapp: "changed the dapp",
  deleteDapp: "deleted the dapp",
  addKey: "created the API key",
  changeKey: "changed the API key",
  rotateKey: "gave a new value to the API key",
  revealKey: "revealed the API key",
  revokeKey: "revoked the API key",
  changeMember: "changed the role of",
  removeMember: "removed the member",
  createInvitation: "created the invitation",
  revokeInvitation: "revoked the invitation",
  addConsumer: "linked the contract",
  removeConsumer: "unlinked the contract",
  createSchedule: "created the schedule",
  changeSchedule: "changed the schedule",
  deleteSchedule: "deleted the schedule",
  createTrigger: "created the log trigger",
  changeTrigger: "changed the log trigger",
  deleteTrigger: "deleted the log trigger",
  setSecret: "set the secret",
  deleteSecret: "deleted the secret",
  setSecretsSigner: "set the signer of secrets",
  createWebhook: "created the webhook",
  changeWebhook: "changed the webhook",
  deleteWebhook: "deleted the webhook",
  rotateWebhookSecret: "replaced the secret of the webhook",
  replayWebhook: "sent missed events again to the webhook",
};

/** What members of an answer are called; others by their own names. */
const MEMBERS: Readonly<Record<string, string>> = {
  dailyLimit: "requests a day",
  expiresAt: "expiry",
  timeZone: "time zone",
  catchUp: "missed ticks",
  actionNetwork: "network of its requests",
  url: "address",
};
/** What is left where a value is taken away. */
const NOTHING: Readonly<Record<string, string>> = {
  dailyLimit: "no limit",
  expiresAt: "never",
  until: "no end",
  beacon: "what the network says",
};

/** Says who made a change, if that has a name. */
export function nameActor({ actor, actorName }: Pick<AuditEntry, "actor" | "actorName">): string {
  if (actorName !== "") return actorName;
  if (actor === "operator") return "Operator token";
  return actor.startsWith("session_") ? "Operator" : "";
}

/** Says what was changed of something, such as "from viewer to developer". */
export function describeChange({ member, from, to }: AuditChange): string {
  if (member === "pausedAt") return to === null ? "resumed" : "paused";
  if (member === "isOperator") return to === "true" ? "made an operator" : "no longer an operator";
  if (member === "role" && from === null) return `as ${to}`;
  if (member === "role") return to === null ? `was ${from}` : `from ${from} to ${to}`;
  if (member === "access") return to === "read" ? "read only" : `${to} access`;
  const name = MEMBERS[member] ?? member;
  // Of these, no values are kept.
  if (from === to) return name;
  return from === null ? `${name}: ${to}` : `${name} from ${from} to ${to ?? NOTHING[member] ?? "none"}`;
}
