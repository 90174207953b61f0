import fs, { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { getContractAddress, type Hex } from "viem";
import { afterEach, expect, test, vi } from "vitest";
import { parseReceipt, toQuantity } from "../../../src/lib/nodeAnswers.ts";
import type { ChainClient } from "../../../src/evm/client.ts";
import {
  EMBEDDED_GAS_PRICE_WEI,
  KEPT_TRANSACTION_BLOCKS,
} from "../../../src/networks/embedded/process/anvil.ts";
import type { AnvilState } from "../../../src/networks/embedded/storage/anvilState.ts";
import type { CompactionReport } from "../../../src/networks/embedded/storage/compactor.ts";
import {
  startEmbeddedNode,
  type EmbeddedNode,
  chainFilesIn,
} from "../../../src/networks/embedded/embeddedNode.ts";
import { readBlockLog } from "../../../src/networks/embedded/storage/blockLog.ts";
import { messageOf } from "../../../src/lib/errors.ts";
import { testAccount } from "../../support/anvil.ts";
import { holdFlushes, watchFlushes } from "../../support/flushes.ts";

/**
 * A contract that stores the two words of its calldata, slot and value, then logs the value; without calldata it returns the
 * hash of the previous block:
 *   calldatasize ? { sstore(calldataload(0), calldataload(32)); log1(0, 0, calldataload(32)) } : return(blockhash(number - 1))
 */
const RUNTIME = "36601157600143034060005260206000f35b6020356000355560203560006000a100";
const CREATION: Hex = `0x60${(RUNTIME.length / 2).toString(16)}600c60003960${(RUNTIME.length / 2).toString(16)}6000f3${RUNTIME}`;
const CHAIN_ID = 31337;

const account = testAccount(0);
const folders: string[] = [];
const nodes: EmbeddedNode[] = [];

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const newFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  folders.push(folder);
  return folder;
};

interface Started {
  readonly node: EmbeddedNode;
  readonly client: ChainClient;
  readonly folder: string;
  readonly compactions: CompactionReport[];
  readonly restarts: { isUp: boolean; lostBlocks: number }[];
}

/** Starts a node and, on a new chain, deploys the contract above. */
async function start(
  folder: string,
  {
    isNew = true,
    onError = (error: unknown): void => console.error(error),
    ...options
  }: { isNew?: boolean; onError?: (error: unknown) => void; maxDataKilobytes?: number } = {},
): Promise<Started> {
  const compactions: CompactionReport[] = [];
  const restarts: { isUp: boolean; lostBlocks: number }[] = [];
  const node = await startEmbeddedNode({
    chainId: CHAIN_ID,
    folder,
    preferredPort: 0,
    rpcOrigins: [],
    onCompacted: (report) => compactions.push(report),
    onRestart: (restart) => restarts.push(restart),
    onError,
    ...options,
  });
  nodes.push(node);
  if (isNew) {
    await send(node.client, 0, undefined, CREATION);
    await node.begin(1);
  } else node.resume(1);
  return { node, client: node.client, folder, compactions, restarts };
}

const word = (value: number): string => value.toString(16).padStart(64, "0");
const store = (slot: number, value: number): Hex => `0x${word(slot)}${word(value)}`;
const sign = async (nonce: number, to: Hex | undefined, data: Hex): Promise<Hex> => {
  const { raw } = await account.sign({
    type: "legacy",
    chainId: CHAIN_ID,
    nonce,
    gasPrice: EMBEDDED_GAS_PRICE_WEI,
    gas: 1_000_000n,
    data,
    ...(to === undefined ? {} : { to }),
  });
  return raw;
};
const send = async (client: ChainClient, nonce: number, to: Hex | undefined, data: Hex) =>
  parseReceipt(await client.request("eth_sendRawTransactionSync", [await sign(nonce, to, data)]));
