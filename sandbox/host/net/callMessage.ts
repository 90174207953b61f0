import { MAX_CALL_HEADER_BYTES } from "../../limits.ts";
import { isShallow } from "../frames.ts";
import { HostCallRefusal } from "../hostCall.ts";

/** Nesting of a request: its object, the list of headers, a header. */
const MAX_DEPTH = 3;
const PREFIX_BYTES = 4;

/**
 * Parses the message of a host call as hostile input; the form is that of `sandbox/guest/hostCalls.ts`.
 * @throws {HostCallRefusal} If it is malformed.
 */
export function parseCallMessage(message: Uint8Array): {
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
} {
  if (message.length < PREFIX_BYTES) throw new HostCallRefusal("malformed host call");
  const length = new DataView(message.buffer, message.byteOffset).getUint32(0);
  const end = PREFIX_BYTES + length;
  if (length > MAX_CALL_HEADER_BYTES || end > message.length)
    throw new HostCallRefusal("malformed host call");
  const json = message.subarray(PREFIX_BYTES, end);
  if (!isShallow(json, MAX_DEPTH)) throw new HostCallRefusal("malformed host call");
  let header: unknown;
  try {
    header = JSON.parse(Buffer.from(json).toString());
  } catch {
    throw new HostCallRefusal("malformed host call");
  }
  if (typeof header !== "object" || header === null) throw new HostCallRefusal("malformed host call");
  return { header: header as Readonly<Record<string, unknown>>, body: message.subarray(end) };
}

/** Encodes an answer: a header in ASCII, with every other character escaped, and a body. */
export function formatCallMessage(header: object, body: Uint8Array = new Uint8Array(0)): Uint8Array {
  const json = JSON.stringify(header).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length);
  return Buffer.concat([prefix, Buffer.from(json, "latin1"), body]);
}
