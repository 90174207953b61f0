import type { Checked } from "../api/parameters/requestSchemas.ts";
import type {
  NewWebhookView,
  SentWebhook,
  WebhookAttempt,
  WebhookAttemptPage,
  WebhookReplay,
  WebhookTest,
  WebhookView,
} from "../api/types.ts";
import type { GuardedPost } from "../../sandbox/index.ts";
import { NotFoundError } from "../lib/errors.ts";
import { createId, firstId } from "../domain/id.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { readPage } from "../domain/readPage.ts";
import { formatTime } from "../lib/time.ts";
import type { ToldEvent, WebhookEvent } from "../domain/vocabulary.ts";
import { lockDapp } from "../store/dapps.ts";
import {
  countUndelivered,
  findAttempt,
  insertEvent,
  listAttempts,
  replayDeliveries,
  type LoggedAttempt,
} from "../store/outbox.ts";
import type { Store } from "../store/store.ts";
import {
  changeWebhook,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  replaceSecret,
  type StoredWebhook,
} from "../store/webhooks.ts";
import { isSuccess, openSecret, sealWebhookSecret } from "./delivery.ts";
import { createSecret, formatVerifyingKey, plainHeaders } from "./signature.ts";

/** Most webhooks of a dapp: each costs a row for every event. */
const MAX_WEBHOOKS = 20;
const HOUR_MS = 3_600_000;

/**
 * The webhooks of dapps. Every method throws `not_found` for an unknown webhook and for another dapp's alike, and `invalid_parameter` for an
 * address that no message may go to.
 */
export interface Webhooks {
  /** Throws `invalid_parameter` when the dapp has 20 already. */
  create(dappId: string, settings: Checked<"createWebhook">): Promise<NewWebhookView>;
  /** Lists a dapp's webhooks, oldest first. */
  list(dappId: string): Promise<readonly WebhookView[]>;
  get(dappId: string, id: string): Promise<WebhookView>;
  /** What waits while a webhook is paused is delivered when it is resumed. */
  change(dappId: string, id: string, changes: Checked<"changeWebhook">): Promise<WebhookView>;
  delete(dappId: string, id: string): Promise<WebhookView>;
  /** Replaces the secret; the present one signs as well for `overlapHours` (0: not at all), and the one before it no longer. */
  rotate(dappId: string, id: string, options: Checked<"rotate">): Promise<NewWebhookView>;
  /** Sends a `webhook.test` event, or a sample of another type, also to a paused webhook. */
  test(dappId: string, id: string, options: Checked<"testWebhook">): Promise<WebhookTest>;
  /** Lists attempts, newest first. */
  attempts(dappId: string, id: string, page: Checked<"attempts">): Promise<WebhookAttemptPage>;
  /** Returns an attempt with the message that was sent. */
  attempt(dappId: string, id: string, attemptId: string): Promise<SentWebhook>;
  /** Sends an event again, or all undelivered ones since a moment (Unix ms), also to a paused webhook: with their ids, and the present secret. */
  replay(
    dappId: string,
    id: string,
    which: { readonly eventId: string } | { readonly since: number },
  ): Promise<WebhookReplay>;
}

