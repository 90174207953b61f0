import { mkdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NETWORK } from "../../external/support/world.ts";
import { startTycheProcess, type TycheProcess } from "../../support/tyche.ts";

/** Several starts may fail while the database is down; after that one takes seconds. */
const RESTART_TIMEOUT_MS = 300_000;

/** A replica that is restarted whenever it exits, as by a supervisor. */
export interface SupervisedReplica {
  /** `undefined` while it is down. */
  present(): TycheProcess | undefined;
  /** Whether it reports that it dispatches. */
  dispatches(): Promise<boolean>;
  /** Sends a signal to its process, if there is one. */
  signal(name: NodeJS.Signals): void;
  /** Resolves once it serves. */
  restarted(): Promise<void>;
  end(): Promise<void>;
}

/** Starts a replica. `onEnd` gets the last output line of a process that was serving and exited without a signal from here. */
export function createSupervisedReplica(options: {
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
  readonly onEnd: (line: string) => void;
}): SupervisedReplica {
  const { dataDir, environment, say, onEnd } = options;
  const name = path.basename(dataDir);
  const env = { ...environment, TYCHE_DATA_DIR: dataDir };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  let tyche: TycheProcess | undefined;
  /** Why it failed to start. */
  let lastWords = "";
  let isSignalled = false;
  let isEnded = false;
  const supervise = async (): Promise<void> => {
    while (!isEnded) {
      if (tyche !== undefined && isAlive(tyche.pid)) {
        await sleep(50);
        continue;
      }
      if (tyche !== undefined && !isSignalled) onEnd(`${name} ended by itself: ${lastLine(tyche.output())}`);
      tyche = undefined;
      isSignalled = false;
      tyche = await startTycheProcess({ dataDir, env, timeoutMs: 240_000 }).catch((error: Error) => {
        lastWords = lastLine(error.message);
        say(`${name}: ${lastWords}`);
        return undefined;
      });
      if (tyche === undefined) await sleep(200);
    }
  };
  const supervising = supervise();
  const present = (): TycheProcess | undefined =>
    tyche !== undefined && isAlive(tyche.pid) ? tyche : undefined;
  return {
    present,
    async dispatches() {
      try {
        const response = await fetch(`${present()?.url}/readyz`, { signal: AbortSignal.timeout(5_000) });
        const { networks } = (await response.json()) as {
          networks: Record<string, { dispatcher?: { isHere: boolean } }>;
        };
        return networks[NETWORK]?.dispatcher?.isHere === true;
      } catch {
        return false;
      }
    },
    signal(signalName) {
      const pid = present()?.pid;
      if (pid === undefined) return;
      if (signalName !== "SIGSTOP") isSignalled = true;
      process.kill(pid, signalName);
    },
    async restarted() {
      const deadline = Date.now() + RESTART_TIMEOUT_MS;
      while (present() === undefined) {
        if (Date.now() > deadline) throw new Error(`${name} does not start: ${lastWords}`);
        await sleep(50);
      }
    },
    async end() {
      isEnded = true;
      await supervising;
      await tyche?.stop("SIGKILL");
    },
  };
}

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
