import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createChainClient } from "../../src/evm/client.ts";
import type { BlockHead, ChainClient } from "../../src/evm/client.ts";
import { startTestChain } from "../support/anvil.ts";
import type { TestChain } from "../support/anvil.ts";
import { every, first, startFaultyNode } from "../support/faultyNode.ts";
import type { FaultyNode } from "../support/faultyNode.ts";

/** Timeout for calls that are never answered. */
const IMPATIENT_MS = 400;

let chain: TestChain;
let node: FaultyNode;
let client: ChainClient;
let undo: (() => void)[] = [];

beforeAll(async () => {
  chain = await startTestChain();
  node = await startFaultyNode(chain);
});
afterEach(async () => {
  for (const each of undo) each();
  undo = [];
  await client.close();
});
afterAll(async () => {
  await node.close();
  await chain.close();
});

const open = (url: string, timeoutMs = 20_000): ChainClient =>
  (client = createChainClient(url, { timeoutMs }));
/** Waits for an answer: on a busy machine an impatient client may time out. */
const answers = async (): Promise<void> =>
  await vi.waitFor(async () => expect(await client.request("eth_chainId")).toBe("0x7a69"));
const inject = (rule: Parameters<FaultyNode["inject"]>[0]): void => void undo.push(node.inject(rule));
const urlOf = (kind: string): string =>
  kind === "HTTP" ? node.httpUrl : kind === "WebSocket" ? node.wsUrl : node.ipcPath;

describe.each(["HTTP", "WebSocket", "Unix socket"])("over %s", (kind) => {
  test("asks and gets answers, many at once", async () => {
    open(urlOf(kind));
    const ids = await Promise.all(Array.from({ length: 20 }, () => client.request("eth_chainId")));
    expect(new Set(ids)).toEqual(new Set(["0x7a69"]));
  });

  test("says whether one node answers", () => {
    expect(open(urlOf(kind)).isOneNode).toBe(kind !== "HTTP");
  });

  test("the node's own refusal counts as an answer and keeps its text", async () => {
    open(urlOf(kind));
    await expect(client.request("eth_nonsense")).rejects.toMatchObject({
      code: "chain_unavailable",
      answered: true,
      message: expect.stringContaining("eth_nonsense"),
    });
  });

  test("a reverted call has its revert data", async () => {
    inject(every("eth_call", { error: { code: 3, message: "execution reverted", data: "0x08c379a0" } }));
    open(urlOf(kind));
    await expect(client.call({ to: `0x${"11".repeat(20)}`, data: "0x" })).rejects.toMatchObject({
      answered: true,
      data: "0x08c379a0",
    });
  });

  test("an answer that never comes ends the wait", async () => {
    inject(first(1, "eth_chainId", { dropAnswer: true }));
    open(urlOf(kind), IMPATIENT_MS);
    await expect(client.request("eth_chainId")).rejects.toMatchObject({ answered: false, retryable: true });
    await answers();
  });

  test("a broken connection fails what waits on it, and the next request makes a new one", async () => {
    inject(first(1, "eth_chainId", { breakLine: true }));
    open(urlOf(kind));
    await expect(client.request("eth_chainId")).rejects.toMatchObject({ answered: false });
    await expect(client.request("eth_chainId")).resolves.toBe("0x7a69");
  });

  test("an answer that is no block is refused", async () => {
    inject(first(1, "eth_getBlockByNumber", { result: () => ({ number: "twelve" }) }));
    open(urlOf(kind));
    await expect(client.getHead("latest")).rejects.toThrow("number");
  });
});

