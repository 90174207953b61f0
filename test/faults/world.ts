import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import {
  StartFailure,
  makeDataDir,
  removeDataDir,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";

/** A running service with its data directory, and access to its parts from outside. */
export interface World {
  readonly dataDir: string;
  service(): TycheProcess;
  /** Everything that the service has printed, including before restarts. */
  output(): string;
  /** Stops the service with a signal and starts it again. */
  restart(signal: NodeJS.Signals): Promise<void>;
  /**
   * Restarts the service under a command such as `prlimit`. It need not become ready, but it must not hang, and if it exits, it must do so
   * with code 1 and a sentence.
   *
   * @throws when it hangs or exits otherwise.
   */
  tryRestart(signal: NodeJS.Signals, under: readonly string[]): Promise<void>;
  /** Calls a chain as its user does: through the RPC port. */
  rpc(network: string, method: string, params?: readonly unknown[]): Promise<unknown>;
  networks(): Promise<readonly NetworkInfo[]>;
  /** Returns the process ids of a network's Anvil, newest last. */
  anvils(network: string): readonly number[];
  /** Returns the process ids of the sandbox's children. */
  sandboxChildren(): readonly number[];
  close(): Promise<void>;
}

/** A network as `GET /api/networks` returns it. */
export interface NetworkInfo {
  readonly name: string;
  readonly rpcUrl: string;
  readonly contracts: Readonly<
    Record<"vrfCoordinator" | "functionsRouter" | "presetConsumer" | "subscriptionOwner" | "link", string>
  >;
}

/** Whether a failed start told a person why: no stack trace, no bare code. */
export function isSentence(output: string): boolean {
  return (
    !/^\s+at .+:\d+:\d+\)?$/m.test(output) && (output.trim().split("\n").at(-1) ?? "").split(" ").length > 4
  );
}

/** Starts a service. `dataDir`: default a new one, removed at the end. */
export async function createWorld(dataDir = makeDataDir()): Promise<World> {
  let service = await startTycheProcess({ dataDir });
  let earlier = "";
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    await service.stop(signal);
    earlier += service.output();
  };
  const networks = async (): Promise<readonly NetworkInfo[]> =>
    (await service.call("GET", "/api/networks")).data.items;
  return {
    dataDir,
    service: () => service,
    output: () => earlier + service.output(),
    async restart(signal) {
      await stop(signal);
      service = await startTycheProcess({ dataDir });
    },
    async tryRestart(signal, under) {
      await stop(signal);
      try {
        service = await startTycheProcess({ dataDir, under });
      } catch (error) {
        if (!(error instanceof StartFailure) || error.code === null || !isSentence(error.output)) throw error;
        earlier += error.output;
      }
    },
    networks,
    async rpc(network, method, params = []) {
      const { rpcUrl } = (await networks()).find(({ name }) => name === network)!;
      const response = await fetch(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        signal: AbortSignal.timeout(20_000),
      });
      const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    anvils(network) {
      const chainId = { sepolia: "11155111", fuji: "43113" }[network]!;
      return (
        descendantsOf(service.pid)
          // Anvil may follow the command that gives it a namespace.
          .filter(({ args }) => args.some((arg) => path.basename(arg) === "anvil") && args.includes(chainId))
          .map(({ pid }) => pid)
      );
    },
    sandboxChildren: () =>
      descendantsOf(service.pid)
        .filter(({ args }) => args.some((arg) => /^sandbox-\w+\.cjs$/.test(path.basename(arg))))
        .map(({ pid }) => pid),
    async close() {
      await service.stop("SIGKILL");
      removeDataDir(dataDir);
    },
  };
}

interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
}

/** Returns all descendants of a process, from `/proc`. */
function descendantsOf(root: number): readonly ProcessInfo[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
  const below = new Set([root]);
  for (let size = 0; size !== below.size;) {
    size = below.size;
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
  }
  below.delete(root);
  return all.filter(({ pid }) => below.has(pid));
}

function readProcess(pid: number): readonly ProcessInfo[] {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name is in parentheses and may contain anything: parse after the last one.
    const parent = Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
    return [{ pid, parent, args: readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0") }];
  } catch {
    // It has exited in the meantime.
    return [];
  }
}
