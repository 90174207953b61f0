import type { Generated } from "kysely";
import type { RequestKind, RequestState } from "../lib/vocabulary.ts";
/** Where a request stands; see docs/api.md, "States of a request". */
export type { RequestState } from "../lib/vocabulary.ts";

/** Which endpoint made a request. */
export type { RequestKind } from "../lib/vocabulary.ts";

/** What usage is counted by: the kind of a request, or a dry run that was asked for. */
export type UsageKind = RequestKind | "dry-run";

/** The tables. Times are milliseconds since the epoch, hashes and addresses `0x` hex, JSON columns text. */
export interface Tables {
  readonly settings: { name: string; value: string };
  readonly dapps: {
    id: string;
    name: string;
    facilities: string;
    created_at: number;
    /** A row is never removed: requests and usage refer to it. */
    deleted_at: Generated<number | null>;
  };
  readonly api_keys: {
    id: string;
    dapp_id: string;
    /** SHA-256 of the key: 32 bytes. */
    hash: Uint8Array;
    /** The key sealed for the Config Vars view. */
    sealed: Uint8Array;
    created_at: number;
    revoked_at: number | null;
    /** What its owner calls it; may be empty. */
    name: string;
    last_used_at: number | null;
    /** Requests that calls with it may make on a day. */
    daily_limit: number | null;
    /** Day (UTC, `2026-11-22`) of the last request that was counted, where it has a limit. */
    counted_day: Generated<string | null>;
    /** Requests on that day. */
    day_requests: Generated<number>;
  };
  readonly chains: {
    network: string;
    /** Hash of the block that holds the deployment: tells this chain from a reset or other one. */
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
    /** What the transaction carries, JSON, for whoever prepared it. */
    payload: string;
    state: "signed" | "mined" | "replaced" | "failed";
    created_at: number;
    /** Of all columns but `state`; `null` in rows from before there were checksums. */
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
    /** JSON of what the service itself must know to go on: payload and places on chain. */
    progress: string;
    outcome: string | null;
    error: string | null;
    idempotency_key: string | null;
    body_hash: string | null;
    /** Block that ended it, `null` while nothing or something else than the chain has. */
    ended_block: number | null;
    ended_block_hash: string | null;
    created_at: number;
    updated_at: number;
    /** When what its caller sent was deleted; `null` while it is there. */
    payload_deleted_at: number | null;
    /** 1 when it is inserted, and one more with each change: a change of another version than the stored one is refused. */
    version: number;
    /** Of all columns but those of the block that ended it; `null` in rows from before there were checksums. */
    checksum: number | null;
  };
  /** Sums over requests: what {@link Tables.requests} says of each day, kept with every change of it. */
  readonly usage: {
    dapp_id: string;
    /** Empty for a dry run that names none. */
    network: string;
    /** UTC: `YYYY-MM-DD`, of a request the day on which it was accepted. */
    day: string;
    kind: UsageKind;
    requests: number;
    fulfilled: number;
    failed: number;
    refused: number;
    words: number;
    gas_used: number;
    /** Juels and wei: so many times 1e9, and what is left over. */
    link_high: number;
    link_low: number;
    coin_high: number;
    coin_low: number;
  };
  /** What became of sources that were run once, with no request made of them: the newest of each dapp. */
  readonly dry_runs: {
    id: string;
    dapp_id: string;
    /** Empty where none was named. */
    network: string;
    kind: UsageKind;
    /** JSON. */
    record: string;
    created_at: number;
  };
  /** Which replica dispatches on a network; used where several processes serve from one server's database. */
  readonly leases: {
    network: string;
    /** Id of the replica. */
    holder: string;
    /** One more with each take-over. */
    token: number;
    /** By the database's clock; 0 when it was given back. */
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
