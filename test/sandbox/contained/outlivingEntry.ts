/**
 * Stands in for a bundler process that was taken over by what it reads while it may still start programs. It starts the one it can, such
 * that the program waits for input that only it could give, and tells the parent.
 */
import { spawn } from "node:child_process";
import { version } from "esbuild";
import type { Confinement } from "../../../sandbox/host/child/confine.ts";
import { loadKernelAddon } from "../../../sandbox/host/child/kernel/kernel.ts";
import { confineBundler } from "../../../sandbox/host/net/modules/confineBundler.ts";

const [argument, user] = process.argv.slice(2) as [string, string];
const confinement = JSON.parse(argument) as Confinement;
const addon = loadKernelAddon(confinement.kernel);
if (user !== "") {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}

/** pipe2(2). */
const PIPE2 = process.arch === "arm64" ? 59n : 293n;

/** Opens a pipe and returns its two ends, which child processes may inherit. */
function openPipe(): readonly [number, number] {
  const ends = Buffer.alloc(8);
  addon.syscall(PIPE2, addon.addressOf(ends), 0n);
  return [ends.readInt32LE(0), ends.readInt32LE(4)];
}

process.on("message", () => {
  const [input, feed] = openPipe();
  const [sink, output] = openPipe();
  void confineBundler(confinement, async () => {
    const program = spawn(process.env["ESBUILD_BINARY_PATH"]!, [`--service=${version}`], {
      // Descriptor 4 is the program itself.
      stdio: [input, output, output, feed, 4, sink],
    });
    await new Promise((resolve, reject) => program.once("spawn", resolve).once("error", reject));
  }).then(() => process.send?.("started"));
});
