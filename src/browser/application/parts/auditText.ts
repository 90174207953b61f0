import type { AuditChange, AuditEntry } from "../../../client/index.ts";

/** What members of an answer are called; others by their own names. */
const MEMBERS: Readonly<Record<string, string>> = {
  facilities: "permissions",
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
