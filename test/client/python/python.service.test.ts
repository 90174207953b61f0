import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createSecret, formatVerifyingKey, signMessage } from "../../../src/webhooks/signature.ts";
import { joinService, shared, type SharedDapp } from "../../support/shared.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
let tyche: SharedDapp;
shared.beforeAll(async ({ service }) => {
  tyche = await joinService(service);
});

test("the Python client's own tests pass with the machine's Python", async () => {
  const body = JSON.stringify({ type: "request.fulfilled", timestamp: "2026-11-26T08:00:00Z", data: {} });
  const secrets = [createSecret(), createSecret()];
  const now = Date.now();
  const signed = (["v1", "v1a"] as const).map((scheme) => {
    const sign = (atMs: number) =>
      Object.fromEntries(signMessage({ id: "evt_1", body, atMs, scheme, secrets }));
    return [body, sign(now), formatVerifyingKey(scheme, secrets[1]!), sign(now - 301_000)];
  });
  const env = {
    PATH: process.env["PATH"],
    PYTHONPATH: path.join(ROOT, "src/client/python"),
    PYTHONDONTWRITEBYTECODE: "1",
    TYCHE_URL: tyche.url,
    TYCHE_API_KEY: tyche.apiKey,
    SIGNED: JSON.stringify(signed),
  };
  const file = path.join(import.meta.dirname, "python.py");
  const { stderr } = await promisify(execFile)("python3", ["-W", "error", file], { env });
  expect(stderr).toMatch(/Ran \d+ tests[^]*OK/);
});
