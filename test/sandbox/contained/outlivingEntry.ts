/**
 * Stands in for the bundler's process, overrun by what it reads while it may still start programs: starts the one that it can, so that it
 * waits for input that it alone could give, and tells the parent.
 */
import { spawn } from "node:child_process";
import { version } from "esbuild";
import type { Confinement } from "../../../sandbox/host/child/confine.ts";
import { confineBundler } from "../../../sandbox/host/net/modules/confineBundler.ts";

const [confinement, user] = process.argv.slice(2) as [string, string];
if (user !== "") {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}

/** A pipe's two ends, which the programs started may have. */
function openPipe(): readonly [number, number] {
  const ffi = process.getBuiltinModule("node:ffi");
  const { functions } = ffi.dlopen(null, { pipe: { return: "int32", arguments: ["pointer"] } });
  const ends = Buffer.alloc(8);
  functions.pipe(ffi.getRawPointer(ends));
  return [ends.readInt32LE(0), ends.readInt32LE(4)];
}

process.on("message", () => {
  const [input, feed] = openPipe();
  const [sink, output] = openPipe();
  void confineBundler(JSON.parse(confinement) as Confinement, async () => {
    const program = spawn(process.env["ESBUILD_BINARY_PATH"]!, [`--service=${version}`], {
      // The fourth is the program itself.
      stdio: [input, output, output, feed, 4, sink],
    });
    await new Promise((resolve, reject) => program.once("spawn", resolve).once("error", reject));
  }).then(() => process.send?.("started"));
});