describe.each(["WebSocket", "Unix socket"])("over %s", (kind) => {
  test("an answer that comes twice counts once", async () => {
    inject(first(1, "eth_chainId", { times: 2 }));
    open(urlOf(kind));
    await expect(client.request("eth_chainId")).resolves.toBe("0x7a69");
    await expect(client.request("eth_blockNumber")).resolves.toMatch(/^0x/);
  });

  test("a slow answer holds up no other", async () => {
    const other = Promise.withResolvers<void>();
    inject(first(1, "eth_chainId", { until: other.promise }));
    open(urlOf(kind));
    const slow = client.request("eth_chainId");
    await client.request("eth_blockNumber");
    other.resolve();
    await expect(slow).resolves.toBe("0x7a69");
  });

  test("a silent connection is given up for a new one", async () => {
    open(urlOf(kind), IMPATIENT_MS);
    await answers();
    node.freezeLines();
    await expect(client.request("eth_chainId")).rejects.toThrow(`${IMPATIENT_MS} ms`);
    await answers();
  });

  test("heads are pushed, over a broken connection too", async () => {
    open(urlOf(kind));
    const heads: BlockHead[] = [];
    const stop = await client.subscribeHeads((head) => heads.push(head));
    await chain.client.request("anvil_mine", ["0x1"]);
    await vi.waitFor(() => expect(heads).toHaveLength(1));
    node.breakLines();
    await vi.waitFor(
      async () => {
        await chain.client.request("anvil_mine", ["0x1"]);
        expect(heads.length).toBeGreaterThan(1);
      },
      { interval: 100 },
    );
    stop?.();
  });

  test("a node that refuses to push again is asked until it does", async () => {
    open(urlOf(kind));
    const heads: BlockHead[] = [];
    await client.subscribeHeads((head) => heads.push(head));
    inject(first(3, "eth_subscribe", { error: { code: -32_000, message: "busy" } }));
    node.breakLines();
    await vi.waitFor(
      async () => {
        await chain.client.request("anvil_mine", ["0x1"]);
        expect(heads.length).toBeGreaterThan(0);
      },
      { interval: 100 },
    );
  });

  test("a subscription that was ended tells nothing more", async () => {
    open(urlOf(kind));
    const heads: BlockHead[] = [];
    const stop = await client.subscribeHeads((head) => heads.push(head));
    stop?.();
    await chain.client.request("anvil_mine", ["0x2"]);
    await client.request("eth_blockNumber");
    expect(heads).toHaveLength(0);
  });

  test("a closed client takes no requests", async () => {
    open(urlOf(kind));
    await client.request("eth_chainId");
    await client.close();
    await expect(client.request("eth_chainId")).rejects.toThrow("closed");
  });
});

test.each([429, 500, 502, 503])("HTTP status %d is the node not answering", async (status) => {
  inject(first(1, "eth_chainId", { status }));
  open(node.httpUrl);
  await expect(client.request("eth_chainId")).rejects.toMatchObject({ answered: false, retryable: true });
  await expect(client.request("eth_chainId")).resolves.toBe("0x7a69");
});

test("nobody listens at a socket", async () => {
  open("/tmp/tyche-nobody-listens");
  await expect(client.request("eth_chainId")).rejects.toMatchObject({ answered: false });
});

test("messages of any shape end no more than the call that they answer", async () => {
  // Converting it to text or to a number throws.
  const thing = { toString: 1, valueOf: 1 };
  const server = new WebSocketServer({ port: 0 });
  server.on("connection", (line) =>
    line.on("message", (text: Buffer) => {
      const { id, method } = JSON.parse(text.toString()) as { id: number; method: string };
      const lies: readonly object[] = [
        { params: null },
        { params: { subscription: thing } },
        { params: thing, method: "eth_subscription" },
        { id: thing, result: thing },
        { error: thing },
      ];
      for (const lie of lies) line.send(JSON.stringify(lie));
      line.send(
        JSON.stringify(
          method === "eth_call"
            ? { id, error: { code: thing, message: thing, data: thing } }
            : { id, result: thing },
        ),
      );
    }),
  );
  await new Promise((resolve) => server.once("listening", resolve));
  open(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await expect(client.request("eth_call")).rejects.toMatchObject({ answered: true });
  await expect(client.subscribeHeads(() => {})).rejects.toThrow("not the id of a subscription");
  await expect(client.getHead("latest")).rejects.toThrow("number");
  server.close();
});
