/** The actions of the audit log, which are operations of the API and what people do to sign in, in words: "Ada {words} {subject}". */
export const AUDIT_WORDS = {
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
} as const;

export type AuditAction = keyof typeof AUDIT_WORDS;

/** Whether the audit log has such an action; entries of other versions may have others. */
export const isAuditAction = (text: string): text is AuditAction => Object.hasOwn(AUDIT_WORDS, text);
