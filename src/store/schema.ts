import type { Generated } from "kysely";
import type { Hex } from "viem";
import type {
  Beacon,
  KeyAccess,
  LogConfidence,
  RequestKind,
  RequestState,
  Role,
  SkipReason,
} from "../domain/vocabulary.ts";

/** Kinds that usage is counted by: the kind of a request, a dry run that the caller asked for, or a top-up of the dapp's subscriptions. */
export type UsageKind = RequestKind | "dry-run" | "top-up";

/** Signature of Standard Webhooks: HMAC-SHA256, or ed25519. */
export type WebhookScheme = "v1" | "v1a";

/** Why a webhook is paused: its owner did, it answered 410, or it failed for days. */
export type PauseReason = "owner" | "gone" | "failing";

export type DeliveryState = "pending" | "delivered" | "failed";

/** The tables. Times are milliseconds since the epoch, hashes and addresses `0x` hex, JSON columns text. */
export interface Tables {
  readonly settings: { name: string; value: string };
  readonly dapps: {
    id: string;
    name: string;
    facilities: string;
    created_at: number;
    /** What its presets' words also follow from where a call doesn't say it; null: what the network's do. */
    beacon: Generated<Beacon | null>;
    /** Set instead of removing the row: requests and usage refer to it. */
    deleted_at: Generated<number | null>;
  };
  readonly api_keys: {
    id: string;
    dapp_id: string;
    /** SHA-256 of the key: 32 bytes. */
    hash: Uint8Array;
    /** The key, sealed, for the Config Vars view. */
    sealed: Uint8Array;
    created_at: number;
    revoked_at: number | null;
    /** Name given by the owner; may be empty. */
    name: string;
    /** Precise to the minute. */
    last_used_at: number | null;
    /** Requests that calls with it may make per day (UTC); `null` for no limit. */
    daily_limit: number | null;
    /** Day (UTC, `2026-11-22`) of the last counted request, for keys with a limit. */
    counted_day: Generated<string | null>;
    /** Requests on that day. */
    day_requests: Generated<number>;
    /** Idempotency key of the call that created it, after the id of its dapp unless that call created the dapp, too. */
    creation_key: Generated<string | null>;
    /** Hash of that call's body. */
    creation_hash: Generated<string | null>;
    /** What calls with it may do. */
    access: KeyAccess;
    /** Calls with it are refused from then on. */
    expires_at: number | null;
    /** SHA-256 of the value before the last rotation: 32 bytes. */
    previous_hash: Uint8Array | null;
    /** The same hash, sealed: proves that the service wrote it. */
    previous_sealed: Uint8Array | null;
    /** Until when that value stays valid. */
    previous_until: number | null;
  };
  readonly chains: {
    network: string;
    /** Hash of the block that holds the deployment: distinguishes this chain from another one, or from one that was reset. */
    identity: string;
    /** JSON of the contract addresses and the first block. */
    deployment: string;
  };
  readonly subscriptions: {
    dapp_id: string;
    network: string;
    vrf_subscription_id: string;
    functions_subscription_id: string;
  };
  readonly consumers: {
    dapp_id: string;
    network: string;
    /** Checksummed. */
    address: string;
    transaction_hash: string;
    created_at: number;
  };
  readonly sources: { network: string; hash: string; source_id: number };
  readonly transactions: {
    hash: string;
    network: string;
    sender: string;
    nonce: number;
    /** The signed bytes as broadcast, `0x` hex. */
    raw: string;
    /** JSON of the transaction's contents, for the code that prepared it. */
    payload: string;
    state: "signed" | "mined" | "replaced" | "failed";
    created_at: number;
    /** Covers all columns but `state`; `null` in rows that predate checksums. */
    checksum: number | null;
  };
  readonly requests: {
    id: string;
    dapp_id: string;
    kind: RequestKind;
    network: string;
    state: RequestState;
    why: string | null;
    params: string;
    timeline: string;
    /** JSON of what the service itself needs to continue: payload and positions on chain. */
    progress: string;
    outcome: string | null;
    error: string | null;
    idempotency_key: string | null;
    body_hash: string | null;
    /** Block that ended it; `null` if nothing has, or something other than the chain did. */
    ended_block: number | null;
    ended_block_hash: string | null;
    created_at: number;
    updated_at: number;
    /** When the caller's payload was deleted; `null` while it is stored. */
    payload_deleted_at: number | null;
    /** 1 on insertion, incremented with each change: a change based on another version than the stored one is refused. */
    version: number;
    /** Covers all columns but those of the ending block and `oracle_id`; `null` in rows that predate checksums. */
    checksum: number | null;
    /** Id that the oracle network assigned, as in the outcome; `null` until it is known, and in rows that predate the column. */
    oracle_id: string | null;
  };
  /** Which requests of a dapp on a network have a label: those of which it is not known yet whether they are sent, and the first one that was. */
  readonly labels: {
    dapp_id: string;
    network: string;
    /** Canonical, see `domain/label.ts`. */
    label: string;
    request_id: string;
    /** 1 if it must stay the only one. */
    is_once: number;
  };
  /** Daily totals of {@link Tables.requests}, updated with every change to them. */
  readonly usage: {
    dapp_id: string;
    /** Empty for a dry run without a network. */
    network: string;
    /** UTC `YYYY-MM-DD`; for a request, the day it was accepted. */
    day: string;
    kind: UsageKind;
    requests: number;
    fulfilled: number;
    failed: number;
    refused: number;
    words: number;
    gas_used: number;
    /** Juels and wei, split into multiples of 1e9 and the remainder. */
    link_high: number;
    link_low: number;
    coin_high: number;
    coin_low: number;
  };
  /** Outcomes of sources that ran once without becoming a request: the newest of each dapp. */
  readonly dry_runs: {
    id: string;
    dapp_id: string;
    /** Empty if no network was named. */
    network: string;
    kind: UsageKind;
    /** JSON. */
    record: string;
    created_at: number;
    /** Size of `params` in UTF-8; 0 without. */
    params_bytes: number;
    /** JSON: what a refused call asked for; `null` for other runs, and once newer ones need the room. */
    params: string | null;
  };
  /** Why callbacks of callers' own contracts failed. The chain doesn't record it, and nodes forget the state that it can be found from. */
  readonly failed_callbacks: {
    network: string;
    /** VRF or Functions request. */
    request_id: string;
    /** The transaction that made the callback; after a reorg, another one may have. */
    transaction_hash: string;
    reason: string;
    created_at: number;
  };
  /** Addresses that dapps are told events at. */
  readonly webhooks: {
    id: string;
    dapp_id: string;
    url: string;
    description: string;
    /** Types of the events that it is told, separated by blanks. */
    events: string;
    scheme: WebhookScheme;
    /** Sealed, as the next one. */
    secret: Uint8Array;
    /** Signs as well until `previous_until`. */
    previous_secret: Uint8Array | null;
    previous_until: number | null;
    created_at: number;
    paused_at: number | null;
    paused_why: PauseReason | null;
    /** First failed attempt since the last successful one. */
    failing_since: number | null;
    last_success_at: number | null;
  };
  /** What happened, written in the transaction that made it happen. Only events that a webhook is told. */
  readonly webhook_events: {
    /** `evt_` and 26 characters, ordered by time. */
    id: string;
    dapp_id: string;
    type: string;
    /** Id of what the event is about. */
    subject: string | null;
    /** JSON, as it is sent. */
    body: string;
  };
  /** One event to one webhook. */
  readonly webhook_deliveries: {
    webhook_id: string;
    event_id: string;
    state: DeliveryState;
    /** Attempts since the event was stored or replayed. */
    attempts: number;
    /** When the next attempt is due; `null` if there is none. */
    next_at: number | null;
    /** 1 if it was asked for, and goes to a paused webhook too. */
    is_replay: number;
  };
  readonly webhook_attempts: {
    /** `att_` and 26 characters, ordered by time. */
    id: string;
    webhook_id: string;
    event_id: string;
    duration_ms: number;
    /** HTTP status; `null` if no answer came. */
    status: number | null;
    /** Why no answer came. */
    error: string | null;
    /** Beginning of the answer's body. */
    answer: string;
    /** JSON; `null` if no answer came, or an earlier version noted the attempt. */
    answer_headers: string | null;
    next_at: number | null;
    at: number;
  };
  /** Requests that are made at certain times. */
  readonly schedules: {
    id: string;
    dapp_id: string;
    /** Key that it acts with; `null` if the operator set it up. */
    key_id: string | null;
    name: string;
    /** JSON of what each tick requests. */
    command: string;
    /** JSON of when its ticks are due. */
    timing: string;
    catch_up: "skip" | "one" | "all";
    window_ms: number;
    overlap: "skip" | "allow";
    until: number | null;
    paused_at: number | null;
    created_at: number;
    /** The first tick that is not in `trigger_runs`; `null` if none will be. */
    next_at: number | null;
  };
  /** Each time that a trigger was due. */
  readonly trigger_runs: {
    /** `run_` and 26 characters, ordered by when it was stored. */
    id: string;
    trigger_id: string;
    /** What it is due for, once per trigger. */
    key: string;
    /** When it was due. */
    at: number;
    state: "seen" | "due" | "requested" | "skipped";
    /** Why it was skipped. */
    reason: SkipReason | null;
    detail: string | null;
    request_id: string | null;
  };
  /** Requests that are made when contracts emit events. */
  readonly log_triggers: {
    id: string;
    dapp_id: string;
    /** Key that it acts with; `null` if the operator set it up. */
    key_id: string | null;
    name: string;
    network: string;
    /** JSON of the logs that it wants. */
    selection: string;
    confidence: LogConfidence;
    /** JSON of what is requested, with references to the log's values. */
    action: string;
    action_network: string;
    /** First block whose logs it wants. */
    from_block: number;
    /** First block of which it has not been shown the logs; `null` once it is read together with the others. */
    replay_from: number | null;
    paused_at: number | null;
    created_at: number;
  };
  /** How far the logs of a network have been read for its triggers. */
  readonly log_cursors: {
    network: string;
    /** Which chain the numbers are of. */
    identity: string;
    /** Last block whose logs are in `trigger_runs`. */
    block: number;
    /** JSON of some of the blocks read, newest first, by which a reorg is noticed. */
    heads: string;
  };
  /** The logs that runs are due for. */
  readonly run_logs: {
    run_id: string;
    network: string;
    block_number: number;
    block_hash: Hex;
    transaction_hash: Hex;
    log_index: number;
    /** JSON of its values by name. */
    args: string;
    /** When a reorg removed the log. */
    reverted_at: number | null;
  };
  /** Rounds of drand that no relay had when they were due, and that anybody may hand in. */
  readonly late_rounds: {
    chain_hash: Hex;
    /** Decimal. */
    round: string;
    /** 48 bytes, checked; `null` until somebody has it. */
    signature: Hex | null;
    /** 0 in rows of versions that didn't store it. */
    created_at: number;
  };
  /** Ciphertexts that an oracle network holds for those who uploaded them. */
  readonly secret_slots: {
    network: string;
    /** Address of the uploader, lower case. */
    owner: Hex;
    slot_id: number;
    /** Rises with each upload; the toolkit's is the time in seconds. */
    version: number;
    /** JSON of a TDH2 ciphertext. */
    ciphertext: string;
    expires_at: number;
  };
  /** Whose ciphertexts without a label are: who uploaded or named each first. */
  readonly secret_owners: {
    network: string;
    /** SHA-256 of the ciphertext's point `u`. */
    u: Hex;
    /** Lower case. */
    owner: Hex;
  };
  /** Dapps' names for what the operator's slots hold. */
  readonly secrets: {
    network: string;
    slot_id: number;
    /** Address of the operator, lower case. */
    owner: Hex;
    dapp_id: string;
    name: string;
    version: number;
    /** Length of what is encrypted, in bytes. */
    size: number;
    changed_at: number;
    expires_at: number | null;
    /** When it was replaced; `null` for the current version. */
    retired_at: number | null;
    /** JSON: hosts to which a source with it may send requests, none for any; `null` while not known. */
    allowed_hosts: string | null;
    /** Identifies the nodes' key that it is encrypted to, 32 bytes; `null` for those of versions before it. */
    key_hash: Hex | null;
  };
  /** Who signs in as themselves. */
  readonly people: {
    /** `person_` and 26 characters. */
    id: string;
    name: string;
    /** 1 for who may do all that the operator token allows. */
    is_operator: number;
    created_at: number;
  };
  /** What people sign in with: WebAuthn credentials. */
  readonly passkeys: {
    /** Credential id, base64url. */
    id: string;
    person_id: string;
    /** COSE key. */
    public_key: Uint8Array;
    /** Last one that the authenticator sent; 0 if it doesn't count. */
    counter: number;
    /** What the browser that made it calls itself; empty for those of earlier versions. */
    browser: string;
    created_at: number;
  };
  /** Who people are at an OpenID provider. */
  readonly identities: { issuer: string; subject: string; person_id: string };
  /** Which role a person has in a dapp. */
  readonly members: { dapp_id: string; person_id: string; role: Role; created_at: number };
  /** Links by which a person can become a member, once. */
  readonly invitations: {
    /** `inv_` and 26 characters. */
    id: string;
    dapp_id: string;
    role: Role;
    /** SHA-256 of the code in the link, hex. */
    hash: string;
    /** Who it is for, as the one who invites says; may be empty. */
    name: string;
    /** Name that the person who invites had then; empty for the operator. */
    invited_by: string;
    created_at: number;
    expires_at: number;
  };
  /** Browsers in which people are signed in. */
  readonly person_sessions: {
    /** SHA-256 of the session's secret, hex. */
    id: string;
    person_id: string;
    /** What the browser calls itself. */
    browser: string;
    created_at: number;
    last_used_at: number;
  };
  /** Sign-ins with the operator token, or the link that a start prints. `id`: HMAC-SHA256, hex. */
  readonly operator_sessions: { id: string; ends_at: number };
  /** Challenges that passkeys have yet to answer. */
  readonly passkey_challenges: { id: string; expires_at: number };
  /** Who changed what. */
  readonly audit: {
    /** `aud_` and 26 characters, ordered by time. */
    id: string;
    at: number;
    /** Id of a person or of an API key, or `operator`. */
    actor: string;
    /** The person's name then; empty for others. */
    actor_name: string;
    dapp_id: string | null;
    /** The operation, or what a sign-in did. */
    action: string;
    /** Id of what it was done to, if it has one. */
    subject: string | null;
    /** Its name then, the host of a webhook's URL, or a contract's address; `null` if it has none. */
    subject_name: string | null;
    /** JSON: which members were changed, from what to what. */
    changes: string | null;
  };
  /** Which replica dispatches on a network; used where several processes serve from one server database. */
  readonly leases: {
    network: string;
    /** Id of the replica. */
    holder: string;
    /** Incremented with each takeover. */
    token: number;
    /** By the database's clock; set to the current time when the lease is released. */
    expires_at: number;
  };
  /** What one node of an oracle network has said about requests and must not contradict. */
  readonly oracle_rounds: {
    id: Generated<number>;
    network: string;
    config_digest: string;
    request_id: string;
    /** JSON. */
    record: string;
    created_at: number;
  };
  readonly oracle_evidence: {
    id: Generated<number>;
    network: string;
    signer: string;
    request_id: string;
    /** JSON. */
    evidence: string;
    created_at: number;
  };
}
