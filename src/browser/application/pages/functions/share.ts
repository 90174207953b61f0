import { findDraft, type Draft } from "./draft.ts";

/** Marks the format, so that a later one can tell links of this one. */
const PREFIX = "#v1.";
/** Most characters of a draft as JSON: a source of 30,720 bytes and its arguments, with room for escapes. */
const MAX_DRAFT_CHARACTERS = 262_144;

/**
 * Writes a draft as the fragment of an address: `#v1.` and base64url of deflated JSON. Browsers send no fragment to a server, so a shared
 * source is in no log.
 */
export async function encodeFragment(draft: Draft): Promise<string> {
  const packed = await new Response(
    new Blob([JSON.stringify(draft)]).stream().pipeThrough(new CompressionStream("deflate-raw")),
  ).bytes();
  return PREFIX + packed.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Reads {@link encodeFragment}; `undefined` for anything else. A link is untrusted: what it unpacks to is limited. */
export async function decodeFragment(fragment: string): Promise<Draft | undefined> {
  if (!fragment.startsWith(PREFIX)) return undefined;
  try {
    const packed = Uint8Array.fromBase64(fragment.slice(PREFIX.length), { alphabet: "base64url" });
    return findDraft(JSON.parse(await inflate(packed)));
  } catch {
    return undefined;
  }
}

/** Stops at the limit, before a small link becomes a text that fills the memory. */
async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<string> {
  const reader = new Blob([packed])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))
    .getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (text.length > MAX_DRAFT_CHARACTERS) throw new RangeError("the link holds too much");
  }
}
