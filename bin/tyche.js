#!/usr/bin/env node
// Runs on old versions of Node too, so that whoever has one is told.
import { existsSync } from "node:fs";

// isolated-vm has native code for these two only; a later one may have it.
const isSupported = (major) => major === 24 || major >= 26;
const version = process.versions.node;

if (!isSupported(Number(version.split(".")[0]))) {
  process.stderr.write(
    `error: Tyche needs Node 24 or 26, and this is Node ${version}: install one from https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  // A checkout has the sources, which Node runs as they are; the package has them compiled.
  const source = new URL("../src/app/tyche.ts", import.meta.url);
  const compiled = new URL("../dist/src/app/tyche.js", import.meta.url);
  await import(existsSync(source) ? source.href : compiled.href);
}