const contractOf = async (client: ChainClient): Promise<Hex> => {
  const block = (await client.request("eth_getBlockByNumber", ["0x1", false])) as { transactions: Hex[] };
  const receipt = (await client.request("eth_getTransactionReceipt", [block.transactions[0]])) as {
    contractAddress: Hex;
  };
  return receipt.contractAddress;
};
const rpc = async (url: string, method: string, params: readonly unknown[]) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return (await response.json()) as { result: any; error?: { message: string } }; // eslint-disable-line typescript/no-explicit-any
};
const pidOf = (folder: string): number =>
  Number.parseInt(readFileSync(path.join(folder, "anvil.pid"), "utf8"), 10);
/** Kills the current process, unless it was killed before; returns whether it did. */
const tryKill = (folder: string, killed: Set<number>): boolean => {
  try {
    const pid = pidOf(folder);
    if (killed.has(pid)) return false;
    killed.add(pid);
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
};
/** Returns the number of the newest block in the history of a chain's folder. */
const lastKept = (folder: string): unknown => {
  const database = new DatabaseSync(chainFilesIn(folder).historyFile, { readOnly: true });
  try {
    return database.prepare("SELECT max(number) AS last FROM blocks").get()!["last"];
  } finally {
    database.close();
  }
};
/** Sets a slot and clears it again, `slots` times; returns the next nonce. */
const waste = async (client: ChainClient, to: Hex, from: number, slots: number): Promise<number> => {
  for (let i = 0; i < slots; i += 1) {
    await send(client, from + 2 * i, to, store(1_000 + from + i, 1));
    await send(client, from + 2 * i + 1, to, store(1_000 + from + i, 0));
  }
  return from + 2 * slots;
};
const compact = async ({ node, compactions }: Started, count = 1): Promise<void> => {
  // A cheat call that changes nothing makes the node store the state again.
  await rpc(node.rpcUrl, "anvil_setNonce", [`0x${"77".repeat(20)}`, "0x0"]);
  await expect.poll(() => compactions.length).toBeGreaterThanOrEqual(count);
};
/** Reads everything that a client may have seen. */
const look = async (client: ChainClient, contract: Hex, receipts: readonly Hex[]) => {
  const ask = (method: string, ...parameters: unknown[]) => client.request(method, parameters);
  const head = (await client.getHead("latest"))!;
  return {
    head,
    parent: await client.getHead(head.number - 1n),
    receipts: await Promise.all(receipts.map((hash) => ask("eth_getTransactionReceipt", hash))),
    // Right after a receipt, Anvil may have the transaction among those that wait still.
    transactions: await Promise.all(
      receipts.map((hash) =>
        vi.waitFor(async () => {
          const transaction = await ask("eth_getTransactionByHash", hash);
          expect(transaction).toMatchObject({ blockHash: expect.stringMatching(/^0x/) });
          return transaction;
        }),
      ),
    ),
    balances: await Promise.all(
      [account.address, testAccount(3).address, contract].map((one) => client.getBalanceWei(one)),
    ),
    nonces: await Promise.all([account.address, contract].map((one) => client.getNonce(one, "latest"))),
    code: await client.getCode(contract),
    storage: await Promise.all(
      [1, 2, 3, 1_001].map((slot) => ask("eth_getStorageAt", contract, `0x${word(slot)}`, "latest")),
    ),
    gasPrice: await ask("eth_gasPrice"),
  };
};

test("a compaction leaves out zeros, and nobody can tell", async () => {
  const started = await start(newFolder());
  const { client } = started;
  const contract = await contractOf(client);
  const kept = await send(client, 1, contract, store(2, 42));
  let nonce = await waste(client, contract, 2, 20);
  const before = await look(client, contract, [kept.transactionHash]);
  await compact(started);
  expect(started.compactions[0]).toMatchObject({ zeroSlots: 20 });
  expect(await look(client, contract, [kept.transactionHash])).toEqual(before);
  expect(await client.call({ to: contract, data: "0x" })).toBe(before.head.parentHash);
  const next = await send(client, nonce++, contract, store(3, 7));
  expect(next.blockNumber).toBe(before.head.number + 1n);
  expect((await client.getHead("latest"))!.parentHash).toBe(before.head.hash);
});

test("transactions sent while the chain is compacted are mined, each once", async () => {
  const started = await start(newFolder());
  const { client, node } = started;
  const contract = await contractOf(client);
  let busy = true;
  const compacting = (async () => {
    for (let i = 1; busy; i += 1) await compact(started, i);
  })();
  const heads: bigint[] = [];
  const stop = await client.subscribeHeads((head) => heads.push(head.number));
  let last = 0;
  while (last < 120 || started.compactions.length < 3) {
    const nonce = (last += 1);
    if (nonce % 2 === 0) await send(client, nonce, contract, store(nonce, nonce));
    else await rpc(node.rpcUrl, "eth_sendRawTransaction", [await sign(nonce, contract, store(nonce, nonce))]);
  }
  busy = false;
  await compacting;
  stop?.();
  await expect.poll(() => client.getNonce(account.address, "latest")).toBe(last + 1);
  expect(heads).toEqual([...new Set(heads)].toSorted((a, b) => Number(a - b)));
  for (const slot of [1, 2, 60, last - 1, last])
    expect(
      BigInt((await client.request("eth_getStorageAt", [contract, `0x${word(slot)}`, "latest"])) as Hex),
    ).toBe(BigInt(slot));
});

test("what Anvil forgets is answered all the same, for users' tools too", async () => {
  const { client, node } = await start(newFolder());
  const contract = await contractOf(client);
  const old = await send(client, 1, contract, store(2, 42));
  const number = toQuantity(old.blockNumber);
  const questions: [string, unknown[]][] = [
    ["eth_getTransactionByHash", [old.transactionHash]],
    ["eth_getTransactionReceipt", [old.transactionHash]],
    ["eth_getBlockByNumber", [number, false]],
    ["eth_getBlockByNumber", [number, true]],
    ["eth_getBlockByHash", [old.blockHash, true]],
    ["eth_getBlockReceipts", [number]],
    ["eth_getLogs", [{ address: contract, fromBlock: number, toBlock: number }]],
    ["eth_getLogs", [{ blockHash: old.blockHash, topics: [[`0x${word(42)}`]] }]],
  ];
  await look(client, contract, [old.transactionHash]);
  const ask = async () => {
    const answers = [];
    for (const [method, params] of questions) answers.push((await rpc(node.rpcUrl, method, params)).result);
    return answers;
  };
  const before = await ask();
  await client.request("anvil_mine", [toQuantity(KEPT_TRANSACTION_BLOCKS + 20)]);
  const later = await send(client, 2, contract, store(2, 43));
  expect(await ask()).toEqual(before);
  const logs = await client.getLogs({ addresses: [contract], fromBlock: 0n, toBlock: later.blockNumber });
  expect(logs.map((log) => log.blockNumber)).toEqual([old.blockNumber, later.blockNumber]);
  const none = await rpc(node.rpcUrl, "eth_getTransactionReceipt", [`0x${"1".repeat(64)}`]);
  expect(none.result).toBeNull();
});

test("kill -9 of Anvil loses nothing that was told, and the port stays", async () => {
  const started = await start(newFolder());
  const { client, node, folder, restarts } = started;
  const contract = await contractOf(client);
  let nonce = await waste(client, contract, 1, 20);
  await compact(started);
  nonce = await waste(client, contract, nonce, 10);
  const last = await send(client, nonce, contract, store(2, 42));
  const before = await look(client, contract, [last.transactionHash]);
  process.kill(pidOf(folder), "SIGKILL");
  await expect.poll(() => restarts).toMatchObject([{ isUp: true, lostBlocks: 0 }]);
  expect(await look(client, contract, [last.transactionHash])).toEqual(before);
  const { result } = await rpc(node.rpcUrl, "eth_blockNumber", []);
  expect(BigInt(result)).toBe(before.head.number);
  expect(await client.call({ to: contract, data: "0x" })).toBe(before.head.parentHash);
  await send(client, nonce + 1, contract, store(2, 43));
});

test("while its process comes back, nobody is told that automine is off", async () => {
  const { client, node, folder, restarts } = await start(newFolder());
  await waste(client, await contractOf(client), 1, 40);
  const usual = await node.warnings();
  process.kill(pidOf(folder), "SIGKILL");
  const told = new Set<string>();
  for (; restarts.length === 0; await setImmediate())
    for (const warning of await node.warnings().catch(() => usual)) told.add(warning);
  expect([...told]).toEqual(usual);
});

test("killed again and again, also while it comes back, it keeps whatever it told", async () => {
  const { client, node, folder, restarts } = await start(newFolder());
  const contract = await contractOf(client);
  const heads = new Map<bigint, Hex>();
  await client.subscribeHeads(({ number, hash }) => heads.set(number, hash));
  const nonces: number[] = [];
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      nonces.push(await client.getNonce(account.address, "latest"));
      const raw = await sign(nonces.at(-1)!, contract, store(2, nonces.length));
      // Sent like users' tools, which aren't notified when it is mined.
      await rpc(node.rpcUrl, "eth_sendRawTransaction", [raw]);
    }
  })();
  const killed = new Set<number>();
  // Kills without blocks in between hit while the node is recovering.
  for (const blocks of [4, 6, 0, 0, 8, 1]) {
    const before = heads.size;
    await expect.poll(() => heads.size).toBeGreaterThanOrEqual(before + blocks);
    await expect.poll(() => tryKill(folder, killed), { interval: 5 }).toBe(true);
  }
  const before = restarts.length;
  await expect.poll(() => restarts.length).toBeGreaterThan(before);
  isOver = true;
  await writing;
  expect(new Set(restarts.map(({ isUp, lostBlocks }) => `${isUp} ${lostBlocks}`))).toEqual(
    new Set(["true 0"]),
  );
  expect(nonces).toEqual(nonces.toSorted((a, b) => a - b));
  expect(heads.size).toBeGreaterThan(10);
  for (const [number, hash] of heads) expect((await client.getHead(number))!.hash).toBe(hash);
});

