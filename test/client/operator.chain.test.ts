import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ConnectionError,
  createClient,
  createExplorer,
  createOperator,
  TimeoutError,
  type CallOptions,
} from "../../src/client/index.ts";

const FAUCET = { network: "sepolia", address: `0x${"12".repeat(20)}` };

/** Starts a service that accepts every call, counts it, and dies before it answers. */
async function startDyingService() {
  const calls: string[] = [];
  const idempotencyKeys = new Set<string>();
  const server = createServer(({ method, url, headers, socket }) => {
    calls.push(`${method} ${url}`);
    const key = headers["idempotency-key"];
    if (typeof key === "string") idempotencyKeys.add(key);
    socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const connection = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    retries: 2,
    retryDelayMs: 1,
  };
  return { calls, idempotencyKeys, connection, operator: createOperator({ ...connection, token: "t" }) };
}

describe("a call whose answer is lost", () => {
  test("a call of the faucet is not sent again: the first may have been paid", async () => {
    const { calls, connection, operator } = await startDyingService();
    const client = createClient({ ...connection, apiKey: "k" });
    for (const call of [() => operator.faucet(FAUCET), () => client.faucet(FAUCET)])
      await expect(call()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toEqual(["POST /api/faucet", "POST /api/faucet"]);
  });

  test("what creates a dapp or a key is sent again with the same idempotency key", async () => {
    const { calls, idempotencyKeys, operator } = await startDyingService();
    for (const call of [
      () => operator.createDapp({ name: "shop" }),
      () => operator.addKey("d", {}, { idempotencyKey: "mine" }),
    ])
      await expect(call()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toEqual([
      ...Array.from({ length: 3 }, () => "POST /api/dapps"),
      ...Array.from({ length: 3 }, () => "POST /api/dapps/d/keys"),
    ]);
    expect([...idempotencyKeys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), "mine"]);
  });

  test("what changes nothing the second time is sent again", async () => {
    const { calls, operator } = await startDyingService();
    for (const call of [() => operator.dapps(), () => operator.revokeKey("d", "k")])
      await expect(call()).rejects.toBeInstanceOf(ConnectionError);
    expect(calls).toEqual([
      ...Array.from({ length: 3 }, () => "GET /api/dapps"),
      ...Array.from({ length: 3 }, () => "DELETE /api/dapps/d/keys/k"),
    ]);
  });
});

describe("a call that lasts", () => {
  /** Starts a service that accepts calls and never answers. */
  async function startSilentService() {
    const server = createServer(() => {});
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("option: signal and timeoutMs end it, of the operator and of the explorer", async () => {
    const baseUrl = await startSilentService();
    const operator = createOperator({ baseUrl, token: "t" });
    const explorer = createExplorer({ baseUrl });
    for (const call of [
      (options: CallOptions) => operator.dapps(options),
      (options: CallOptions) => operator.dapp("d", options),
      (options: CallOptions) => operator.createDapp({ name: "shop" }, options),
      (options: CallOptions) => operator.addKey("d", {}, options),
      (options: CallOptions) => explorer.networks(options),
      (options: CallOptions) => explorer.blocks("sepolia", undefined, options),
      (options: CallOptions) => explorer.search("1", undefined, options),
    ]) {
      const reason = new Error("enough");
      const controller = new AbortController();
      const aborted = call({ signal: controller.signal });
      controller.abort(reason);
      await expect(aborted).rejects.toBe(reason);
      await expect(call({ timeoutMs: 20 })).rejects.toBeInstanceOf(TimeoutError);
    }
  });
});
