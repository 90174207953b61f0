/**
 * Stands in for a bundler process that was taken over by what it reads. It gives up the same rights, and makes the system calls that it is
 * told to: when esbuild's process would be started, which inherits the rights left at that point, and at the end.
 */
import { transform } from "esbuild";
import type { Confinement } from "../../../sandbox/host/child/confine.ts";
import { confineBundler } from "../../../sandbox/host/net/modules/confineBundler.ts";
import type { NativeCall } from "./doors.ts";
import { openNative } from "./openNative.ts";

const [argument, user] = process.argv.slice(2) as [string, string];
const confinement = JSON.parse(argument) as Confinement;
const native = openNative(confinement.kernel);
if (user !== "") {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}

process.on("message", (attempts: readonly NativeCall[]) => {
  const tryAll = (): number[] => attempts.map(({ number, args }) => native(number, ...args));
  let asEsbuild: number[] = [];
  void confineBundler(confinement, () => {
    asEsbuild = tryAll();
    return transform("");
  }).then(async () => {
    const { code } = await transform("alert(1 + 1)", { minify: true });
    process.send?.({ asEsbuild, asNode: tryAll(), code });
  });
});