export interface WebhooksOptions {
  readonly store: Store;
  readonly post: Pick<GuardedPost, "refusalOf">;
  /** 32 bytes, under which secrets are sealed. */
  readonly sealingKey: Uint8Array;
  /** Returns the address of this service for callers, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Called when something is to be delivered. */
  readonly wake: () => void;
  /** Returns the Unix time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Creates the use cases of webhooks. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, post, sealingKey, baseUrl, wake, now = Date.now } = options;

  const get = async (dappId: string, id: string): Promise<StoredWebhook> => {
    const webhook = await findWebhook(store.db, id, dappId);
    if (webhook === undefined) throw new NotFoundError(`webhook ${id}`);
    return webhook;
  };
  const view = async (webhooks: readonly StoredWebhook[]): Promise<WebhookView[]> => {
    const counts = await countUndelivered(
      store.db,
      webhooks.map(({ id }) => id),
    );
    return webhooks.map((webhook) => {
      const count = (state: "pending" | "failed"): number =>
        counts.find((one) => one.webhookId === webhook.id && one.state === state)?.count ?? 0;
      const { scheme, paused, previous } = webhook;
      const secret = scheme === "v1" ? undefined : openSecret(sealingKey, webhook, webhook.secret);
      return {
        id: webhook.id,
        url: webhook.url,
        description: webhook.description,
        events: webhook.events as readonly WebhookEvent[],
        signature: scheme === "v1" ? "hmac" : "ed25519",
        publicKey: secret === undefined ? null : formatVerifyingKey(scheme, secret),
        createdAt: formatTime(webhook.createdAt),
        previousSecretUntil: previous !== null && previous.until > now() ? formatTime(previous.until) : null,
        pausedAt: paused === null ? null : formatTime(paused.at),
        pausedWhy: paused?.why ?? null,
        failingSince: webhook.failingSince === null ? null : formatTime(webhook.failingSince),
        lastSuccessAt: webhook.lastSuccessAt === null ? null : formatTime(webhook.lastSuccessAt),
        pending: count("pending"),
        failed: count("failed"),
      };
    });
  };
  const viewOne = async (webhook: StoredWebhook): Promise<WebhookView> => (await view([webhook]))[0]!;
  const viewNew = async (webhook: StoredWebhook, secret: Uint8Array): Promise<NewWebhookView> => ({
    ...(await viewOne(webhook)),
    secret: webhook.scheme === "v1" ? formatVerifyingKey("v1", secret) : null,
  });
  const parseUrl = (text: string): string => {
    const refusal = post.refusalOf(text);
    if (refusal !== undefined)
      throw new InvalidParameterError([
        { path: "/url", message: `${JSON.stringify(text)} can't be used: ${refusal}` },
      ]);
    const url = new URL(text);
    url.hash = "";
    return url.href;
  };

  return {
    async create(dappId, { url, events, description, signature }) {
      const secret = createSecret();
      const row = { id: createId("wh", now()), dappId, scheme: signature === "hmac" ? "v1" : "v1a" } as const;
      const webhook: StoredWebhook = {
        ...row,
        url: parseUrl(url),
        description,
        events,
        secret: sealWebhookSecret(sealingKey, row, secret),
        previous: null,
        createdAt: now(),
        paused: null,
        failingSince: null,
        lastSuccessAt: null,
      };
      await store.write(async (db) => {
        await lockDapp(db, dappId);
        if ((await listWebhooks(db, dappId)).length >= MAX_WEBHOOKS)
          throw new InvalidParameterError([
            { path: "/url", message: `a dapp has at most ${MAX_WEBHOOKS} webhooks: delete one first` },
          ]);
        await insertWebhook(db, webhook);
      });
      return await viewNew(webhook, secret);
    },
    list: async (dappId) => await view(await listWebhooks(store.db, dappId)),
    get: async (dappId, id) => await viewOne(await get(dappId, id)),
    async change(dappId, id, { url, events, description, paused }) {
      const before = await get(dappId, id);
      const changes: Parameters<typeof changeWebhook>[2] = {
        ...(url === undefined ? {} : { url: parseUrl(url) }),
        ...(events === undefined ? {} : { events }),
        ...(description === undefined ? {} : { description }),
        ...(paused === true && before.paused === null ? { paused: { at: now(), why: "owner" } } : {}),
        ...(paused === false ? { paused: null } : {}),
      };
      await store.write((db) => changeWebhook(db, id, changes));
      if (paused === false) wake();
      return await viewOne(await get(dappId, id));
    },
    async delete(dappId, id) {
      const last = await viewOne(await get(dappId, id));
      await deleteWebhook(store, id);
      return last;
    },
    async rotate(dappId, id, { overlapHours }): Promise<NewWebhookView> {
      const webhook = await get(dappId, id);
      const secret = createSecret();
      const previous = { secret: webhook.secret, until: now() + overlapHours * HOUR_MS };
      const sealed = sealWebhookSecret(sealingKey, webhook, secret);
      // After another rotation at the same time, this one replaces the secret of that one.
      if (!(await replaceSecret(store, id, sealed, previous)))
        return await this.rotate(dappId, id, { overlapHours });
      return await viewNew({ ...webhook, secret: sealed, previous }, secret);
    },
    async test(dappId, id, { type }) {
      await get(dappId, id);
      const at = now();
      const body = {
        type,
        timestamp: formatTime(at),
        data: createSample(type, { webhookId: id, at, baseUrl: baseUrl() }),
      };
      const event = {
        id: createId("evt", at),
        dappId,
        type,
        subject: null,
        at,
        write: () => JSON.stringify(body),
      };
      await store.write((db) => insertEvent(db, event, [id], true));
      wake();
      return { eventId: event.id };
    },
    async attempts(dappId, id, { limit, cursor, ...filter }) {
      await get(dappId, id);
      const { rows, nextCursor } = await readPage(limit, (most) =>
        listAttempts(store.db, { ...filter, webhookId: id, limit: most, before: cursor }),
      );
      return { items: rows.map(viewAttempt), nextCursor };
    },
    async attempt(dappId, id, attemptId) {
      await get(dappId, id);
      const found = await findAttempt(store.db, id, attemptId);
      if (found === undefined)
        throw new NotFoundError(`attempt ${attemptId} of this webhook: attempts are kept for 30 days`);
      const { event_id, at, body, answer_headers } = found;
      return {
        ...viewAttempt(found),
        headers: plainHeaders(event_id, at),
        body,
        answerHeaders:
          answer_headers === null ? null : (JSON.parse(answer_headers) as Readonly<Record<string, string>>),
      };
    },
    async replay(dappId, id, which) {
      await get(dappId, id);
      const from = "since" in which ? { fromId: firstId("evt", which.since) } : which;
      const replayed = await store.write((db) => replayDeliveries(db, id, from, now()));
      if ("eventId" in which && replayed === 0)
        throw new NotFoundError(`event ${which.eventId} for this webhook: events are kept for 30 days`);
      wake();
      return { replayed };
    },
  };
}

function viewAttempt(attempt: LoggedAttempt): WebhookAttempt {
  const { status, next_at, delivery_state, is_awaited } = attempt;
  return {
    id: attempt.id,
    eventId: attempt.event_id,
    number: attempt.number,
    type: attempt.type,
    subject: attempt.subject,
    at: formatTime(attempt.at),
    durationMs: attempt.duration_ms,
    success: isSuccess(status),
    status,
    error: attempt.error,
    answer: attempt.answer,
    nextAttemptAt: is_awaited && next_at !== null ? formatTime(next_at) : null,
    eventState: delivery_state,
  };
}

/** Digits of an id that nothing has. */
const NO_DIGITS = "0".repeat(26);
const NO_HASH = `0x${"0".repeat(64)}`;
const REQUEST_ID = `req_${NO_DIGITS}`;
const TRIGGER = { triggerId: `sch_${NO_DIGITS}`, name: "every hour", network: "sepolia" };
const LOG_TRIGGER = { ...TRIGGER, triggerId: `trg_${NO_DIGITS}`, name: "deposits" };

/**
 * Returns the data of a test event: what a real one of its type has, about requests and triggers that don't exist, with `test` true.
 *
 * @param context.baseUrl address of the service for callers. @param context.at Unix time in milliseconds.
 */
function createSample(
  type: ToldEvent,
  context: { readonly webhookId: string; readonly baseUrl: string; readonly at: number },
): Readonly<Record<string, unknown>> {
  const { webhookId, baseUrl, at } = context;
  const request = {
    test: true,
    id: REQUEST_ID,
    sequence: 4,
    kind: "random",
    network: "sepolia",
  };
  const statusUrl = `${baseUrl}/api/requests/${REQUEST_ID}`;
  const ended = { statusUrl, requestId: NO_HASH, shareUrl: `${baseUrl}/r/${REQUEST_ID}` };
  switch (type) {
    case "request.fulfilled":
      return { ...request, state: "fulfilled", ...ended, result: ["42"] };
    case "request.failed":
      return {
        ...request,
        kind: "function",
        state: "failed",
        ...ended,
        error: { code: "function_failed", message: "no price" },
      };
    case "request.reopened":
      return {
        ...request,
        sequence: 5,
        state: "submitted",
        detail: "a reorg removed the result",
        statusUrl,
      };
    case "trigger.skipped":
      return {
        test: true,
        ...TRIGGER,
        reason: "missed",
        detail: "the service was not running",
        count: 1,
        from: formatTime(at),
        to: formatTime(at),
      };
    case "trigger.reverted":
      return {
        test: true,
        ...LOG_TRIGGER,
        requestId: REQUEST_ID,
        runId: `run_${NO_DIGITS}`,
        blockNumber: 1,
        blockHash: NO_HASH,
        transactionHash: NO_HASH,
        logIndex: 0,
      };
    case "webhook.test":
      return { test: true, webhookId };
  }
}
