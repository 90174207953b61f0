import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "../../src/client/index.ts";
import { createSecret, formatVerifyingKey, signMessage } from "../../src/webhooks/signature.ts";

const body = JSON.stringify({
  type: "request.fulfilled",
  timestamp: "2026-11-26T08:00:00Z",
  data: { id: "zażółć" },
});
const secret = createSecret();
const key = formatVerifyingKey("v1", secret);
const sign = (scheme: "v1" | "v1a", atMs = Date.now(), secrets = [secret]) =>
  Object.fromEntries(signMessage({ id: "evt_1", body, atMs, scheme, secrets }));

test("a message of the standard's own package is verified and parsed", async () => {
  const at = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(key).sign("evt_1", at, body),
  };
  const message = {
    id: "evt_1",
    type: "request.fulfilled",
    timestamp: "2026-11-26T08:00:00Z",
    data: { id: "zażółć" },
  };
  expect(await verifyWebhook(body, headers, key)).toEqual(message);
  expect(await verifyWebhook(Buffer.from(body), new Headers(headers), key)).toEqual(message);
});

test("the vector that the standard's libraries publish is signed and verified", async () => {
  const published = {
    key: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    atMs: 1_614_265_330_000,
    body: '{"test": 2432232314}',
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const secrets = [Buffer.from(published.key.slice("whsec_".length), "base64")];
  const headers = Object.fromEntries(signMessage({ ...published, scheme: "v1", secrets }));
  expect(headers).toEqual({
    "content-type": "application/json; charset=utf-8",
    "webhook-id": published.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": published.signature,
  });
  vi.useFakeTimers({ now: published.atMs, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const { key, body } = published;
  expect(await verifyWebhook(body, headers, key)).toMatchObject({ id: published.id, test: 2_432_232_314 });
  const altered = { ...headers, "webhook-signature": published.signature.replace("1OE=", "1OA=") };
  await expect(verifyWebhook(body, altered, key)).rejects.toBeInstanceOf(WebhookVerificationError);
});

test("an ed25519 message is verified with the public key", async () => {
  expect(await verifyWebhook(body, sign("v1a"), formatVerifyingKey("v1a", secret))).toMatchObject({
    id: "evt_1",
  });
});

test("during a rotation, the previous secret verifies", async () => {
  const headers = sign("v1", Date.now(), [createSecret(), secret]);
  expect(await verifyWebhook(body, headers, key)).toMatchObject({ id: "evt_1" });
});

test.each([
  ["another body", `${body} `, sign("v1"), key],
  ["another id", body, { ...sign("v1"), "webhook-id": "evt_2" }, key],
  ["another secret", body, sign("v1"), formatVerifyingKey("v1", createSecret())],
  ["the other scheme", body, sign("v1"), formatVerifyingKey("v1a", secret)],
  ["an old message", body, sign("v1", Date.now() - 310_000), key],
  ["a message from the future", body, sign("v1", Date.now() + 310_000), key],
  ["a time that is none", body, { ...sign("v1"), "webhook-timestamp": "now" }, key],
  ["a signature that is not base64", body, { ...sign("v1"), "webhook-signature": "v1,%%% v1" }, key],
  ["no headers", body, {}, key],
])("%s is refused", async (_what, given, headers, its) => {
  await expect(verifyWebhook(given, headers, its)).rejects.toBeInstanceOf(WebhookVerificationError);
});

test.each(["", "whsec_", "secret", "whsec_%%%", key.slice("whsec_".length)])(
  "the secret %j is none of a webhook",
  async (given) => {
    await expect(verifyWebhook(body, sign("v1"), given)).rejects.toThrow(
      new TypeError("the secret must be a webhook's whsec_… or whpk_…, as Tyche gave it"),
    );
  },
);
