import { createOneOffClients } from "./clients.ts";
import { FetchFailureError, type FetchFailure } from "./fetchFailure.ts";
import { failureOf, headerList, type GuardedFetchOptions } from "./guardedFetch.ts";
import { createHostPolicy, hostOf, portOf } from "./hostPolicy.ts";
import { outgoingHeaders, type HeaderList } from "./requestHeaders.ts";

/** A message to send to somebody's server. */
export interface PostedMessage {
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** The beginning of an answer. */
export interface PostAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: HeaderList;
  /** At most as many bytes of the body, as they came, as were asked for; fewer if the server stopped or was too slow. */
  readonly beginning: Uint8Array;
}

export type PostOutcome =
  | { readonly ok: true; readonly answer: PostAnswer }
  | { readonly ok: false; readonly failure: FetchFailure };

export interface GuardedPost {
  /** Says in a sentence why no message may go to a URL, as far as that shows before its name is looked up. */
  refusalOf(url: string): string | undefined;
  /**
   * Sends a message once, over a connection of its own, and reads the beginning of the answer; a redirect is an answer. Never rejects.
   *
   * @param limits.timeoutMs for everything, from the name lookup on. @param limits.signal aborts it.
   */
  post(
    message: PostedMessage,
    limits: { readonly timeoutMs: number; readonly maxAnswerBytes: number; readonly signal?: AbortSignal },
  ): Promise<PostOutcome>;
}

/**
 * Creates a sender of messages to servers that others name. It reaches only public https servers and the operator's own exceptions, with the
 * checks of the sources' `fetch`.
 */
export function createGuardedPost(
  options: GuardedFetchOptions & { readonly userAgent: string },
): GuardedPost {
  const { resolve, ca, userAgent } = options;
  const policy = createHostPolicy(options.allowHosts);
  const clients = createOneOffClients({ policy, resolve, ca });

  const assertTarget = (text: string): URL => {
    const url = URL.parse(text);
    if (url === null) throw new FetchFailureError("invalid", "it is not an absolute URL");
    policy.assertUrl(url);
    if (url.protocol !== "https:" && !policy.isAllowed(hostOf(url), portOf(url)))
      throw new FetchFailureError(
        "refused",
        "fetch failed",
        "Refused: http. Only https is used, except to hosts that the operator allows (TYCHE_ALLOW_HOSTS).",
      );
    return url;
  };

  return {
    refusalOf(url) {
      try {
        assertTarget(url);
        return undefined;
      } catch (error) {
        return (error as FetchFailureError).failure.hint;
      }
    },
    async post({ url: text, headers, body }, { timeoutMs, maxAnswerBytes, signal: run }) {
      const time = AbortSignal.timeout(timeoutMs);
      const signal = run === undefined ? time : AbortSignal.any([time, run]);
      try {
        const url = assertTarget(text);
        const sent = outgoingHeaders([["accept-encoding", "identity"], ...headers], userAgent);
        const { dispatcher, release } = await clients(url, { signal, maxBodyBytes: maxAnswerBytes });
        try {
          const reply = await dispatcher.request({
            path: url.pathname + url.search,
            method: "POST",
            headers: sent,
            body,
            signal,
            responseHeaders: "raw",
          });
          const received = headerList(reply.headers as unknown as readonly (Buffer | string)[]);
          const beginning = await readBeginning(reply.body, maxAnswerBytes);
          return { ok: true, answer: { status: reply.statusCode, headers: received, beginning } };
        } finally {
          await release();
        }
      } catch (error) {
        return { ok: false, failure: failureOf(error, { time, run, timeoutMs }) };
      }
    },
  };
}

/** Reads up to this many bytes. A body that breaks off, or takes too long, has begun all the same. */
async function readBeginning(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // The status has come, and it is what counts.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
