/**
 * Stands in for a sandbox process whose isolate was escaped. It starts like the real one, gives up the same permissions, and then runs any
 * JavaScript it is sent, with all of Node's modules available. Like native code, it can make any system call: `native(number,
 * ...arguments)` takes strings as C strings and returns the result or a negative errno.
 *
 * Test flags follow the real arguments: `--user=<uid>` simulates a service that runs as that user, `--unconfined` a process that gives
 * nothing up.
 */
import { confine, type Confinement } from "../../../sandbox/host/child/confine.ts";
import { openNative, type Native } from "./openNative.ts";

require(process.argv[2] as string);
// As in the real process, the pipes are opened before the system calls for that are gone.
const { stdin, stdout } = process;
const confinement = JSON.parse(process.argv[3] as string) as Confinement;
const native = openNative(confinement.kernel);
const flags = process.argv[4] ?? "";
const user = /--user=(\d+)/.exec(flags)?.[1];
if (user !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
if (!flags.includes("--unconfined"))
  confine(JSON.stringify(user === undefined ? confinement : { ...confinement, uid: null }));

let text = "";
stdin.setEncoding("utf8").on("data", (chunk: string) => {
  text += chunk;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    void answer(JSON.parse(line) as string);
  }
});
process.on("uncaughtException", (error) => stdout.write(`${JSON.stringify({ uncaught: String(error) })}\n`));

async function answer(code: string): Promise<void> {
  let outcome: object;
  try {
    const AsyncFunction = (async () => {}).constructor as new (
      ...parts: string[]
    ) => (require: NodeJS.Require, native: Native) => Promise<unknown>;
    outcome = { value: (await new AsyncFunction("require", "native", code)(require, native)) ?? null };
  } catch (thrown) {
    const error = thrown as NodeJS.ErrnoException;
    outcome = { error: error.code ?? error.message ?? String(thrown) };
  }
  stdout.write(`${JSON.stringify(outcome)}\n`);
}
stdout.write(`${JSON.stringify({ value: "ready" })}\n`);
