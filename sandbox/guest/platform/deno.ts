import type { Internals } from "../internals.ts";
import { READABLE } from "./process.ts";

/**
 * Members of `Deno` that the nodes withhold: the permission each one requires, and whether the error names the first
 * argument (`true`), nothing (`false`) or a fixed subject.
 */
const WITHHELD: Readonly<Record<string, readonly [permission: string, named: boolean | string]>> = {
  ...every("read", "readTextFile readFile readDir stat lstat readLink realPath open watchFs"),
  ...every(
    "write",
    "writeFile writeTextFile mkdir remove truncate chmod chown create copyFile rename symlink link utime",
  ),
  makeTempDir: ["write", "<TMP>"],
  makeTempFile: ["write", "<TMP>"],
  chdir: ["read", true],
  hostname: ["sys", "hostname"],
  osRelease: ["sys", "osRelease"],
  osUptime: ["sys", "osUptime"],
  systemMemoryInfo: ["sys", "systemMemoryInfo"],
  networkInterfaces: ["sys", "networkInterfaces"],
  loadavg: ["sys", "loadavg"],
  uid: ["sys", "uid"],
  gid: ["sys", "gid"],
  dlopen: ["ffi", true],
  kill: ["run", false],
  run: ["run", false],
};
const SYNCHRONOUS =
  "hostname osRelease osUptime systemMemoryInfo networkInterfaces loadavg uid gid dlopen kill chdir run watchFs";
/** Members that exist but don't work here. */
const REFUSED =
  "lint connect listen connectTls listenTls startTls serveHttp serve resolveDns upgradeWebSocket consoleSize umask createHttpClient spawn spawnAndWait spawnAndWaitSync";
/** Members that do nothing here, as in a program that is run. */
const PERMISSIONS = ["read", "write", "net", "env", "sys", "run", "ffi", "import"];
const IDLE = "test bench refTimer unrefTimer addSignalListener removeSignalListener";
const CLASSES =
  "Process FsFile Permissions PermissionStatus ChildProcess UnsafeCallback UnsafePointer UnsafePointerView UnsafeFnPointer HttpClient";
const ERRORS =
  "NotFound PermissionDenied ConnectionRefused ConnectionReset ConnectionAborted NotConnected AddrInUse AddrNotAvailable BrokenPipe AlreadyExists InvalidData TimedOut Interrupted WriteZero WouldBlock UnexpectedEof BadResource Http Busy NotSupported FilesystemLoop IsADirectory NetworkUnreachable NotADirectory NotCapable";

function every(permission: string, names: string): Record<string, readonly [string, boolean]> {
  return Object.fromEntries(names.split(" ").map((name) => [name, [permission, true] as const]));
}

