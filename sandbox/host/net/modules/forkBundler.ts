import { fork, type ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { closeSync, openSync } from "node:fs";
import type { Confinement } from "../../child/confine.ts";
import { findTool, NODE_OPTIONS_UNDER_LANDLOCK, openLandlock, TOOL_FOLDERS } from "../../landlock.ts";
import { probePidNamespace } from "../../pidNamespace.ts";

/** Heap of the bundling process, in MB; its esbuild has memory of its own. */
const HEAP_MB = 512;

/**
 * Starts the bundling process, which itself gives up what `confinement` says. Where Landlock works, neither it nor what it starts can read
 * or execute anything but Node, this package and its dependencies. Where the kernel permits it, nothing that it starts outlives it or this
 * process.
 *
 * @param script File with the process's code.
 * @param readable Further files and folders that it may read. Default none.
 */
export function forkBundler(
  script: string,
  confinement: Confinement,
  readable: readonly string[] = [],
  ...args: readonly string[]
): ChildProcess {
  const esbuild = openEsbuild();
  pidNamespace ??= probePidNamespace(TOOL_FOLDERS);
  const [program, ...options] = [
    ...pidNamespace,
    ...(restrict(readable) ?? []),
    process.execPath,
    ...NODE_OPTIONS_UNDER_LANDLOCK,
    "--no-warnings",
    `--max-old-space-size=${HEAP_MB}`,
  ];
  const child = fork(script, [JSON.stringify(confinement), ...args], {
    env: { ...esbuild.env },
    // Its user may not have access to the folder that the service was started in, and esbuild starts its own process in its working
    // directory.
    cwd: "/",
    execPath: program,
    execArgv: options,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc", ...esbuild.inherited],
    // A process group of its own, so that esbuild's process dies with it.
    detached: true,
  });
  esbuild.close();
  return child;
}

let pidNamespace: readonly string[] | undefined;
let landlock: ReturnType<typeof openLandlock> | undefined;

function restrict(readable: readonly string[]): readonly string[] | undefined {
  landlock ??= openLandlock(findTool("perl", TOOL_FOLDERS));
  const ownFolder = fileURLToPath(new URL("../../../", import.meta.url));
  const esbuild = createRequire(import.meta.url).resolve("esbuild/package.json");
  const dependencies = esbuild.slice(0, esbuild.lastIndexOf("/node_modules/") + "/node_modules".length);
  return landlock?.prefix([
    process.execPath,
    ownFolder,
    join(ownFolder, "..", "package.json"),
    dependencies,
    ...readable,
  ]);
}

/** Lets a process that may open no file, and whose user may have no access to our files, still execute esbuild's program. */
interface EsbuildProgram {
  /** Descriptors the process inherits after its channel: at most one, the open program. */
  readonly inherited: readonly number[];
  /** Environment of the process, through which esbuild's JavaScript finds the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Call it once the process has started. */
  readonly close: () => void;
}

/** Opens esbuild's program for this machine. */
function openEsbuild(): EsbuildProgram {
  if (process.platform !== "linux") return { inherited: [], env: {}, close: () => {} };
  const require = createRequire(import.meta.url);
  const manifest = createRequire(require.resolve("esbuild")).resolve(
    `@esbuild/${process.platform}-${process.arch}/package.json`,
  );
  const descriptor = openSync(`${dirname(manifest)}/bin/esbuild`, "r");
  return {
    inherited: [descriptor],
    env: {
      ESBUILD_BINARY_PATH: "/proc/self/fd/4",
      // Go interrupts its threads with signals to its own process id, which a filter can't know before the
      // process exists.
      GODEBUG: "asyncpreemptoff=1",
    },
    close: () => closeSync(descriptor),
  };
}
