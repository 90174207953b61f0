import type { GuardedPost } from "../../sandbox/index.ts";
import { createId, firstId } from "../domain/id.ts";
import { repeat } from "../lib/repeat.ts";
import { createSteadyCheck } from "../lib/steadyClock.ts";
import { open, seal } from "../lib/seal.ts";
import { DAY_MS } from "../lib/time.ts";
import { startWakeLoop, type WakeLoop } from "../lib/wakeLoop.ts";
import {
  advanceDeliveries,
  countDaysTried,
  deleteOldEvents,
  listDueDeliveries,
  listDueWebhooks,
  moveDeliveries,
  saveAttempt,
  type DueDelivery,
  type StoredAttempt,
} from "../store/outbox.ts";
import type { Store } from "../store/store.ts";
import {
  eraseOldSecrets,
  findWebhook,
  noteFailure,
  noteSuccess,
  pauseWebhook,
  type StoredWebhook,
} from "../store/webhooks.ts";
import { signMessage } from "./signature.ts";

const TIMEOUT_MS = 15_000;
/** Bytes of an answer's body that are kept, and of its headers. */
const MAX_ANSWER_BYTES = 2_048;
/** Headers whose values may let whoever reads them in: they are not kept. */
const SECRET_HEADER = /cookie|token|secret|key|session|csrf|^(?:proxy-)?authorization$/;
/** Messages under way to one webhook; one that fails gets the next message once the last attempt is over. */
const AT_ONCE = 8;
/** For what was stored by another replica, and for attempts that are due later. */
const LOOK_INTERVAL_MS = 1_000;
/** A webhook is paused once it has failed for so many days, and on as many of them: a clock that jumps ahead is no day. */
const FAILING_DAYS = 5;
/** How long events and attempts are kept. */
const KEPT_MS = 30 * DAY_MS;
const CLEAN_INTERVAL_MS = 600_000;
/** A clock that was set back by less than this delays attempts by no more than that. */
const CLOCK_TOLERANCE_MS = 1_000;
/** How long messages that are under way may take when the service closes; after that they are sent again at the next start. */
const CLOSE_WAIT_MS = 3_000;

