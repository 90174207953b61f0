import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { GasContracts } from "./gas.ts";

/** A running server of the naive path. */
interface NaiveService {
  readonly url: string;
  readonly rpcUrl: string;
  readonly contracts: GasContracts;
  readonly pid: number;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

/** Starts the naive path in a process of its own, on a chain of its own. */
export async function startNaiveService(): Promise<NaiveService> {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-naive-"));
  const server = fileURLToPath(import.meta.resolve("../naive/server.ts"));
  const child = spawn(process.execPath, [server, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the naive path's server ended with code ${code}`)));
    setTimeout(() => reject(new Error("the naive path's server did not start")), START_TIMEOUT_MS).unref();
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const { url, rpcUrl, contracts } = JSON.parse(line) as Pick<NaiveService, "url" | "rpcUrl" | "contracts">;
  return { url, rpcUrl, contracts, pid: child.pid!, stop };
}
