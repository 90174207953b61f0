import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Address space for data, in bytes: with 1 GiB V8 does not start, and 1.5 GiB bounds what passes every other limit. */
const MAX_DATA_BYTES = 1_536 * 1024 * 1024;
/** Enough for Node's own descriptors. */
const MAX_OPEN_FILES = 64;
/** Threads of Node, V8 and isolated-vm; each child has a user id of its own, so this counts no one else's. */
const MAX_THREADS = 64;
const TOOL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
/** User ids that no distribution gives to people or packages and that fit into 16 bits (systemd's dynamic range). */
const FIRST_UID = 61_184;
const UID_COUNT = 4_000;

/** The layers around a child that this machine offers. */
export interface Containment {
  /** Limits of memory, files, threads and core dumps by `prlimit`. */
  readonly resourceLimits: boolean;
  /** No privilege can be gained by executing anything (`setpriv --no-new-privs`). */
  readonly noNewPrivileges: boolean;
  /** A user id without rights; false where the parent is not root, whose user the child then has. */
  readonly unprivilegedUser: boolean;
  /** No network interface, not even loopback, by a network namespace of its own. */
  readonly networkNamespace: boolean;
  /** One sentence per layer that is missing and that Linux as root would give. */
  readonly warnings: readonly string[];
}

/** Options of {@link createLauncher}. */
export interface LauncherOptions {
  /** Folders where `setpriv`, `prlimit`, `unshare` and `true` are looked for. Default: the system's own. */
  readonly toolFolders?: readonly string[];
}

/** Starts child processes. */
export interface Launcher {
  readonly containment: Containment;
  /** Starts a child on `script`, which may read itself and the native part of isolated-vm, and nothing else. */
  readonly launch: (script: string) => ChildProcess;
}

/**
 * Finds out, by trying each wrapper once, how far children can be confined here, and returns what starts them.
 * Every child has an empty environment except `TZ=UTC`, no descriptor beyond its three pipes, Node's permission
 * model without any permission but addons and reading its two files, and the layers of {@link Containment}.
 */
export function createLauncher(options: LauncherOptions = {}): Launcher {
  const nodePath = realpathSync(process.execPath);
  const addonPath = resolveAddon();
  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  const offered = probe(isRoot, options.toolFolders ?? TOOL_FOLDERS);
  const { namespace, privileges, resources, identity } = offered;

  const containment: Containment = {
    resourceLimits: resources.length > 0,
    noNewPrivileges: privileges.length > 0,
    unprivilegedUser: isRoot ? identity : process.getuid !== undefined,
    networkNamespace: namespace.length > 0,
    warnings: [
      ...(resources.length > 0
        ? []
        : ["prlimit does not work here: what passes V8's memory limit is stopped only by watching."]),
      ...(privileges.length > 0
        ? []
        : ["setpriv does not work here: a sandbox process could execute a set-uid file."]),
      ...(namespace.length > 0
        ? []
        : [
            "unshare does not work here: only Node's permission model keeps a sandbox process from the network.",
          ]),
      ...(isRoot && !identity ? ["setpriv can't change users here: sandbox processes run as root."] : []),
    ],
  };

  let started = 0;
  return {
    containment,
    launch: (script) => {
      const uid = FIRST_UID + ((process.pid + started++) % UID_COUNT);
      // A checkout below a private home folder can't be read by another user: the child then changes users itself.
      const late = identity && !isReachable([nodePath, script, addonPath]);
      const command = [
        ...namespace,
        ...privileges,
        ...(identity && !late ? identityArguments(uid) : []),
        ...resources,
        ...(resources.length > 0 && identity ? [`--nproc=${MAX_THREADS}`] : []),
        nodePath,
        "--no-node-snapshot",
        "--no-warnings",
        // What is compiled here runs at once and once: compiling a function when it is first called parses it twice.
        // Halves the time of a small source, and of the first touch of a chunk.
        "--no-lazy",
        // Each new context would be hashed anew with the isolate's seed: a twelfth of a small run's processor time. The seed keeps
        // others from colliding one's hash tables; here the only one to do that is the source itself.
        "--no-rehash-snapshot",
        // Room for the garbage of many contexts: with the usual 1 MB half-spaces, live ones are copied again and again, a sixth of a small
        // run's processor time. More than 16 MB gains nothing.
        "--min-semi-space-size=16",
        "--max-semi-space-size=16",
        // The permission model does not hold what SQLite opens, nor what the web storage writes.
        "--no-experimental-sqlite",
        "--no-experimental-webstorage",
        "--permission",
        "--allow-addons",
        `--allow-fs-read=${script}`,
        `--allow-fs-read=${addonPath}`,
        script,
        addonPath,
        late ? String(uid) : "",
      ];
      return spawn(command[0] as string, command.slice(1), {
        stdio: ["pipe", "pipe", "pipe"],
        env: { TZ: "UTC" },
        cwd: "/",
      });
    },
  };
}

