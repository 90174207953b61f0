/** Vocabulary that requests, answers, forms and the journal share. */

/** States of a request, in order; see docs/api.md, "States of a request". */
export const REQUEST_STATES = [
  "checking",
  "received",
  "submitted",
  "randomness",
  "executing",
  "fulfilled",
  "failed",
] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** Whether a request in this state has ended. Only a reorg that removes the block of its end reopens it. */
export function isEnded(state: RequestState): boolean {
  return state === "fulfilled" || state === "failed";
}

/** What a request asks for. */
export const REQUEST_KINDS = ["preset", "function", "random", "consumer", "unlink"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Why a source ran without becoming a request: the caller asked for a dry run, or a call of this kind was refused. */
export const DRY_RUN_KINDS = ["dry-run", "preset", "function"] as const;

/** Types of the events that a webhook can ask for. */
export const WEBHOOK_EVENTS = [
  "request.fulfilled",
  "request.failed",
  "request.reopened",
  "trigger.skipped",
  "trigger.reverted",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Types of the events that a webhook is told, or was: also the test that it need not ask for. */
export const TOLD_EVENTS = [...WEBHOOK_EVENTS, "webhook.test"] as const;
export type ToldEvent = (typeof TOLD_EVENTS)[number];

/**
 * Why a trigger made no request although it was due. `missed`: the service could not in time; `overlap`: the request before it had not
 * ended; `paused`: its owner paused it; `refused`: the service refused the request; `limit`: the requests of the day were used up,
 * or too many runs of logs wait; `key`: the key that it acts with is revoked or has expired; `reverted`: a reorg removed its log.
 */
export const SKIP_REASONS = ["missed", "overlap", "paused", "refused", "limit", "key", "reverted"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Which blocks' logs a trigger acts on: each new block's, or those of blocks that its node calls safe or finalized. */
export const LOG_CONFIDENCES = ["latest", "safe", "finalized"] as const;
export type LogConfidence = (typeof LOG_CONFIDENCES)[number];

/** What a schedule does about ticks that the service could not act on in time. */
export const CATCH_UPS = ["skip", "one", "all"] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/** How the bytes of a function's result are decoded. */
export const RETURN_TYPES = ["string", "uint256", "int256"] as const;
export type ReturnType = (typeof RETURN_TYPES)[number];

/** Versions of Chainlink VRF: `v2` with VRFCoordinatorV2, `v2.5` with VRFCoordinatorV2_5. */
export const VRF_VERSIONS = ["v2", "v2.5"] as const;
export type VrfVersion = (typeof VRF_VERSIONS)[number];

/** What a dapp may use; `presets` includes random numbers. */
export const FACILITIES = ["presets", "functions"] as const;
export type Facility = (typeof FACILITIES)[number];

/** What a preset's word may also follow from: a future round of drand, one of the service's own beacon (on embedded networks), or nothing. */
export const BEACONS = ["drand", "local", "none"] as const;
export type Beacon = (typeof BEACONS)[number];

/** Hash of quicknet, drand's own chain with a round every three seconds, which every verifier knows. */
export const QUICKNET_HASH: `0x${string}` =
  "0x52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";

/** Parameters of every preset request; the others are the preset's own. */
export const PRESET_REQUEST_PARAMETERS: readonly string[] = [
  "network",
  "preset",
  "confirmations",
  "beacon",
  "label",
  "once",
];

/** Maximum number of VRF keys whose words are joined for one request: JoinedWords.sol `MAX_PARTS`. */
export const MAX_JOINED_KEYS = 4;

/** What calls with an API key may do: only read, or everything that a key may. */
export const KEY_ACCESSES = ["read", "full"] as const;
export type KeyAccess = (typeof KEY_ACCESSES)[number];

/** Longest time for which the former value of a key, or of a webhook's secret, stays valid beside a new one: a week. */
export const MAX_OVERLAP_HOURS = 168;
/** What it is by default. */
export const OVERLAP_HOURS = 24;

/** A moment in ISO 8601, with its offset. */
export const TIME_PATTERN =
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})$";

/** What a secret may be named. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

/** What a member may do in a dapp, least first: read; run and edit what runs; also keys, members, links and deletion. */
export const ROLES = ["viewer", "developer", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** Highest daily limit of a key: the maximum of an `integer` column in every database. */
export const MAX_DAILY_LIMIT = 2_147_483_647;

/** Longest text to search for: a decimal uint256 has 78 digits. */
export const MAX_SEARCH_CHARACTERS = 100;
