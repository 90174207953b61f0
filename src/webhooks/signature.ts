import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  randomBytes,
  sign,
  type KeyObject,
} from "node:crypto";
import type { WebhookScheme } from "../store/schema.ts";

/** Bytes of an HMAC secret (Standard Webhooks: 24 to 64), and of an ed25519 seed (RFC 8032). */
const SECRET_BYTES = 32;
/** DER in front of an ed25519 seed in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** Generates the secret of a webhook: an HMAC key, or the seed of an ed25519 key. */
export function createSecret(): Uint8Array {
  return randomBytes(SECRET_BYTES);
}

/** Writes what a receiver verifies with: `whsec_` and the HMAC key, or `whpk_` and the public ed25519 key, in base64. */
export function formatVerifyingKey(scheme: WebhookScheme, secret: Uint8Array): string {
  if (scheme === "v1") return `whsec_${Buffer.from(secret).toString("base64")}`;
  const { x = "" } = createPublicKey(ed25519Key(secret)).export({ format: "jwk" });
  return `whpk_${Buffer.from(x, "base64url").toString("base64")}`;
}

/** Returns the headers of a message but its signature. @param atMs time of the attempt. */
export function plainHeaders(id: string, atMs: number) {
  return {
    "content-type": "application/json; charset=utf-8",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(atMs / 1_000)),
  };
}

/**
 * Returns the headers of a message (Standard Webhooks, "Webhook headers"). The signature covers `id.timestamp.body`.
 *
 * @param message.secrets all that sign: the present one, and during a rotation the previous one.
 * @param message.atMs time of this attempt.
 */
export function signMessage(message: {
  readonly id: string;
  readonly body: string;
  readonly atMs: number;
  readonly scheme: WebhookScheme;
  readonly secrets: readonly Uint8Array[];
}): readonly (readonly [name: string, value: string])[] {
  const { id, body, scheme, secrets } = message;
  const headers = plainHeaders(id, message.atMs);
  const content = Buffer.from(`${id}.${headers["webhook-timestamp"]}.${body}`);
  const signatures = secrets.map((secret) => {
    const bytes =
      scheme === "v1"
        ? createHmac("sha256", secret).update(content).digest()
        : sign(null, content, ed25519Key(secret));
    return `${scheme},${bytes.toString("base64")}`;
  });
  return [...Object.entries(headers), ["webhook-signature", signatures.join(" ")]];
}

function ed25519Key(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
}
