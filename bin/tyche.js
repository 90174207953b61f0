#!/usr/bin/env node
import { existsSync } from "node:fs";
import { nodeProblem } from "./supportedNode.js";

if (nodeProblem !== undefined) {
  process.stderr.write(nodeProblem);
  process.exitCode = 1;
} else {
  // A checkout has the sources, which Node runs as they are; the package has them compiled.
  const source = new URL("../src/tyche.ts", import.meta.url);
  const compiled = new URL("../dist/src/tyche.js", import.meta.url);
  await import(existsSync(source) ? source.href : compiled.href);
}
