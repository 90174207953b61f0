/** An event of an event stream (HTML Living Standard, section 9.2.6). */
export interface StreamEvent {
  /** Last id that the stream sent; empty before the first. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/**
 * Reads server-sent events. An event that is incomplete when the stream ends is dropped.
 *
 * @param onBytes called whenever bytes arrive, comments included.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = "";
  let id = "";
  let event = "message";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      buffer += decoder.decode(value, { stream: true });
      // A line may end in CR LF, so a CR at the end of the buffer waits for the next character.
      const lines = buffer.split(/\r\n|\n|\r(?!$)/);
      buffer = lines.pop()!;
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { id, event, data: data.join("\n") };
          event = "message";
          data = [];
          continue;
        }
        const { name, content } = readField(line);
        if (name === "id" && !content.includes("\0")) id = content;
        else if (name === "event") event = content;
        else if (name === "data") data.push(content);
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function readField(line: string): { readonly name: string; readonly content: string } {
  const at = line.indexOf(":");
  if (at === -1) return { name: line, content: "" };
  const start = line[at + 1] === " " ? at + 2 : at + 1;
  return { name: line.slice(0, at), content: line.slice(start) };
}
