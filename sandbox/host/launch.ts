import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { Confinement } from "./child/confine.ts";
import { findTool, NODE_OPTIONS_UNDER_LANDLOCK, openLandlock, TOOL_FOLDERS } from "./landlock.ts";
import { partsFile } from "./childParts.ts";
import { findKernel } from "../build/buildKernel.ts";
import { findMissingLayers, requireLayers, type MissingLayer } from "./layers.ts";
import { releaseUserId, takeUserId } from "./userIds.ts";

const NO_NAMESPACE =
  "unshare does not work here: the filter of system calls, Landlock and Node's permission model keep a sandbox process from the network.";
const NO_LANDLOCK =
  "Landlock does not work here (it takes Linux 5.13, a container that permits it, and perl): the filter of system calls and Node's permission model keep a sandbox process from files.";

/** The layers of confinement that this machine offers a child. */
export interface Containment {
  /** A system call filter, along with limits on memory, files and threads, no new privileges, and death with the parent. */
  readonly systemCallFilter: boolean;
  /**
   * A user id without rights that no other process has; false if the parent is not root, in which case the child runs as the parent's
   * user.
   */
  readonly ownUser: boolean;
  /** Landlock: no file but the program's own, no TCP port, no signal to others; enforced by the kernel from before Node starts. */
  readonly landlock: boolean;
  /** No network interface, not even loopback; the child has a network namespace of its own. */
  readonly networkNamespace: boolean;
  /** Missing layers, each accepted by name. */
  readonly missing: readonly MissingLayer[];
  /** One sentence per missing layer, whether the operator accepted it or another layer covers for it. */
  readonly warnings: readonly string[];
}

/** Names the available layers, as a pool's `status()` lists them. */
export function layersOf(containment: Containment): readonly string[] {
  const { systemCallFilter, landlock, ownUser, networkNamespace } = containment;
  return [
    systemCallFilter ? "system-calls" : [],
    landlock ? "landlock" : [],
    ownUser ? "user" : [],
    networkNamespace ? "network" : [],
    "permissions",
  ].flat();
}

export interface LauncherOptions {
  /** Folders to search for `unshare`, `perl` and `true`. Default: the system's own. */
  readonly toolFolders?: readonly string[];
  /** Names of layers that may be missing. Default: none. */
  readonly acceptMissing?: readonly string[];
}

/** Starts child processes. */
export interface Launcher {
  readonly containment: Containment;
  /** Starts a child on `script`, which may read itself, its parts beside it, the native part of isolated-vm and the kernel addon, and nothing else. */
  readonly launch: (script: string) => ChildProcess;
}

/**
 * Finds out how far children can be confined here, and returns a launcher for them. Every child has an environment of `TZ=UTC` alone, no
 * descriptor beyond its three pipes, and Node's permission model with no permission but addons and reading its four files. The child
 * itself gives these up, along with its user and most system calls (`child/confine.ts`).
 * @throws {MissingLayersError} `sandbox_layers_missing` if a layer is missing that is not accepted.
 */
export function createChildLauncher(options: LauncherOptions = {}): Launcher {
  const { toolFolders = TOOL_FOLDERS, acceptMissing = [] } = options;
  const nodePath = realpathSync(process.execPath);
  const addonPath = resolveAddon();
  const kernel = findKernel();
  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  const namespace = probeNamespace(isRoot, toolFolders);
  const landlock = openLandlock(findTool("perl", toolFolders));
  const missing = findMissingLayers({ isRoot });
  requireLayers(missing, acceptMissing);
  const isMissing = (name: string): boolean => missing.some((layer) => layer.name === name);
  const ownUser = isRoot && !isMissing("user");

  const containment: Containment = {
    systemCallFilter: !isMissing("system-calls"),
    ownUser,
    landlock: landlock !== null,
    networkNamespace: namespace.length > 0,
    missing,
    warnings: [
      ...missing.map(({ name, text }) => `Accepted as missing: ${name}. ${text}`),
      ...(process.platform === "linux"
        ? [namespace.length > 0 ? [] : NO_NAMESPACE, landlock === null ? NO_LANDLOCK : []].flat()
        : []),
    ],
  };

  return {
    containment,
    launch: (script) => {
      const uid = ownUser ? takeUserId() : null;
      const confinement: Confinement = {
        uid,
        isFilterRequired: !acceptMissing.includes("system-calls"),
        kernel,
      };
      const parts = partsFile(script);
      const files = [script, addonPath, kernel, existsSync(parts) ? parts : null].filter(
        (file) => file !== null,
      );
      const command = [
        ...namespace,
        ...(landlock?.prefix([nodePath, ...files]) ?? []),
        nodePath,
        ...NODE_OPTIONS_UNDER_LANDLOCK,
        "--no-node-snapshot",
        "--no-warnings",
        // Otherwise each new context is rehashed with the isolate's seed: a twelfth of a small run's processor time. The seed protects
        // hash tables from collisions forced by others; here only the source itself could do that.
        "--no-rehash-snapshot",
        // Room for the garbage of many contexts: with the usual 1 MB half-spaces, live ones are copied again and again, a sixth of a small
        // run's processor time. More than 16 MB gains nothing.
        "--min-semi-space-size=16",
        "--max-semi-space-size=16",
        // A run ends before it gains from marking that is done beside it: an eighth of the processor time of fresh sources.
        "--no-concurrent-marking",
        // isolated-vm doesn't link source-phase imports: V8 would abort the process at an `import source`.
        "--no-js-source-phase-imports",
        // The permission model covers neither the files that SQLite opens nor what web storage writes.
        "--no-experimental-sqlite",
        "--no-experimental-webstorage",
        "--permission",
        "--allow-addons",
        ...files.map((file) => `--allow-fs-read=${file}`),
        script,
        addonPath,
        JSON.stringify(confinement),
      ];
      const child = spawn(command[0] as string, command.slice(1), {
        stdio: ["pipe", "pipe", "pipe"],
        env: { TZ: "UTC" },
        cwd: "/",
      });
      if (uid !== null) for (const end of ["exit", "error"]) child.once(end, () => releaseUserId(uid));
      return child;
    },
  };
}

/** Returns the command prefix that gives a child its own network; empty if that does not work here. */
function probeNamespace(isRoot: boolean, folders: readonly string[]): readonly string[] {
  const unshare = process.platform === "linux" ? findTool("unshare", folders) : null;
  if (unshare === null) return [];
  const options = isRoot ? ["--net", "--ipc"] : ["--user", "--net", "--ipc"];
  const { status } = spawnSync(unshare, [...options, findTool("true", folders) ?? "true"], {
    stdio: "ignore",
    env: {},
  });
  return status === 0 ? [unshare, ...options] : [];
}

/** Finds the native file that isolated-vm would load, so that the child need not search for it. */
function resolveAddon(): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve("isolated-vm/package.json"));
  const gyp = createRequire(`${folder}/`)("node-gyp-build") as { resolve(folder: string): string };
  return realpathSync(gyp.resolve(folder));
}
