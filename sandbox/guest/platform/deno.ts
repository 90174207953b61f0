import type { Internals } from "../internals.ts";
import { order, shape } from "../shape.ts";
import { READABLE } from "./process.ts";

/**
 * Members of `Deno` that the nodes withhold: the permission each one requires, and whether the error names the first
 * argument (`true`), nothing (`false`) or a fixed subject.
 */
const WITHHELD: Readonly<Record<string, readonly [permission: string, named: boolean | string]>> = {
  ...every(
    "read",
    "readTextFile readFile readDir stat lstat readLink realPath open watchFs create copyFile rename",
  ),
  ...every("write", "writeFile writeTextFile mkdir remove truncate chmod chown symlink link utime"),
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

/** The members in Deno's order, and what their functions are like, as {@link shape} reads it. */
const MEMBERS =
  "internal test/0+=noopTest bench/0 lint Process run isatty/1+ writeFileSync/2+ writeFile/2 writeTextFileSync/2+ writeTextFile/2+ readTextFile/2 readTextFileSync/1+ readFile/2 readFileSync/1+ watchFs/1+ chmodSync/2+ chmod/2 chown/3 chownSync/3+ copyFileSync/2+ cwd/0+ makeTempDirSync/0+ makeTempDir/0+ makeTempFileSync/0+ makeTempFile/0+ cpuUsage/0 memoryUsage/0 mkdirSync/2+ mkdir/2 chdir/1+ copyFile/2 readDirSync/1+ readDir/1+ readLinkSync/1+ readLink/1+ realPathSync/1+ realPath/1+ removeSync/1+ remove/1 renameSync/2+ rename/2 version build statSync/1+ lstatSync/1+ stat/1 lstat/1 truncateSync/2+ truncate/2 errors inspect/1+ env exit/1+ execPath/0+ SeekMode FsFile/2+ open/2 openSync/2+ create/1+ createSync/1+ stdin stdout stderr connect/1 listen/1+ loadavg/0+ connectTls/1 listenTls/1+ startTls/1 symlink/3 symlinkSync/3+ link/2 linkSync/2+ permissions Permissions/0+ PermissionStatus/0+ serveHttp serve/2+ resolveDns/3 upgradeWebSocket/2+ utime/3 utimeSync/3+ kill/1+ addSignalListener/2+ removeSignalListener/2+ refTimer/1+ unrefTimer/1+ osRelease/0+ osUptime/0+ hostname/0+ systemMemoryInfo/0+ networkInterfaces/0+ consoleSize/0+ gid/0+ uid/0+ Command/2+ ChildProcess spawn spawnAndWait spawnAndWaitSync dlopen/2+ UnsafeCallback/2+ UnsafePointer/0+ UnsafePointerView/1+ UnsafeFnPointer/2+ umask/1+ HttpClient/1+ createHttpClient/1+ telemetry pid ppid noColor args mainModule";

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
      const own = { name: { value: name, configurable: true }, length: { value: 2, configurable: true } };
      return [name, Object.defineProperties(type, own)];
    }),
  );
  const refuse = (permission: string, subject?: string): Error => {
    const named = subject === undefined ? "" : ` to ${subject === "<TMP>" ? subject : `"${subject}"`}`;
    const type = errors["NotCapable"] as ErrorConstructor;
    return new type(`Requires ${permission} access${named}, run again with the --allow-${permission} flag`);
  };
  const withheld =
    (permission: string, named: boolean | string) =>
    (args: readonly unknown[]): Error =>
      refuse(permission, named === true ? pathText(args[0]) : named === false ? undefined : named);

  const deno: Record<string, unknown> = {};
  let exitCode = 0;
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
  /** One of the three streams of a process. */
  class Stream {
    readonly #number: number;
    constructor(number: number) {
      this.#number = number;
    }
    get rid(): number {
      return this.#number;
    }
    close(): void {}
    isTerminal(): boolean {
      return false;
    }
  }
  class Stdout extends Stream {
    async write(bytes: Uint8Array): Promise<number> {
      return this.writeSync(bytes);
    }
    writeSync(bytes: Uint8Array): number {
      if (!ArrayBuffer.isView(bytes)) throw new TypeError("expected typed ArrayBufferView");
      print(decodeUtf8(bytes));
      return bytes.length;
    }
  }
  class Stderr extends Stdout {}
  class Stdin extends Stream {
    async read(): Promise<null> {
      return null;
    }
    readSync(): null {
      return null;
    }
  }
  class PermissionStatus {
    readonly #state: string;
    onchange = null;
    constructor(state: string) {
      this.#state = state;
    }
    get state(): string {
      return this.#state;
    }
    get partial(): boolean {
      return false;
    }
    [Symbol.for("Deno.customInspect")](
      inspect: (value: unknown, options: unknown) => string,
      options: unknown,
    ): string {
      return `PermissionStatus ${inspect({ state: this.state, onchange: this.onchange }, options)}`;
    }
  }
  const answer = (descriptor: { readonly name: string } | undefined, otherwise: string, end = ""): object => {
    const name = String(descriptor?.name);
    if (!PERMISSIONS.includes(name))
      throw new TypeError(`The provided value "${name}" is not a valid permission name${end}`);
    return new PermissionStatus(name === "net" ? "granted" : otherwise);
  };
  const query = (descriptor: { name: string }): object => answer(descriptor, "prompt");
  const request = (descriptor: { name: string }): object => answer(descriptor, "denied", ".");
  const permissions = (deno["Permissions"] as { readonly prototype: object }).prototype;
  const methods = {
    query: async (descriptor: { name: string }) => query(descriptor),
    querySync: query,
    request: async (descriptor: { name: string }) => request(descriptor),
    requestSync: request,
    revoke: async (descriptor: { name: string }) => query(descriptor),
    revokeSync: query,
  };
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(permissions, name, { value, writable: true, configurable: true });
  const inspect = (...args: unknown[]): unknown =>
    (load("console")["inspect"] as (...args: unknown[]) => unknown)(...args);
  Object.defineProperty(inspect, "name", { value: "inspect" });
  Object.assign(deno, {
    internal: Symbol("Deno.internal"),
    Command,
    SeekMode: { 0: "Start", 1: "Current", 2: "End", Start: 0, Current: 1, End: 2 },
    version: Object.freeze({ deno: "2.9.6", v8: "15.0.245.2-rusty", typescript: "6.0.3" }),
    build: Object.freeze({
      target: "x86_64-unknown-linux-gnu",
      arch: "x86_64",
      os: "linux",
      vendor: "unknown",
      env: "gnu",
      standalone: false,
    }),
    errors,
    inspect,
    env: createEnvironment(refuse),
    cwd: () => "/",
    execPath: () => "/usr/bin/deno",
    exit: (code: unknown = 0) => exit(Number(code)),
    permissions: Object.create(permissions) as object,
    memoryUsage: () => ({ rss: 64_000_000, heapTotal: 8_000_000, heapUsed: 4_000_000, external: 2_000_000 }),
    cpuUsage: () => ({ user: 0, system: 0 }),
    stdin: new Stdin(0),
    stdout: new Stdout(1),
    stderr: new Stderr(2),
    telemetry: {},
    pid: 1,
    ppid: 0,
    noColor: false,
    isatty: () => false,
    args: [],
    mainModule: "file:///source.js",
  });
  shape(deno, { "": MEMBERS });
  return Object.defineProperty(order(deno, MEMBERS.replaceAll(/\/\S+/g, "")), "exitCode", {
    get: () => exitCode,
    set(code: unknown) {
      if (code === null || code === undefined) code = 0;
      if (typeof code !== "number")
        throw new TypeError(`Exit code must be a number, got: ${String(code)} (${typeof code})`);
      if (!Number.isInteger(code)) throw new RangeError(`Exit code must be an integer, got: ${code}`);
      exitCode = code;
    },
  });
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
