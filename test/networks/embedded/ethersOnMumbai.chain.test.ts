import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { JsonRpcProvider, Network, Wallet } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { EMBEDDED_GAS_PRICE_WEI } from "../../../src/networks/embedded/process/anvil.ts";
import { startEmbeddedNode } from "../../../src/networks/embedded/embeddedNode.ts";

/** The first account of Anvil's mnemonic. */
const SECRET_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

test("with a network of its own, ethers asks the chain of id 80001 for fees, not a gas station", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  const node = await startEmbeddedNode({
    chainId: 80_001,
    folder,
    preferredPort: 0,
    rpcOrigins: [],
    onCompacted: () => {},
    onRestart: () => {},
    onError: (error) => console.error(error),
  });
  // As in docs/networks.md, "RPC of the embedded chains".
  const provider = new JsonRpcProvider(node.rpcUrl, new Network("mumbai", 80_001), { staticNetwork: true });
  onTestFinished(async () => {
    provider.destroy();
    await node.close();
    rmSync(folder, { recursive: true, force: true });
  });
  expect((await provider.getFeeData()).gasPrice).toBe(EMBEDDED_GAS_PRICE_WEI);
  const wallet = new Wallet(SECRET_KEY, provider);
  const { hash } = await wallet.sendTransaction({ to: wallet.address, value: 1n });
  // Not `wait()`: it looks again only after another block, which never comes if it misses the one with the transaction.
  await expect.poll(() => provider.getTransactionReceipt(hash)).toMatchObject({ status: 1 });
});
