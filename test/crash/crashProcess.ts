import { fork, type ChildProcess } from "node:child_process";
import { programFile } from "../support/programs.ts";
import type { CrashAnswer, CrashCommand } from "./crashEntry.ts";

/** A process that runs crashEntry.ts. */
export interface CrashProcess {
  /** Sends a command and returns its answer; `undefined` if the process died while executing it. */
  ask(command: CrashCommand): Promise<CrashAnswer | undefined>;
  readonly exited: Promise<void>;
  kill(): void;
}

/** Starts the process; it loads its code at once, then waits for `open`. */
export function startCrashProcess(): CrashProcess {
  const child: ChildProcess = fork(programFile("crashEntry"), {
    // None of the test's own.
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let trouble = "";
  child.stderr?.on("data", (chunk: Buffer) => (trouble += chunk.toString()));
  let isDead = false;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => {
      isDead = true;
      resolve();
    });
  });
  const receive = (): Promise<CrashAnswer | undefined> =>
    new Promise((resolve) => {
      if (isDead) return resolve(undefined);
      const onMessage = (message: unknown): void => {
        child.off("exit", onExit);
        resolve(message as CrashAnswer);
      };
      const onExit = (): void => {
        child.off("message", onMessage);
        resolve(undefined);
      };
      child.once("message", onMessage);
      child.once("exit", onExit);
    });
  const loaded = receive();
  return {
    exited,
    async ask(command) {
      await loaded;
      const answer = receive();
      if (!isDead) child.send(command);
      const given = await answer;
      if (given?.error !== undefined) throw new Error(`${given.error}\n${trouble}`);
      return given;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
