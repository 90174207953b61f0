import { Socket } from "node:net";
import { StatementSync } from "node:sqlite";

/** The point at which a process kills itself. */
export interface CrashPoint {
  /** Index of the step, from 0 since counting began. */
  readonly step: number;
  readonly side: "before" | "after";
}

let steps: string[] | undefined;
let crashPoint: CrashPoint | undefined;

/**
 * Counts every step that writes to the database or sends a transaction, and kills this process at one of them, with no chance to clean up.
 * It wraps Node's own classes, so the product runs unchanged.
 */
export function countSteps(crashAt?: CrashPoint): void {
  steps = [];
  crashPoint = crashAt;
}

/** Returns the names of the steps so far. */
export function takenSteps(): readonly string[] {
  return steps ?? [];
}

function step<T>(name: string, take: () => T): T {
  if (steps === undefined) return take();
  const index = steps.push(name) - 1;
  const isHere = crashPoint?.step === index;
  if (isHere && crashPoint?.side === "before") process.kill(process.pid, "SIGKILL");
  const result = take();
  if (isHere) process.kill(process.pid, "SIGKILL");
  return result;
}

type Method<T> = (this: T, ...parameters: unknown[]) => unknown;

const run = Reflect.get(StatementSync.prototype, "run") as Method<StatementSync>;
Reflect.set(StatementSync.prototype, "run", function (this: StatementSync, ...parameters: unknown[]) {
  const takeIt = () => run.apply(this, parameters);
  const [verb = "", ...words] = this.sourceSQL.toLowerCase().split(/[\s"]+/);
  if (!["insert", "replace", "update", "delete", "commit"].includes(verb)) return takeIt();
  const table = words.find((word) => !["into", "from"].includes(word)) ?? "";
  // Stored in one transaction with what it counts, whose other statements and commit are steps.
  if (table === "usage") return takeIt();
  return step(`${verb} ${table}`.trim(), takeIt);
} satisfies Method<StatementSync>);

const write = Reflect.get(Socket.prototype, "write") as Method<Socket>;
Reflect.set(Socket.prototype, "write", function (this: Socket, ...parameters: unknown[]) {
  const send = () => write.apply(this, parameters);
  const method =
    typeof parameters[0] === "string" ? /"(eth_sendRaw\w+)"/.exec(parameters[0])?.[1] : undefined;
  return method === undefined ? send() : step(method, send);
} satisfies Method<Socket>);
