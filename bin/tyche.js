#!/usr/bin/env -S node --no-node-snapshot
// Runs on old versions of Node too, so that whoever has one is told.
import { existsSync } from "node:fs";

const NEEDED = 26;
const version = process.versions.node;

if (Number(version.split(".")[0]) < NEEDED) {
  process.stderr.write(
    `error: Tyche needs Node ${NEEDED} or later, and this is Node ${version}: install it from https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  // A checkout has the sources, which Node runs as they are; the package has them compiled.
  const source = new URL("../src/app/tyche.ts", import.meta.url);
  const compiled = new URL("../dist/src/app/tyche.js", import.meta.url);
  await import(existsSync(source) ? source.href : compiled.href);
}
