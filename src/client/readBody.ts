import { AnswerTooLargeError, ConnectionError } from "./errors.ts";

/** Largest answer, decompressed: a page of 100 requests whose parameters take all of `http.maxBodyBytes`, 262,144, has 26 MB. */
const MAX_ANSWER_BYTES = 32_000_000;

/**
 * Reads the whole body of a response as text.
 *
 * @throws {AnswerTooLargeError} as soon as more than 32,000,000 bytes have arrived; {@link ConnectionError} if the body is incomplete.
 */
export async function readBody(response: Response, signal: AbortSignal | undefined): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLargeError(`${MAX_ANSWER_BYTES} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    await reader.cancel().catch(() => {});
    signal?.throwIfAborted();
    if (error instanceof AnswerTooLargeError) throw error;
    throw new ConnectionError(`the answer with status ${response.status} is incomplete`, error);
  }
}
