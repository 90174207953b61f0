import { spawn } from "node:child_process";
import { findBinary } from "../../../src/networks/embedded/anvil.ts";

/** First account of Anvil's and Hardhat's mnemonic, which holds 10,000 coins. */
export const RICH_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** A chain that mines by the clock, in a process that knows nothing of Tyche. */
export interface StrangersChain {
  readonly httpUrl: string;
  readonly wsUrl: string;
  close(): Promise<void>;
}

/** Starts an Anvil that mines a block a second. */
export async function startIntervalAnvil(): Promise<StrangersChain> {
  const child = spawn(findBinary(), ["--port", "0", "--block-time", "1", "--chain-id", "31337"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let text = "";
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /Listening on 127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`Anvil did not start:\n${text}`)));
  });
  return {
    httpUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    async close() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
