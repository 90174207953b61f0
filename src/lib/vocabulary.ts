/** Vocabulary that requests, answers, forms and the journal share. */

/** States of a request, in order. */
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

/** What a request asks for. */
export const REQUEST_KINDS = ["preset", "function", "random", "consumer", "unlink"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Why a source ran without becoming a request: the caller asked for a dry run, or a call of this kind was refused. */
export const DRY_RUN_KINDS = ["dry-run", "preset", "function"] as const;

/** Types of the events that a webhook can ask for. */
export const WEBHOOK_EVENTS = ["request.fulfilled", "request.failed", "request.reopened"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** How the bytes of a function's result are decoded. */
export const RETURN_TYPES = ["string", "uint256", "int256"] as const;
export type ReturnType = (typeof RETURN_TYPES)[number];

/** Versions of Chainlink VRF: `v2` with VRFCoordinatorV2, `v2.5` with VRFCoordinatorV2_5. */
export const VRF_VERSIONS = ["v2", "v2.5"] as const;
export type VrfVersion = (typeof VRF_VERSIONS)[number];

/** Maximum number of VRF keys whose words are joined for one request: JoinedWords.sol `MAX_PARTS`. */
export const MAX_JOINED_KEYS = 4;
