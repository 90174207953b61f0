// Runs the toolkit's simulateScript in a process of its own: the toolkit names its temporary files by the millisecond, so two runs in one
// temporary directory can overwrite each other, and its package entry replaces console.log.
import { createRequire } from "node:module";

type Simulate = (input: Record<string, unknown>) => Promise<Record<string, string>>;

const require = createRequire(import.meta.url);
const { simulateScript } = require("@chainlink/functions-toolkit/dist/simulateScript/simulateScript.js") as {
  simulateScript: Simulate;
};

process.on("message", (input: Record<string, unknown>) => {
  simulateScript(input).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ failure: String(error) }),
  );
});
