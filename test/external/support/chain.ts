import { spawn } from "node:child_process";
import path from "node:path";
import { findBinary } from "../../../src/networks/embedded/process/anvil.ts";
import { TEST_KEPT_STATES } from "../../support/anvil.ts";

/** The first account of Anvil's and Hardhat's mnemonic, which holds 10,000 coins. */
export const RICH_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** A chain that mines at fixed intervals, in a process that knows nothing of Tyche. */
export interface StrangersChain {
  readonly httpUrl: string;
  readonly wsUrl: string;
  /** Mines blocks immediately, as the chain's operator can. */
  mine(blocks: number): Promise<void>;
  /**
   * Mines a block a second from now on. A proof can be checked for 256 blocks, a minute at four a second: a busy machine may take longer to
   * start an oracle, and then requests are sent again.
   */
  slowDown(): Promise<void>;
  /** Calls a method of the node, as the chain's operator can. Returns its result. */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Sends a signal to the node's process. */
  signal(name: NodeJS.Signals): void;
  close(): Promise<void>;
}

/** Starts an Anvil that mines at fixed intervals: by default four blocks per second, of 30 million gas; their timestamps are the time. */
export function startIntervalAnvil({
  blockSeconds = 0.25,
  blockGas = 30_000_000,
  chainId = 31_337,
} = {}): Promise<StrangersChain> {
  const options = {
    "--port": 0,
    "--chain-id": chainId,
    "--block-time": blockSeconds,
    "--gas-limit": blockGas,
    "--prune-history": TEST_KEPT_STATES,
  };
  return startNode(findBinary(), Object.entries(options).flat().map(String), "anvil_mine");
}

/** Starts a Hardhat node that mines one block per second: another implementation of the EVM (EDR) and of the JSON-RPC methods. */
export function startIntervalHardhat(): Promise<StrangersChain> {
  const script = path.join(import.meta.dirname, "hardhatNode.ts");
  return startNode(process.execPath, [script], "hardhat_mine");
}

async function startNode(
  command: string,
  args: readonly string[],
  mineMethod: string,
): Promise<StrangersChain> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let text = "";
  const port = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const found = /Listening on 127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (found === undefined) return;
      // Anvil prints at least a line per call, which would otherwise be collected and searched as long as it runs.
      child.stdout.off("data", read).resume();
      resolve(found);
    };
    child.stdout.on("data", read);
    child.once("exit", () => reject(new Error(`the node did not start:\n${text}`)));
  });
  const httpUrl = `http://127.0.0.1:${port}`;
  return {
    httpUrl,
    wsUrl: `ws://127.0.0.1:${port}`,
    async mine(blocks) {
      await callNode(httpUrl, mineMethod, [`0x${blocks.toString(16)}`]);
    },
    async slowDown() {
      await callNode(httpUrl, "evm_setIntervalMining", [1]);
    },
    call: (method, params) => callNode(httpUrl, method, params),
    signal: (name) => void child.kill(name),
    async close() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function callNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const { error, result } = (await response.json()) as { error?: { message: string }; result?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
