import { Client } from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { parseDatabaseUrl } from "./databaseUrl.ts";

/** Messages between replicas: ids of things to look up, and questions. Losing one costs only time: the tables are authoritative. */
export type BusMessage =
  /** Requests were stored. */
  | { readonly kind: "changed"; readonly network: string; readonly ids: readonly string[] }
  /** A network's lease was released. */
  | { readonly kind: "free"; readonly network: string }
  /** Asks the network's dispatcher why a request is not making progress. */
  | {
      readonly kind: "why";
      readonly network: string;
      readonly id: string;
      readonly question: string;
    }
  /** The answer to a `why`. */
  | { readonly kind: "because"; readonly question: string; readonly why: string | null };

/** Tells other replicas what changed, and receives their messages. */
export interface Bus {
  /** Queues a message, which is sent soon, batched with others. Never throws; messages that can't be sent are lost. */
  tell(message: BusMessage): void;
  /** Subscribes to other replicas' messages; returns a function that unsubscribes. Listeners must not throw. */
  listen(listener: (message: BusMessage) => void): () => void;
  close(): Promise<void>;
}

const CHANNEL = "tyche";
/** A notification's payload is limited to less than 8,000 bytes; ids and names are ASCII, reasons are truncated. */
const MAX_IDS = 150;
const MAX_WHY_CHARACTERS = 1_500;
/** Messages beyond this are dropped: the replicas that wait for them poll anyway. */
const MAX_WAITING = 1_000;
const RECONNECT_MS = 250;
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Opens the bus of a server database: LISTEN and NOTIFY over a dedicated connection, which is reopened when it breaks. Messages are sent
 * after the transaction they report, not within it: PostgreSQL commits notifying transactions one at a time, each with its own flush.
 *
 * @param url see `createPostgresDialect`. Secret.
 * @param replica id of this replica; its own messages are ignored.
 */
export function openPostgresBus(
  url: string,
  { replica, onError }: { readonly replica: string; readonly onError: (error: unknown) => void },
): Bus {
  const listeners = new Set<(message: BusMessage) => void>();
  const waiting: BusMessage[] = [];
  const closing = new AbortController();
  let client: Client | undefined;
  let sending: Promise<void> | undefined;

  const hear = (payload: string | undefined): void => {
    const message = parseMessage(payload, replica);
    if (message !== undefined) for (const listener of listeners) listener(message);
  };

  /** Connects, and resolves once the connection has ended. */
  const follow = async (): Promise<void> => {
    const next = new Client({
      ...parseDatabaseUrl(url),
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    });
    const ended = new Promise<void>((resolve) => {
      next.once("end", resolve);
      next.on("error", () => resolve());
    });
    next.on("notification", ({ payload }) => hear(payload));
    try {
      await next.connect();
      await next.query(`LISTEN ${CHANNEL}`);
      client = next;
      send();
      if (!closing.signal.aborted) await ended;
    } finally {
      client = undefined;
      await next.end().catch(() => {});
    }
  };
  const following = (async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await follow().catch(onError);
      await sleep(RECONNECT_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  })();

  const sendAll = async (): Promise<void> => {
    while (client !== undefined && waiting.length > 0) {
      const payloads = gather(waiting.splice(0)).map((message) =>
        JSON.stringify({ ...message, from: replica }),
      );
      await client.query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", [
        CHANNEL,
        payloads,
      ]);
    }
  };
  const send = (): void => {
    sending ??= Promise.resolve()
      .then(sendAll)
      .catch(onError)
      .finally(() => (sending = undefined));
  };

  return {
    tell(message) {
      if (waiting.length < MAX_WAITING) waiting.push(message);
      send();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      await sending;
      closing.abort();
      await client?.end().catch(() => {});
      await following;
    },
  };
}

/** Merges the changes of each network into as few messages as possible. */
function gather(messages: readonly BusMessage[]): BusMessage[] {
  const changed = new Map<string, Set<string>>();
  const others: BusMessage[] = [];
  for (const message of messages) {
    if (message.kind === "changed") {
      const ids = changed.get(message.network) ?? new Set();
      changed.set(message.network, ids);
      for (const id of message.ids) ids.add(id);
    } else if (message.kind === "because")
      others.push({ ...message, why: message.why?.slice(0, MAX_WHY_CHARACTERS) ?? null });
    else others.push(message);
  }
  for (const [network, set] of changed) {
    const ids = [...set];
    for (let at = 0; at < ids.length; at += MAX_IDS)
      others.push({ kind: "changed", network, ids: ids.slice(at, at + MAX_IDS) });
  }
  return others;
}

/** Returns `undefined` for this replica's own messages and for malformed ones: anyone with the database password may notify. */
function parseMessage(payload: string | undefined, replica: string): BusMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload ?? "");
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { from, kind, network, ids, id, question, why } = value as Readonly<Record<string, unknown>>;
  if (from === replica) return undefined;
  const isText = (one: unknown): one is string => typeof one === "string";
  if (kind === "because" && isText(question) && (why === null || isText(why))) return { kind, question, why };
  if (!isText(network)) return undefined;
  if (kind === "free") return { kind, network };
  if (kind === "changed" && Array.isArray(ids) && ids.every(isText)) return { kind, network, ids };
  if (kind === "why" && isText(id) && isText(question)) return { kind, network, id, question };
  return undefined;
}
