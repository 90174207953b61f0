// npm runs it before it builds the package's native modules, which takes minutes. A checkout brings a Node of its own.
import { existsSync } from "node:fs";
import { nodeProblem } from "./supportedNode.js";

if (nodeProblem !== undefined && !existsSync(new URL("../src/tyche.ts", import.meta.url))) {
  process.stderr.write(nodeProblem);
  process.stderr.write("Nothing was installed.\n");
  process.exitCode = 1;
}
