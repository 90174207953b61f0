import type { Tables } from "./schema.ts";

/** The columns that identify the rows of each table. Tables come after those that they refer to. */
export const TABLE_KEYS: { readonly [Name in keyof Tables]: readonly (keyof Tables[Name] & string)[] } = {
  settings: ["name"],
  dapps: ["id"],
  api_keys: ["id"],
  chains: ["network"],
  subscriptions: ["dapp_id", "network"],
  consumers: ["dapp_id", "network", "address"],
  sources: ["network", "hash"],
  transactions: ["hash"],
  requests: ["id"],
  usage: ["dapp_id", "day", "network", "kind"],
  dry_runs: ["id"],
  failed_callbacks: ["network", "request_id"],
  webhooks: ["id"],
  webhook_events: ["id"],
  webhook_deliveries: ["webhook_id", "event_id"],
  webhook_attempts: ["id"],
  schedules: ["id"],
  trigger_runs: ["id"],
  log_triggers: ["id"],
  log_cursors: ["network"],
  run_logs: ["run_id"],
  late_rounds: ["chain_hash", "round"],
  labels: ["dapp_id", "network", "label", "request_id"],
  secret_slots: ["network", "owner", "slot_id"],
  secrets: ["network", "slot_id"],
  secret_owners: ["network", "u"],
  people: ["id"],
  passkeys: ["id"],
  identities: ["issuer", "subject"],
  members: ["dapp_id", "person_id"],
  invitations: ["id"],
  person_sessions: ["id"],
  operator_sessions: ["id"],
  passkey_challenges: ["id"],
  audit: ["id"],
  leases: ["network"],
  oracle_rounds: ["id"],
  oracle_evidence: ["id"],
};

/** The tables, in the order of {@link TABLE_KEYS}. */
export const TABLE_NAMES = Object.keys(TABLE_KEYS) as readonly (keyof Tables)[];

/** Tables whose rows the database numbers by itself. */
export const NUMBERED_TABLES = [
  "oracle_rounds",
  "oracle_evidence",
] as const satisfies readonly (keyof Tables)[];
