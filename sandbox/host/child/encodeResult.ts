import type { RunError } from "../../run.ts";
import { encodeFrame } from "../frames.ts";
import { TO_PARENT, type ResultMessage } from "../messages.ts";
import { MAX_HEADER_BYTES } from "../meter.ts";

/** Length that a detail is cut to if the error's texts are too long together, in UTF-16 units. */
const SHORT_DETAIL_CHARS = 1_024;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Encodes the result of a run. An error whose texts exceed a header, when escaped as JSON, loses its stack and most of its
 * detail.
 */
export function encodeResult(header: Omit<ResultMessage, "type" | "body">, body: Uint8Array): Buffer {
  const { error } = header;
  if (error === null || Buffer.byteLength(JSON.stringify(header)) <= MAX_HEADER_BYTES)
    return encodeFrame(TO_PARENT.result, header, body);
  const { detail, ...short }: Mutable<RunError> = error;
  delete short.stack;
  const shortDetail = detail?.slice(0, SHORT_DETAIL_CHARS);
  return encodeFrame(
    TO_PARENT.result,
    { ...header, error: shortDetail === undefined ? short : { ...short, detail: shortDetail } },
    body,
  );
}
