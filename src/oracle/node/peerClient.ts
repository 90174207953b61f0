import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { endpointOf } from "../../chainlink/offchainConfig.ts";
import { uintBytes } from "../protocol/byteReader.ts";

/** Path at which a node accepts messages. */
export const MESSAGES_PATH = "/oracle/messages";
/** Longest body of a request between nodes, in bytes. */
export const MAX_BODY_BYTES = 524_288;
/** Maximum number of messages queued for one peer, and of their bytes; the oldest is dropped first, and is sent again later. */
const MAX_QUEUED = 2_000;
const MAX_QUEUED_BYTES = 8 * 2 ** 20;
const TIMEOUT_MS = 10_000;
/** Pause after a failure, before the next attempt, which carries new messages too. */
const PAUSE_MS = 250;
/**
 * Interval between bodies under load, so that each carries messages of many requests: sending and receiving a body costs more than ten
 * messages in it.
 */
const PACE_MS = 200;
/** Bodies that may go without a pause after an idle time: a single request needs five, and at most as many as it has messages. */
const UNPACED_BODIES = 10;

/** Statuses with which a peer refuses a body for good, however often it is sent: it can't read it, or it is too long. */
const REFUSED = new Set([400, 413]);

/** Sends messages to one peer. */
export interface Peer {
  send(message: Uint8Array): void;
}

/**
 * Creates the connection to one peer: messages gather while a request is in flight, and the next one carries them all. Messages that
 * can't be delivered are eventually dropped: the protocol repeats everything.
 */
export function createPeer(url: string, signal: AbortSignal): Peer {
  const target = endpointOf(url, MESSAGES_PATH);
  const isSecure = target.protocol === "https:";
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
  signal.addEventListener("abort", () => agent.destroy(), { once: true });
  const queue: Uint8Array[] = [];
  let isBusy = false;
  const pace = createPace();

  /** Returns whether the body is done with: it was taken, or never will be. */
  const post = (body: Uint8Array): Promise<boolean> =>
    new Promise((resolve) => {
      const request = (isSecure ? requestHttps : requestHttp)(
        target,
        {
          method: "POST",
          agent,
          timeout: TIMEOUT_MS,
          headers: { "content-type": "application/octet-stream", "content-length": body.length },
        },
        (response) => {
          response.resume();
          response.once("close", () =>
            resolve(response.statusCode === 204 || REFUSED.has(response.statusCode!)),
          );
        },
      );
      request.once("timeout", () => request.destroy());
      request.once("error", () => resolve(false));
      request.end(body);
    });

  const pump = async (): Promise<void> => {
    while (queue.length > 0 && !signal.aborted) {
      await pace();
      if (signal.aborted) break;
      const taken = takeBody(queue);
      if (await post(Buffer.concat(taken.flatMap((one) => [uintBytes(one.length, 4), one])))) continue;
      queue.unshift(...taken);
      dropOldest(queue);
      await pause(PAUSE_MS);
    }
    isBusy = false;
  };

  return {
    send(message) {
      queue.push(message);
      dropOldest(queue);
      if (isBusy) return;
      isBusy = true;
      // Everything sent in the same turn goes together. `pump` never rejects.
      setImmediate(() => void pump());
    },
  };
}

/** Creates a function that waits until the next body may be sent. */
function createPace(): () => Promise<void> {
  let bodies = UNPACED_BODIES;
  let at = performance.now();
  return async () => {
    const now = performance.now();
    bodies = Math.min(UNPACED_BODIES, bodies + (now - at) / PACE_MS) - 1;
    at = now;
    if (bodies < 0) await pause(-bodies * PACE_MS);
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Drops messages from the front until the rest is within the limits. */
function dropOldest(queue: Uint8Array[]): void {
  let bytes = 0;
  let kept = 0;
  for (const message of queue.toReversed()) {
    bytes += message.length;
    if (kept === MAX_QUEUED || bytes > MAX_QUEUED_BYTES) break;
    kept += 1;
  }
  queue.splice(0, queue.length - kept);
}

/** Takes as many messages from the front as fit one body, at least one. */
function takeBody(queue: Uint8Array[]): readonly Uint8Array[] {
  let bytes = 0;
  let count = 0;
  for (const message of queue) {
    bytes += 4 + message.length;
    if (count > 0 && bytes > MAX_BODY_BYTES) break;
    count += 1;
  }
  return queue.splice(0, count);
}