function identityArguments(uid: number): string[] {
  return ["--reuid", String(uid), "--regid", String(uid), "--clear-groups"];
}

function findTool(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch {
      // Not there: the next folder.
    }
  }
  return null;
}

/** Command prefixes that work here; empty where one does not. */
interface Wrappers {
  readonly namespace: readonly string[];
  readonly privileges: readonly string[];
  readonly resources: readonly string[];
  /** Whether `privileges` may be followed by options that change the user. */
  readonly identity: boolean;
}

/** Tries all wrappers in one go, as they will be used, and one by one only if that fails: it takes 3 ms or 15. */
function probe(isRoot: boolean, folders: readonly string[]): Wrappers {
  if (process.platform !== "linux") return { namespace: [], privileges: [], resources: [], identity: false };
  const find = (name: string) => findTool(name, folders);
  const prefix = (name: string, options: readonly string[]): string[] => {
    const path = find(name);
    return path === null ? [] : [path, ...options];
  };
  /** Whether a command prefix runs a program; an empty one does. */
  const works = (command: readonly string[]): boolean => {
    const [path, ...options] = [...command, find("true") ?? "true"];
    return spawnSync(path, options, { stdio: "ignore", env: {} }).status === 0;
  };
  const namespace = prefix("unshare", isRoot ? ["--net", "--ipc"] : ["--user", "--net", "--ipc"]);
  const privileges = prefix("setpriv", ["--no-new-privs", "--pdeathsig", "KILL"]);
  const resources = prefix("prlimit", [
    "--core=0",
    "--fsize=0",
    `--nofile=${MAX_OPEN_FILES}`,
    `--data=${MAX_DATA_BYTES}`,
  ]);
  const identity = isRoot ? identityArguments(FIRST_UID) : [];
  if (
    namespace.length * privileges.length * resources.length > 0 &&
    works([...namespace, ...privileges, ...identity, ...resources])
  ) {
    return { namespace, privileges, resources, identity: isRoot };
  }
  const older = prefix("setpriv", ["--no-new-privs"]);
  const usable = [privileges, older, []].find((options) => works(options)) ?? [];
  return {
    namespace: works(namespace) ? namespace : [],
    privileges: usable,
    resources: works(resources) ? resources : [],
    identity: isRoot && usable.length > 0 && works([...usable, ...identity]),
  };
}

/** Whether any user may reach and read all these files. */
function isReachable(paths: readonly string[]): boolean {
  return paths.every((path) => {
    if ((statSync(path).mode & 0o004) === 0) return false;
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if ((statSync(folder).mode & 0o001) === 0) return false;
      if (folder === dirname(folder)) return true;
    }
  });
}

/** The native file that isolated-vm would load, found here so that the child need not search for it. */
function resolveAddon(): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve("isolated-vm/package.json"));
  const gyp = createRequire(`${folder}/`)("node-gyp-build") as { resolve(folder: string): string };
  return realpathSync(gyp.resolve(folder));
}