/** Copies the folder as it is; a file that is being replaced may vanish before it is copied. */
function copyFolder(folder: string, copy: string): void {
  for (const name of readdirSync(folder)) {
    if (name === "anvil.pid") continue;
    try {
      cpSync(path.join(folder, name), path.join(copy, name), { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

test("at any moment the folder holds the whole chain", async () => {
  const started = await start(newFolder());
  const { client, folder } = started;
  const contract = await contractOf(client);
  let nonce = 1;
  const copies: { folder: string; hash: Hex }[] = [];
  for (let round = 1; round <= 3; round += 1) {
    nonce = await waste(client, contract, nonce, 10);
    const compacting = compact(started, round);
    for (let moment = 0; moment < 6; moment += 1) {
      const copy = newFolder();
      const { hash } = (await client.getHead("latest"))!;
      copyFolder(folder, copy);
      copies.push({ folder: copy, hash });
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await compacting;
  }
  await started.node.close();
  for (const { folder: copy, hash } of [...copies, { folder, hash: copies.at(-1)!.hash }]) {
    const again = await start(copy, { isNew: false });
    expect((await again.client.getHead("latest"))!.hash).toBe(hash);
    expect(await again.client.getCode(contract)).toBe(`0x${RUNTIME}`);
    await again.node.close();
  }
});

test("what was kept stays kept when more blocks are replayed than Anvil remembers", async () => {
  const { client, folder } = await start(newFolder());
  const contract = await contractOf(client);
  const first = await send(client, 1, contract, store(2, 42));
  for (let nonce = 2; nonce < KEPT_TRANSACTION_BLOCKS + 30; nonce += 1)
    await send(client, nonce, contract, store(2, nonce));
  const copy = newFolder();
  copyFolder(folder, copy);
  const again = await start(copy, { isNew: false });
  const filter = { addresses: [contract], fromBlock: 0n };
  const logs = async ({ number }: { number: bigint }) => again.client.getLogs({ ...filter, toBlock: number });
  const head = (await again.client.getHead("latest"))!;
  expect(await logs(head)).toHaveLength(KEPT_TRANSACTION_BLOCKS + 29);
  // Send until the blocks since the stored state have been kept.
  const { blockNumber } = await send(again.client, KEPT_TRANSACTION_BLOCKS + 30, contract, store(2, 1));
  await expect.poll(() => lastKept(copy)).toBe(Number(blockNumber));
  expect(await logs(head)).toHaveLength(KEPT_TRANSACTION_BLOCKS + 29);
  expect(await again.client.getReceipt(first.transactionHash)).toEqual(first);
});

/** Asks for the receipts of all transactions, and the number of logs of the contract. */
const lookUp = async ({ client }: Started, hashes: readonly Hex[], contract: Hex) => ({
  receipts: await Promise.all(hashes.map(async (hash) => (await client.getReceipt(hash))?.transactionHash)),
  logs: (
    await client.getLogs({
      addresses: [contract],
      fromBlock: 0n,
      toBlock: (await client.getHead("latest"))!.number,
    })
  ).length,
});

test("pauses the chain while another process locks its history, says so, and loses nothing", async () => {
  const errors: string[] = [];
  const started = await start(newFolder(), { onError: (error) => errors.push(messageOf(error)) });
  const { client, node, folder } = started;
  const contract = await contractOf(client);
  await expect.poll(() => lastKept(folder)).toBe(1);
  const other = new DatabaseSync(chainFilesIn(folder).historyFile);
  other.exec("BEGIN IMMEDIATE");
  const count = KEPT_TRANSACTION_BLOCKS * 2;
  const raws = await Promise.all(
    Array.from({ length: count }, (_, i) => sign(i + 1, contract, store(2, i + 1))),
  );
  // One after another, so that each has a block of its own.
  const sending = raws.reduce<Promise<Hex[]>>(
    async (before, raw) => [
      ...(await before),
      parseReceipt(await client.request("eth_sendRawTransactionSync", [raw])).transactionHash,
    ],
    Promise.resolve([]),
  );
  await expect.poll(() => node.pause()).toContain("history can't be written (database is locked)");
  const { number } = (await client.getHead("latest"))!;
  expect(number).toBeLessThan(KEPT_TRANSACTION_BLOCKS);
  other.exec("ROLLBACK");
  other.close();
  const hashes = await sending;
  expect(await lookUp(started, hashes, contract)).toEqual({ receipts: hashes, logs: count });
  expect(node.pause()).toBeUndefined();
  expect(errors).toEqual([expect.stringContaining("history can't be written")]);
});

test("pauses the chain while its block log can't be written, says so, and loses nothing", async () => {
  const errors: string[] = [];
  const started = await start(newFolder(), { onError: (error) => errors.push(messageOf(error)) });
  const { client, node, restarts } = started;
  const contract = await contractOf(client);
  const { writeSync } = fs;
  fs.writeSync = () => {
    throw new Error("ENOSPC: no space left on device, write");
  };
  syncBuiltinESMExports();
  const [from] = (await rpc(node.rpcUrl, "eth_accounts", [])).result as Hex[];
  const count = KEPT_TRANSACTION_BLOCKS * 2;
  // Signed by Anvil, which alone has the bytes. One after another, so that each has a block of its own.
  const hashes: Hex[] = [];
  const sending = (async () => {
    while (hashes.length < count) {
      const call = { from, to: contract, data: store(2, hashes.length + 1) };
      hashes.push((await rpc(node.rpcUrl, "eth_sendTransaction", [call])).result as Hex);
    }
  })();
  await expect.poll(() => node.pause()).toContain("block log can't be written (ENOSPC");
  await expect(client.getHead("latest")).rejects.toThrow("block log can't be written");
  const { error } = await rpc(node.rpcUrl, "anvil_rollback", ["0x1"]);
  expect(error?.message).toContain("block log can't be written");
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
  await sending;
  await expect.poll(() => lookUp(started, hashes, contract)).toEqual({ receipts: hashes, logs: count });
  expect(node.pause()).toBeUndefined();
  expect({ errors, restarts }).toEqual({
    errors: [expect.stringContaining("block log can't be written")],
    restarts: [],
  });
});

test("fills the history from the block log with what an earlier process could not keep", async () => {
  const first = await start(newFolder());
  const contract = await contractOf(first.client);
  const hashes: Hex[] = [];
  for (let nonce = 1; nonce < KEPT_TRANSACTION_BLOCKS * 2; nonce += 1)
    hashes.push((await send(first.client, nonce, contract, store(2, nonce))).transactionHash);
  const copy = newFolder();
  copyFolder(first.folder, copy);
  const history = new DatabaseSync(chainFilesIn(copy).historyFile);
  history.exec("DELETE FROM blocks WHERE number > 10; DELETE FROM transactions WHERE block > 10");
  history.close();
  const again = await start(copy, { isNew: false });
  expect(await lookUp(again, hashes, contract)).toEqual({ receipts: hashes, logs: hashes.length });
});

test("a proof's block hash from before a restart is known after it", async () => {
  const folder = newFolder();
  const first = await start(folder);
  const contract = await contractOf(first.client);
  await waste(first.client, contract, 1, 5);
  const before = await look(first.client, contract, []);
  await first.node.close();
  const second = await start(folder, { isNew: false });
  expect(await look(second.client, contract, [])).toEqual(before);
  expect(await second.client.call({ to: contract, data: "0x" })).toBe(before.head.parentHash);
  await send(second.client, 11, contract, store(2, 1));
});

test("old headers go, and are answered from the history", async () => {
  const started = await start(newFolder());
  const { client } = started;
  const contract = await contractOf(client);
  await client.request("anvil_mine", ["0x800"]);
  const early = await client.getHead(100n);
  const { blockHash, blockNumber } = await send(client, 1, contract, store(2, 1));
  await expect.poll(async () => (await client.getHead("latest"))!.number).toBeGreaterThanOrEqual(0x800n);
  await compact(started);
  await expect.poll(() => started.compactions.some(({ droppedHeaders }) => droppedHeaders)).toBe(true);
  expect(await client.getHead(100n)).toEqual(early);
  const addresses = [contract];
  expect(await client.getLogs({ addresses, blockHash })).toHaveLength(1);
  expect(await client.getLogs({ addresses, fromBlock: 0n, toBlock: blockNumber })).toHaveLength(1);
  await send(client, 2, contract, store(2, 1));
  // A compaction that began by itself may have found only some of the blocks mined; the next one finds the others.
  const headersLeft = async (): Promise<number> => {
    await compact(started, started.compactions.length + 1);
    return started.compactions.at(-1)!.headers;
  };
  await expect.poll(headersLeft).toBeLessThan(400);
});

test("what a user changes without a transaction survives", async () => {
  const folder = newFolder();
  const first = await start(folder);
  const rich: Hex = `0x${"99".repeat(20)}`;
  await rpc(first.node.rpcUrl, "anvil_setBalance", [rich, "0x1234"]);
  await expect.poll(() => first.compactions.length).toBeGreaterThan(0);
  process.kill(pidOf(folder), "SIGKILL");
  await expect.poll(() => first.restarts.length).toBe(1);
  expect(await first.client.getBalanceWei(rich)).toBe(0x1234n);
});

test("a transaction that ends the process again and again is refused, others go on, and a restart remembers it", async () => {
  const folder = newFolder();
  const options = { maxDataKilobytes: 600_000 };
  const { client, node, restarts } = await start(folder, options);
  // Calls an address with 600,000 bytes over and over.
  const runtime = "5b60006000620927c06000600061dead6107d0f150600056";
  await send(client, 1, undefined, `0x6018600c60003960186000f3${runtime}`);
  const deadly = getContractAddress({ from: account.address, nonce: 1n });
  for (const deaths of [1, 2, 3]) {
    // On a busy machine the client gives up before the process has run out of memory.
    await expect(send(client, 2, deadly, "0x")).rejects.toThrow(
      /the connection to the node broke|no answer within 10000 ms/,
    );
    await expect.poll(() => restarts.length).toBe(deaths);
  }
  await expect(send(client, 2, deadly, "0x")).rejects.toThrow("too large to execute");
  await send(client, 2, await contractOf(client), store(1, 7));
  await node.close();
  const again = await start(folder, { ...options, isNew: false });
  await expect(send(again.client, 3, deadly, "0x")).rejects.toThrow("too large to execute");
  await send(again.client, 3, await contractOf(again.client), store(1, 8));
  expect(again.restarts).toEqual([]);
});

/** Passes 600,000 bytes to an address, as often as its calldata says: Anvil's trace takes as much memory each time. */
const PASSING = "6000355b60006000620927c06000600061dead6107d0f150600190038060035700";
const PASSING_CREATION: Hex = `0x60${(PASSING.length / 2).toString(16)}600c60003960${(PASSING.length / 2).toString(16)}6000f3${PASSING}`;

test("replaces a process whose transactions add up, loses none of them, and refuses none", async () => {
  const folder = newFolder();
  const errors: string[] = [];
  // A process may grow by 37 MB.
  const options = {
    maxDataKilobytes: 600_000,
    onError: (error: unknown) => void errors.push(messageOf(error)),
  };
  const { client, node, restarts } = await start(folder, options);
  await send(client, 1, undefined, PASSING_CREATION);
  const to = getContractAddress({ from: account.address, nonce: 1n });
  const sent = [];
  // 24 MB each, 720 MB in all.
  for (let nonce = 2; nonce < 32; nonce += 1) sent.push(await send(client, nonce, to, `0x${word(40)}`));
  expect(restarts.length).toBeGreaterThan(5);
  expect(new Set(restarts.map(({ isUp, lostBlocks }) => isUp && lostBlocks === 0))).toEqual(new Set([true]));
  expect(errors[0]).toMatch(/^Anvil's memory has grown by \d+ MiB/);
  for (const { transactionHash, blockNumber } of sent) {
    const receipt = await client.request("eth_getTransactionReceipt", [transactionHash]);
    expect(parseReceipt(receipt).blockNumber).toBe(blockNumber);
  }
  await node.close();
  const again = await start(folder, { ...options, isNew: false });
  const head = (await again.client.getHead("latest"))!;
  expect(head.number).toBe(sent.at(-1)!.blockNumber);
  await send(again.client, 32, to, `0x${word(1)}`);
});

test("stores the state of logged blocks that fill the process which mines them again", async () => {
  const folder = newFolder();
  const { client, restarts } = await start(folder, { maxDataKilobytes: 600_000 });
  await send(client, 1, undefined, PASSING_CREATION);
  const to = getContractAddress({ from: account.address, nonce: 1n });
  // 24 MB: less than a running process may grow by, and more than one that starts.
  await send(client, 2, to, `0x${word(40)}`);
  const last = await send(client, 3, await contractOf(client), store(1, 7));
  tryKill(folder, new Set());
  await expect.poll(() => restarts).toMatchObject([{ isUp: true, lostBlocks: 0 }]);
  const { stateFile } = chainFilesIn(folder);
  const { best_block_number: stored } = JSON.parse(readFileSync(stateFile, "utf8")) as AnvilState;
  expect(BigInt(stored!)).toBe(last.blockNumber);
  expect(lastKept(folder)).toBe(stored);
  expect(readBlockLog(folder, stored!)).toEqual({ blocks: [] });
  const receipt = await client.request("eth_getTransactionReceipt", [last.transactionHash]);
  expect(parseReceipt(receipt)).toEqual(last);
  await send(client, 4, await contractOf(client), store(1, 8));
});

test("the RPC port speaks JSON-RPC as Anvil does", async () => {
  const { node } = await start(newFolder());
  const post = async (body: string) =>
    (
      await fetch(node.rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
    ).json();
  expect(
    await post(
      '[{"jsonrpc":"2.0","id":"a","method":"eth_chainId","params":[]},{"jsonrpc":"2.0","id":2,"method":"nope","params":[]}]',
    ),
  ).toMatchObject([
    { id: "a", result: toQuantity(CHAIN_ID) },
    { id: 2, error: { code: -32601 } },
  ]);
  expect(await post("{")).toMatchObject({ id: null, error: { code: -32700 } });
  expect(await post("[]")).toMatchObject({ error: { code: -32600 } });
  const socket = new WebSocket(node.rpcUrl.replace("http", "ws"));
  const answer = await new Promise<string>((resolve) => {
    socket.addEventListener("message", ({ data }) => resolve(String(data)));
    socket.addEventListener("open", () =>
      socket.send('{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}'),
    );
  });
  expect(JSON.parse(answer)).toMatchObject({ id: 7, result: toQuantity(CHAIN_ID) });
  socket.close();
});

test("blocks that were left by killed processes count, and an idle chain stores its state", async () => {
  const first = await start(newFolder());
  const contract = await contractOf(first.client);
  let folder = first.folder;
  let nonce = 1;
  let node = first;
  for (let kills = 1; kills <= 2; kills += 1) {
    // Each process leaves too little to warrant a compaction by itself, and so do both, however long a transaction takes.
    for (let i = 0; i < 24; i += 1) await send(node.client, nonce++, contract, store(2, nonce));
    expect(node.compactions).toEqual([]);
    const copy = newFolder();
    copyFolder(folder, copy);
    folder = copy;
    node = await start(copy, { isNew: false });
  }
  for (let i = 0; i < 2; i += 1) await send(node.client, nonce++, contract, store(2, nonce));
  await expect.poll(() => node.compactions.length).toBeGreaterThan(0);
  const { number } = (await node.client.getHead("latest"))!;
  expect(readBlockLog(folder, Number(number)).blocks).toEqual([]);
  const state = JSON.parse(readFileSync(path.join(folder, "state.json"), "utf8"));
  expect(state.best_block_number).toBe(Number(number));
});

test("a power cut takes no block that was told", async () => {
  const disk = watchFlushes();
  const { client, folder, node } = await start(newFolder());
  const contract = await contractOf(client);
  const cuts: { folder: string; hash: Hex }[] = [];
  for (let nonce = 1; nonce <= 10; nonce += 1) {
    await send(client, nonce, contract, store(2, nonce));
    const { hash } = (await client.getHead("latest"))!;
    const cut = newFolder();
    cpSync(folder, cut, { recursive: true, filter: (file) => !file.endsWith("anvil.pid") });
    // Whatever was written but not flushed is gone.
    for (const name of readdirSync(cut).filter((file) => file.startsWith("blocks-")))
      truncateSync(path.join(cut, name), disk.flushedBytes(path.join(folder, name)));
    cuts.push({ folder: cut, hash });
  }
  disk.restore();
  await node.close();
  for (const { folder: cut, hash } of cuts.filter((_, i) => i % 3 === 0)) {
    const again = await start(cut, { isNew: false });
    expect((await again.client.getHead("latest"))!.hash).toBe(hash);
    await again.node.close();
  }
});

test("while the disk takes its time, our oracle hears of a block and nobody else does", async () => {
  const { client, node } = await start(newFolder());
  const contract = await contractOf(client);
  const before = (await client.getHead("latest"))!.number;
  const [early, others]: [bigint[], bigint[]] = [[], []];
  await node.earlyClient.subscribeHeads(({ number }) => void early.push(number));
  await client.subscribeHeads(({ number }) => void others.push(number));
  const disk = holdFlushes();
  const sent = send(client, 1, contract, store(2, 1));
  await expect.poll(() => early.at(-1)).toBe(before + 1n);
  expect(disk.count()).toBe(1);
  expect((await node.earlyClient.getHead("latest"))!.number).toBe(before + 1n);

  let heard = 0;
  const overRpc = fetch(node.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }),
  });
  const asking = [overRpc, client.getHead("latest"), sent].map((one) => one.then(() => (heard += 1)));
  // Calls that concern no block overtake those about the newest one; both have reached the node by then.
  await client.request("eth_chainId", []);
  await node.earlyClient.getHead("latest");
  expect([heard, others]).toEqual([0, []]);

  disk.release();
  await Promise.all(asking);
  await expect.poll(() => others.at(-1)).toBe(before + 1n);
});
