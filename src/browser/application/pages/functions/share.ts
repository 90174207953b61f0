import { findDraft, type Draft } from "./draft.ts";

/** Identifies the format, so that a later one can tell this one's links apart. */
const PREFIX = "#v1.";
/** Maximum length of a draft as JSON, in characters: a source of 30,720 bytes and its arguments, with room for escapes. */
const MAX_DRAFT_CHARACTERS = 262_144;

/**
 * Encodes a draft as a URL fragment: `#v1.` and base64url of deflated JSON. Browsers never send fragments to a server, so a shared source
 * appears in no log.
 */
export async function encodeFragment(draft: Draft): Promise<string> {
  const packed = await new Response(
    new Blob([JSON.stringify(draft)]).stream().pipeThrough(new CompressionStream("deflate-raw")),
  ).bytes();
  return PREFIX + toBase64Url(packed);
}

/** Whether a fragment holds a draft, readable or not. */
export function isDraftFragment(fragment: string): boolean {
  return /^#v\d+\./.test(fragment);
}

/**
 * Decodes what {@link encodeFragment} wrote; returns `undefined` for anything else. A link is untrusted, so its unpacked size is limited, and it
 * names no secrets.
 */
export async function decodeFragment(fragment: string): Promise<Draft | undefined> {
  if (!fragment.startsWith(PREFIX)) return undefined;
  try {
    const packed = fromBase64Url(fragment.slice(PREFIX.length));
    const draft = findDraft(JSON.parse(await inflate(packed)));
    // Whoever opens a link decides which of their secrets somebody's source may read.
    return draft && { ...draft, secrets: undefined };
  } catch {
    return undefined;
  }
}

/** Only the newest browsers have a `Uint8Array` method for it. */
function toBase64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}

/** Stops at the limit, before a small link inflates to a text that fills the memory. */
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
    if (text.length > MAX_DRAFT_CHARACTERS) throw new RangeError("the link is too long");
  }
}
