import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openUnixSocket } from "../../../src/evm/connection.ts";
import { startEmbeddedNode, type EmbeddedNode } from "../../../src/networks/embedded/embeddedNode.ts";
import { testAccount } from "../../support/anvil.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "../../../src/networks/embedded/process/anvil.ts";

let folder: string;
let node: EmbeddedNode;
let restarts: { isUp: boolean; lostBlocks: number }[];
let errors: unknown[];

const start = async (): Promise<void> => {
  restarts = [];
  errors = [];
  node = await startEmbeddedNode({
    chainId: 31337,
    folder,
    preferredPort: 0,
    rpcOrigins: [],
    onCompacted: () => {},
    onRestart: (restart) => restarts.push(restart),
    onError: (error) => errors.push(error),
  });
};
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  nonce = 0;
  await start();
  await pay();
  await node.begin(1);
});
afterEach(async () => {
  await node.close();
  rmSync(folder, { recursive: true, force: true });
});

const payee = testAccount(3);
let nonce = 0;
/** Sends one wei; the balance shows how often it happened. */
async function pay(): Promise<void> {
  const { raw } = await testAccount(0).sign({
    type: "legacy",
    chainId: 31337,
    nonce: nonce++,
    gasPrice: EMBEDDED_GAS_PRICE_WEI,
    gas: 21_000n,
    to: payee.address,
    value: 1n,
  });
  await node.client.request("eth_sendRawTransactionSync", [raw]);
}
const headHash = async () => (await node.client.getHead("latest"))!.hash;
const errorTexts = () => errors.map((error) => (error as Error).message);
/** Resets the chain through Anvil's own socket, past all refusals. */
const reset = async (): Promise<void> => {
  const connection = openUnixSocket(node.client.rpcUrl, 60_000);
  await connection.request("anvil_reset", []);
  connection.close();
};

test.each(["anvil_reset", "hardhat_reset", "anvil_loadState"])(
  "%s is refused with what to do instead",
  async (method) => {
    const before = await headHash();
    const response = await fetch(node.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params: [] }),
    });
    expect(await response.json()).toEqual({
      jsonrpc: "2.0",
      id: 7,
      error: {
        code: -32_004,
        message: expect.stringMatching(/is refused here.*evm_snapshot and evm_revert/),
      },
    });
    expect([await headHash(), restarts]).toEqual([before, []]);
  },
);

test("a chain that was reset all the same comes back with all its blocks", async () => {
  for (let i = 0; i < 3; i += 1) await pay();
  const [before, balance] = [await headHash(), await node.client.getBalanceWei(payee.address)];
  await reset();
  await vi.waitFor(() => expect(restarts).toMatchObject([{ isUp: true, lostBlocks: 0 }]));
  expect(errorTexts()).toEqual(["another chain has replaced the embedded one"]);
  expect([await headHash(), await node.client.getBalanceWei(payee.address)]).toEqual([before, balance]);
  await pay();
  expect(await node.client.getBalanceWei(payee.address)).toBe(balance + 1n);
});

test("a chain that is closed right after a reset is whole at the next start", async () => {
  for (let i = 0; i < 3; i += 1) await pay();
  const before = await headHash();
  await reset();
  await node.close();
  await start();
  node.resume(1);
  expect(await headHash()).toBe(before);
});

test("a chain whose stored state is gone, too, is over", async () => {
  rmSync(path.join(folder, "state.json"));
  await reset();
  await vi.waitFor(() => expect(restarts.at(-1)).toMatchObject({ isUp: false }));
});
