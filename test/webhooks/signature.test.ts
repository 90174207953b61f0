import { createPublicKey, verify } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { nextAttempt } from "../../src/webhooks/delivery.ts";
import { createSecret, formatVerifyingKey, signMessage } from "../../src/webhooks/signature.ts";

const body = '{"type":"webhook.test","data":{"text":"zażółć"}}';
const message = { id: "evt_1", body, atMs: Date.now() };

test("the standard's own package verifies an HMAC signature, and refuses another body", () => {
  const secret = createSecret();
  const headers = Object.fromEntries(signMessage({ ...message, scheme: "v1", secrets: [secret] }));
  const webhook = new Webhook(formatVerifyingKey("v1", secret));
  expect(webhook.verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => webhook.verify(`${body} `, headers)).toThrow("No matching signature");
});

test("during a rotation, either secret verifies", () => {
  const [present, previous, other] = [createSecret(), createSecret(), createSecret()] as const;
  const headers = Object.fromEntries(signMessage({ ...message, scheme: "v1", secrets: [present, previous] }));
  for (const secret of [present, previous])
    expect(new Webhook(formatVerifyingKey("v1", secret)).verify(body, headers)).toBeDefined();
  expect(() => new Webhook(formatVerifyingKey("v1", other)).verify(body, headers)).toThrow("No matching");
});

test("the public key verifies an ed25519 signature", () => {
  const secret = createSecret();
  const headers = Object.fromEntries(signMessage({ ...message, scheme: "v1a", secrets: [secret] }));
  const raw = Buffer.from(formatVerifyingKey("v1a", secret).replace(/^whpk_/, ""), "base64");
  expect(raw).toHaveLength(32);
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") },
    format: "jwk",
  });
  const signature = Buffer.from(headers["webhook-signature"]!.replace(/^v1a,/, ""), "base64");
  const content = Buffer.from(`evt_1.${headers["webhook-timestamp"]}.${body}`);
  expect(verify(null, content, key, signature)).toBe(true);
});

test("ten attempts in 75 hours", () => {
  const pauses = Array.from({ length: 9 }, (_, i) => nextAttempt(i + 1, { now: 0, random: () => 0.5 })!);
  expect(pauses.map((ms) => ms / 1_000)).toEqual([
    5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
  ]);
  expect(pauses.reduce((sum, ms) => sum + ms) / 3_600_000).toBeCloseTo(75.6, 1);
  expect(nextAttempt(10, { now: 0 })).toBeNull();
});

test("pauses are spread by a tenth", () => {
  expect([0, 1].map((random) => nextAttempt(2, { now: 0, random: () => random }))).toEqual([
    270_000, 330_000,
  ]);
});

test.each([
  ["120", 120_000],
  ["Thu, 01 Jan 1970 00:01:00 GMT", 60_000],
  ["1", 5_000],
  ["999999999", 86_400_000],
  ["-5", 5_000],
  ["soon", 5_000],
  ["", 5_000],
])("Retry-After %j postpones the second attempt to %i ms", (retryAfter, at) => {
  expect(nextAttempt(1, { now: 0, retryAfter, random: () => 0.5 })).toBe(at);
});
