/**
 * Stands in for a sandbox process whose isolate was escaped: starts as the real one does, gives up the same
 * permissions, and then runs whatever JavaScript it is sent, with all of Node's modules at hand.
 */
import { confine } from "../../../sandbox/host/child/confine.ts";

require(process.argv[2] as string);
confine(process.argv[3] ?? "");

let text = "";
process.stdin.setEncoding("utf8").on("data", (chunk: string) => {
  text += chunk;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    void answer(JSON.parse(line) as string);
  }
});
process.on("uncaughtException", (error) =>
  process.stdout.write(`${JSON.stringify({ uncaught: String(error) })}\n`),
);

async function answer(code: string): Promise<void> {
  let outcome: object;
  try {
    const AsyncFunction = (async () => {}).constructor as new (
      ...parts: string[]
    ) => (require: NodeJS.Require) => Promise<unknown>;
    outcome = { value: (await new AsyncFunction("require", code)(require)) ?? null };
  } catch (thrown) {
    const error = thrown as NodeJS.ErrnoException;
    outcome = { error: error.code ?? error.message ?? String(thrown) };
  }
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
process.stdout.write(`${JSON.stringify({ value: "ready" })}\n`);