export interface DeliveryOptions {
  readonly store: Store;
  readonly post: Pick<GuardedPost, "post">;
  /** 32 bytes; see {@link sealWebhookSecret}. */
  readonly sealingKey: Uint8Array;
  readonly onError: (error: unknown) => void;
  /** Time limit of a message, in ms. Default 15,000 (Standard Webhooks, "Request timeout": 15 to 30 s). */
  readonly timeoutMs?: number;
  /** Returns the Unix time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The part of a webhook's row that its secret is sealed for. */
type SecretRow = Pick<StoredWebhook, "id" | "dappId" | "scheme">;

const contextOf = ({ id, dappId, scheme }: SecretRow): string => `${id} ${dappId} ${scheme}`;

/** Seals a secret for its row. */
export function sealWebhookSecret(sealingKey: Uint8Array, row: SecretRow, secret: Uint8Array): Uint8Array {
  return seal(sealingKey, secret, contextOf(row));
}

/** Returns the secret that was sealed for a row; `undefined` if the row isn't as the service wrote it. */
export function openSecret(
  sealingKey: Uint8Array,
  row: SecretRow,
  sealed: Uint8Array,
): Uint8Array | undefined {
  try {
    return open(sealingKey, sealed, contextOf(row));
  } catch {
    return undefined;
  }
}

/** Whether an attempt with this status (`null`: without an answer) has delivered its event: any 2xx. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299;
}

const UNREADABLE = "Not sent: the secret in the database was not written by this service. Rotate it.";

/** Starts to deliver the events of the outbox, each to the webhooks that it is for. One webhook never waits for another. */
export function startDelivery(options: DeliveryOptions): WakeLoop {
  const { store, post, sealingKey, onError, timeoutMs = TIMEOUT_MS, now = Date.now } = options;
  const stopping = new AbortController();
  /** Events under way by webhook. */
  const underWay = new Map<string, Set<string>>();
  const flights = new Set<Promise<void>>();
  let isStopped = false;
  /** The clocks at the last look. */
  let latest: { readonly wall: number; readonly monotonic: number } | undefined;
  const isSteady = createSteadyCheck(now);

  /** Sends one event once, and stores what became of it. */
  const attempt = async (webhook: StoredWebhook, { eventId, body, attempts }: DueDelivery): Promise<void> => {
    const at = now();
    const began = performance.now();
    const { previous, scheme } = webhook;
    const sealed = [webhook.secret, ...(previous !== null && previous.until > at ? [previous.secret] : [])];
    const secrets = sealed.flatMap((one) => openSecret(sealingKey, webhook, one) ?? []);
    const headers = signMessage({ id: eventId, body, atMs: at, scheme, secrets });
    const outcome =
      secrets.length === 0
        ? ({ ok: false, failure: { kind: "refused", hint: UNREADABLE } } as const)
        : await post.post(
            { url: webhook.url, headers, body: Buffer.from(body) },
            { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, signal: stopping.signal },
          );
    // Broken off here, not by the receiver: sent again as if it had not been.
    if (stopping.signal.aborted) return;
    const status = outcome.ok ? outcome.answer.status : null;
    const isDelivered = isSuccess(status);
    const ended = now();
    const retryAfter = outcome.ok
      ? outcome.answer.headers.find(([name]) => name === "retry-after")?.[1]
      : undefined;
    const nextAt = isDelivered ? null : nextAttempt(attempts + 1, { now: ended, retryAfter });
    const logged: StoredAttempt = {
      id: createId("att", at),
      webhook_id: webhook.id,
      event_id: eventId,
      at,
      duration_ms: Math.round(performance.now() - began),
      status,
      error: outcome.ok ? null : describeFailure(outcome.failure, timeoutMs),
      answer: outcome.ok ? toText(outcome.answer.beginning) : "",
      answer_headers: outcome.ok ? JSON.stringify(keepHeaders(outcome.answer.headers)) : null,
      next_at: nextAt,
    };
    await store.write(async (db) => {
      const state = isDelivered ? "delivered" : nextAt === null ? "failed" : "pending";
      await saveAttempt(db, logged, { state, attempts });
      if (isDelivered) return await noteSuccess(db, webhook.id, at);
      await noteFailure(db, webhook.id, at);
      // During the attempt its owner may have resumed it, or changed its address.
      const present = await findWebhook(db, webhook.id);
      if (present?.url !== webhook.url) return;
      if (status === 410) await pauseWebhook(db, webhook.id, { at: ended, why: "gone" });
      const since = present.failingSince ?? ended;
      if (
        ended - since >= FAILING_DAYS * DAY_MS &&
        (await countDaysTried(db, webhook.id, since)) >= FAILING_DAYS
      )
        await pauseWebhook(db, webhook.id, { at: ended, why: "failing" });
    });
  };

  const launch = (webhook: StoredWebhook, due: DueDelivery, events: Set<string>): void => {
    events.add(due.eventId);
    const flight = attempt(webhook, due)
      .finally(() => {
        events.delete(due.eventId);
        flights.delete(flight);
      })
      // A write that failed leaves the delivery due: the next look, not this one's end, begins it again.
      .then(() => loop.wake(), onError);
    flights.add(flight);
  };

  /** Begins as many of a webhook's due deliveries as it may have under way. */
  const fill = async (webhookId: string): Promise<void> => {
    const webhook = await findWebhook(store.db, webhookId);
    if (webhook === undefined) return;
    const events = underWay.get(webhookId) ?? new Set();
    underWay.set(webhookId, events);
    // One that ends while its row is read would look due.
    const before = new Set(events);
    const room = (webhook.failingSince === null ? AT_ONCE : 1) - before.size;
    if (room <= 0) return;
    const due = await listDueDeliveries(store.db, {
      webhookId,
      isPaused: webhook.paused !== null,
      now: now(),
      limit: before.size + room,
    });
    const fresh = due.filter(({ eventId }) => !before.has(eventId)).slice(0, room);
    if (isStopped) return;
    for (const one of fresh) launch(webhook, one, events);
  };

  /** Keeps a clock that was set back from delaying attempts. How far, is known only if it was at work. */
  const followClock = async ({ wall, monotonic }: NonNullable<typeof latest>): Promise<void> => {
    const backMs = latest === undefined ? 0 : latest.wall + monotonic - latest.monotonic - wall;
    if (latest !== undefined && backMs < CLOCK_TOLERANCE_MS) return;
    await store.write(async (db) => {
      if (backMs > 0) await moveDeliveries(db, wall, Math.round(backMs));
      await advanceDeliveries(db, wall, LONGEST_MS * (1 + JITTER));
    });
  };

  const look = async (): Promise<void> => {
    const present = { wall: now(), monotonic: performance.now() };
    await followClock(present);
    latest = present;
    for (const id of await listDueWebhooks(store.db, now())) await fill(id);
    for (const [id, events] of underWay) if (events.size === 0) underWay.delete(id);
  };

  const clean = async (): Promise<void> => {
    if (!isSteady()) return;
    const before = now() - KEPT_MS;
    await eraseOldSecrets(store, now());
    await store.writeSoon((db) =>
      deleteOldEvents(db, { eventId: firstId("evt", before), attemptId: firstId("att", before) }),
    );
  };

  const loop = startWakeLoop(look, { intervalMs: LOOK_INTERVAL_MS, onError });
  const stopCleaning = repeat(clean, CLEAN_INTERVAL_MS, onError, { startsNow: true });
  return {
    wake: loop.wake,
    async stop({ atOnce = false } = {}) {
      isStopped = true;
      stopCleaning();
      const timer = setTimeout(() => stopping.abort(), atOnce ? 0 : CLOSE_WAIT_MS);
      await loop.stop();
      await Promise.all(flights);
      clearTimeout(timer);
    },
  };
}

/** Says why a message got no answer. */
function describeFailure(
  { kind, hint }: { readonly kind: string; readonly hint: string },
  timeoutMs: number,
): string {
  return kind === "timeLimit"
    ? `No whole answer within ${timeoutMs / SECOND} seconds.`
    : toText(Buffer.from(hint));
}

/** Returns an answer's headers as they are kept: without secrets, those of one name joined, and no more than fit. */
function keepHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): Readonly<Record<string, string>> {
  const kept = new Map<string, string>();
  let bytes = 0;
  for (const [name, given] of headers) {
    const value = toText(Buffer.from(given));
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (bytes > MAX_ANSWER_BYTES) break;
    if (SECRET_HEADER.test(name)) continue;
    const before = kept.get(name);
    kept.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(kept);
}

/** Decodes bytes that anyone may have chosen into text that every database stores. */
function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_ANSWER_BYTES)).replaceAll("\0", "\ufffd");
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after the first to the ninth failed attempt, in ms (Standard Webhooks, "Deliverability and reliability"): ten attempts in 75 hours. */
const PAUSES_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** Pauses differ by up to this part, so that what failed together doesn't return together. */
const JITTER = 0.1;
/** A receiver can't postpone an attempt further than this. */
const LONGEST_MS = 24 * HOUR;

/**
 * Returns when the next attempt is due, Unix time in milliseconds; `null` after the last one.
 *
 * @param failed number of attempts that have failed.
 * @param retryAfter the answer's `Retry-After`, which can only postpone the attempt.
 */
export function nextAttempt(
  failed: number,
  options: { readonly now: number; readonly retryAfter?: string | undefined; readonly random?: () => number },
): number | null {
  const { now, retryAfter = "", random = Math.random } = options;
  const pauseMs = PAUSES_MS[failed - 1];
  if (pauseMs === undefined) return null;
  const own = pauseMs * (1 + JITTER * (2 * random() - 1));
  return now + Math.round(Math.max(own, Math.min(parseRetryAfter(retryAfter, now), LONGEST_MS)));
}

/** Parses `Retry-After`, seconds or a date (RFC 9110, section 10.2.3), into milliseconds; 0 for anything else. */
function parseRetryAfter(text: string, now: number): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  const at = Date.parse(text);
  return Number.isNaN(at) || !/[a-z]/i.test(text) ? 0 : Math.max(0, at - now);
}
