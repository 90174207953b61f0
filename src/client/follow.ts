import { ConnectionError, TycheClientError, AnswerTooLargeError } from "./errors.ts";
import { createApiError, type OpenStream, type Transport } from "./transport.ts";
import type { StateChange } from "./types.ts";

/** An event of a request's stream: each change of state, and finally the result. */
export type RequestEvent<Result> =
  | ({ readonly type: "state" } & StateChange)
  | { readonly type: "result"; readonly result: Result };

/** A connection that lasted this long does not count as failed, even if it brought nothing new. */
const STEADY_MS = 5_000;

/**
 * Yields a request's states as they arrive and then its result, across as many connections as it takes; each connection resumes
 * after the last state received. Gives up when as many connections in a row as there are retries bring nothing new.
 *
 * @throws {ApiError} the failure that ended the request, or an answer that retrying can't fix; {@link ConnectionError}.
 */
export async function* follow<Result>(
  transport: Transport,
  id: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<RequestEvent<Result>> {
  let lastSeq = 0;
  for (let retry = 0; ; retry += 1) {
    const openedAt = performance.now();
    try {
      const headers = {
        accept: "text/event-stream",
        ...(lastSeq === 0 ? {} : { "last-event-id": String(lastSeq) }),
      };
      const path = `/api/requests/${encodeURIComponent(id)}`;
      const stream = await transport.open({ method: "GET", path, headers, signal });
      for await (const event of readStream<Result>(stream)) {
        if (event.type === "state") {
          if (event.seq <= lastSeq) continue;
          lastSeq = event.seq;
        }
        retry = -1;
        yield event;
        if (event.type === "result") return;
      }
      throw new ConnectionError("the event stream ended before the request did");
    } catch (error) {
      signal?.throwIfAborted();
      if (performance.now() - openedAt > STEADY_MS) retry = -1;
      // A connection that breaks during a read throws whatever the platform throws.
      const reason =
        error instanceof TycheClientError ? error : new ConnectionError("the event stream broke off", error);
      await transport.backOff(reason, Math.max(retry, 0), signal);
    }
  }
}

async function* readStream<Result>({ body, touch, end }: OpenStream): AsyncGenerator<RequestEvent<Result>> {
  try {
    if (body === null) return;
    for await (const { event, data: text } of readEvents(body, touch)) {
      const { data } = JSON.parse(text) as { data: Readonly<Record<string, unknown>> };
      if (event === "failure") throw createApiError({ code: String(data["code"]), status: 0, data });
      else if (event === "result") yield { type: "result", result: data as Result };
      else if (event === "state") yield { type: "state", ...(data as unknown as StateChange) };
    }
  } finally {
    end();
  }
}

/** An event of an event stream (HTML Living Standard, section 9.2.6). */
export interface StreamEvent {
  /** Last id that the stream sent; empty before the first. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Largest event. Results are at most a few kilobytes. */
const MAX_EVENT_CHARACTERS = 4_000_000;

/**
 * Reads server-sent events. An event that is incomplete when the stream ends is dropped.
 *
 * @throws {AnswerTooLargeError} for an event of more than 4,000,000 characters.
 * @param onBytes called whenever bytes arrive, comments included.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let line = "";
  let held = "";
  let id = "";
  let event = "message";
  let data: string[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      const text = held + decoder.decode(value, { stream: true });
      // A line may end in CR LF, so a CR at the end waits for the next character.
      held = text.endsWith("\r") ? "\r" : "";
      const parts = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
      parts[0] = line + parts[0]!;
      line = parts.pop()!;
      for (const line of parts) {
        if (line === "") {
          if (data.length > 0) yield { id, event, data: data.join("\n") };
          event = "message";
          data = [];
          size = 0;
          continue;
        }
        const { name, content } = readField(line);
        if (name === "id" && !content.includes("\0")) id = content;
        else if (name === "event") event = content;
        else if (name === "data") data.push(content);
        size += line.length;
        assertBounded(size);
      }
      assertBounded(size + line.length);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function assertBounded(characters: number): void {
  if (characters > MAX_EVENT_CHARACTERS) throw new AnswerTooLargeError(`${MAX_EVENT_CHARACTERS} characters`);
}

function readField(line: string): { readonly name: string; readonly content: string } {
  const at = line.indexOf(":");
  if (at === -1) return { name: line, content: "" };
  const start = line[at + 1] === " " ? at + 2 : at + 1;
  return { name: line.slice(0, at), content: line.slice(start) };
}
