import { AnswerTooLargeError } from "./errors.ts";

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