/** Creates the `Deno` namespace as a source finds it under `deno run --allow-net`. */
export function createDeno({ load, print, exit, decodeUtf8 }: Internals): Record<string, unknown> {
  const errors = Object.fromEntries(
    ERRORS.split(" ").map((name) => {
      const type = class extends Error {
        override readonly name = name;
      };
      return [name, Object.defineProperty(type, "name", { value: name, configurable: true })];
    }),
  );
  const refuse = (permission: string, subject?: string): Error => {
    const named = subject === undefined ? "" : ` to "${subject}"`;
    const type = errors["NotCapable"] as ErrorConstructor;
    return new type(`Requires ${permission} access${named}, run again with the --allow-${permission} flag`);
  };
  const withheld =
    (permission: string, named: boolean | string) =>
    (args: readonly unknown[]): Error =>
      refuse(permission, named === true ? pathText(args[0]) : named === false ? undefined : named);

  const deno: Record<string, unknown> = {};
  for (const [name, [permission, named]] of Object.entries(WITHHELD)) {
    const error = withheld(permission, named);
    const isSynchronous = SYNCHRONOUS.split(" ").includes(name);
    const make = (own: string, synchronous: boolean): unknown =>
      ({
        [own](...args: unknown[]) {
          const found = error(args);
          if (synchronous || name === "readDir") throw found;
          return Promise.reject(found);
        },
      })[own];
    deno[name] = make(name, isSynchronous);
    if (!isSynchronous) deno[`${name}Sync`] = make(`${name}Sync`, true);
  }
  deno["readDir"] = async function* readDir(path: unknown) {
    yield await Promise.reject(withheld("read", true)([path]));
  };
  for (const name of REFUSED.split(" ")) {
    deno[name] = {
      [name]: () => {
        throw new (errors["NotSupported"] as ErrorConstructor)(`Deno.${name} is not available here`);
      },
    }[name];
  }
  for (const name of IDLE.split(" ")) deno[name] = { [name]: () => undefined }[name];
  for (const name of CLASSES.split(" ")) {
    deno[name] = {
      [name]: class {
        constructor() {
          throw new TypeError("Illegal constructor");
        }
      },
    }[name];
  }
  class Command {
    readonly #name: unknown;
    constructor(name: unknown) {
      this.#name = name;
    }
    output(): Promise<never> {
      return Promise.reject(refuse("run", pathText(this.#name)));
    }
    outputSync(): never {
      throw refuse("run", pathText(this.#name));
    }
    spawn(): never {
      throw refuse("run", pathText(this.#name));
    }
  }
  const output = {
    write: async (bytes: Uint8Array): Promise<number> => output.writeSync(bytes),
    writeSync: (bytes: Uint8Array): number => {
      print(decodeUtf8(bytes));
      return bytes.length;
    },
    close: (): void => {},
    isTerminal: (): boolean => false,
    rid: 1,
  };
  const input = {
    read: async () => null,
    readSync: () => null,
    close: (): void => {},
    isTerminal: (): boolean => false,
    rid: 0,
  };
  const answer = (descriptor: { readonly name: string } | undefined, otherwise: string, end = ""): object => {
    const name = String(descriptor?.name);
    if (!PERMISSIONS.includes(name))
      throw new TypeError(`The provided value "${name}" is not a valid permission name${end}`);
    return { state: name === "net" ? "granted" : otherwise, onchange: null, partial: false };
  };
  const query = (descriptor: { name: string }): object => answer(descriptor, "prompt");
  const request = (descriptor: { name: string }): object => answer(descriptor, "denied", ".");
  const inspect = (...args: unknown[]): unknown =>
    (load("console")["inspect"] as (...args: unknown[]) => unknown)(...args);
  Object.defineProperty(inspect, "name", { value: "inspect" });
  Object.assign(deno, {
    internal: Symbol("Deno.internal"),
    Command,
    SeekMode: { 0: "Start", 1: "Current", 2: "End", Start: 0, Current: 1, End: 2 },
    version: { deno: "2.9.6", v8: "15.0.245.2-rusty", typescript: "6.0.3" },
    build: {
      target: "x86_64-unknown-linux-gnu",
      arch: "x86_64",
      os: "linux",
      vendor: "unknown",
      env: "gnu",
      standalone: false,
    },
    errors,
    inspect,
    env: createEnvironment(refuse),
    cwd: () => "/",
    execPath: () => "/usr/bin/deno",
    exit: (code: unknown = 0) => exit(Number(code)),
    permissions: {
      query: async (descriptor: { name: string }) => query(descriptor),
      querySync: query,
      request: async (descriptor: { name: string }) => request(descriptor),
      requestSync: request,
      revoke: async (descriptor: { name: string }) => query(descriptor),
      revokeSync: query,
    },
    memoryUsage: () => ({ rss: 64_000_000, heapTotal: 8_000_000, heapUsed: 4_000_000, external: 2_000_000 }),
    cpuUsage: () => ({ user: 0, system: 0 }),
    stdin: input,
    stdout: output,
    stderr: output,
    telemetry: {},
    pid: 1,
    ppid: 0,
    noColor: false,
    isatty: () => false,
    args: [],
    mainModule: "file:///source.js",
  });
  return deno;
}

/** Creates `Deno.env`, which refuses everything except reading the variables of `READABLE`. */
export function createEnvironment(refuse: (permission: string, subject?: string) => Error): object {
  const one = (name: unknown): never => {
    throw refuse("env", String(name));
  };
  const get = (name: unknown): undefined => (READABLE.includes(String(name)) ? undefined : one(name));
  const all = (): never => {
    throw refuse("env");
  };
  return { get, toObject: all, set: one, has: one, delete: one };
}

function pathText(value: unknown): string {
  if (Object.prototype.toString.call(value) === "[object URL]")
    return (value as { pathname: string }).pathname;
  return String(value);
}
