import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConnectionError, createClient, createOperator } from "../../src/client/index.ts";

const FAUCET = { network: "sepolia", address: `0x${"12".repeat(20)}` };

/** A service that takes every call and dies before it answers. Counts the calls. */
async function startDyingService() {
  const calls: string[] = [];
  const server = createServer((request) => {
    calls.push(`${request.method} ${request.url}`);
    request.socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const connection = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    retries: 2,
    retryDelayMs: 1,
  };
  return { calls, connection, operator: createOperator({ ...connection, token: "t" }) };
}

describe("a call whose answer is lost", () => {
  test("behaviour: what creates something is not sent again: the first may have done it", async () => {
    const { calls, connection, operator } = await startDyingService();
    const client = createClient({ ...connection, apiKey: "k" });
    for (const call of [
      () => operator.createDapp({ name: "shop" }),
      () => operator.addKey("d"),
      () => operator.faucet(FAUCET),
      () => client.faucet(FAUCET),
    ])
      await expect(call()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toEqual([
      "POST /api/dapps",
      "POST /api/dapps/d/keys",
      "POST /api/faucet",
      "POST /api/faucet",
    ]);
  });

  test("behaviour: what changes nothing the second time is sent again", async () => {
    const { calls, operator } = await startDyingService();
    for (const call of [() => operator.dapps(), () => operator.revokeKey("d", "k")])
      await expect(call()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toEqual([
      ...Array.from({ length: 3 }, () => "GET /api/dapps"),
      ...Array.from({ length: 3 }, () => "DELETE /api/dapps/d/keys/k"),
    ]);
  });
});
