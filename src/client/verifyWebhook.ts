import { WebhookVerificationError } from "./errors.ts";

/** Largest difference between a message's time and this machine's, in seconds (Standard Webhooks leaves it to the receiver). */
const TOLERANCE_SECONDS = 300;

/** A message that Tyche sent. */
export interface WebhookMessage {
  /** The same for every attempt to deliver the event: ignore one that you have handled. */
  readonly id: string;
  /** Such as `request.fulfilled`. */
  readonly type: string;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Verifies that a message was sent by whoever has the secret, less than five minutes ago, and parses it. Needs WebCrypto.
 *
 * @param rawBody the body as it came, not parsed and written again.
 * @param headers the message's headers: `Headers`, or an object with lower-case names as Node has it.
 * @param secret `whsec_…`, or the public key `whpk_…` of an ed25519 webhook.
 * @throws {WebhookVerificationError} for any other message; answer it with 400.
 * @throws {TypeError} if the secret is neither.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  secret: string,
): Promise<WebhookMessage> {
  const read = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== "string" || value === "")
      throw new WebhookVerificationError(`the message has no ${name} header`);
    return value;
  };
  const id = read("webhook-id");
  const timestamp = read("webhook-timestamp");
  const signatures = read("webhook-signature").split(" ");
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  const ageSeconds = Math.abs(Date.now() / 1_000 - seconds);
  if (!(ageSeconds <= TOLERANCE_SECONDS))
    throw new WebhookVerificationError(
      `the message's time differs by more than ${TOLERANCE_SECONDS} seconds from this machine's`,
    );
  const [, kind, encoded = ""] = /^wh(sec|pk)_(.+)$/.exec(secret) ?? [];
  const bytes = tryBase64(encoded);
  if (kind === undefined || bytes === undefined)
    throw new TypeError("the secret must be a webhook's whsec_… or whpk_…, as Tyche gave it");
  const isPublic = kind === "pk";
  const algorithm = isPublic ? "Ed25519" : { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  const body = typeof rawBody === "string" ? new TextEncoder().encode(rawBody) : rawBody;
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  const scheme = isPublic ? "v1a," : "v1,";
  for (const signature of signatures) {
    if (!signature.startsWith(scheme)) continue;
    const given = tryBase64(signature.slice(scheme.length));
    // Compares in constant time.
    if (given === undefined || !(await crypto.subtle.verify(algorithm, key, given, content))) continue;
    const message = JSON.parse(new TextDecoder().decode(body)) as Omit<WebhookMessage, "id">;
    return { ...message, id };
  }
  throw new WebhookVerificationError("no signature of the message fits the secret");
}

function tryBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
