import { checkInteger, showValuesWith } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { createModule } from "../node/module.ts";
import { nodeModules } from "../nodeModules.ts";
import { nameless, order, shape } from "../shape.ts";

type Exports = Readonly<Record<string, unknown>>;
const withDefault = (names: Record<string, unknown>): Exports => ({ ...names, default: names });

/** What Deno's `node:process` exports by name, of what the process has. */
const PROCESS_NAMES =
  "abort arch argv argv0 availableMemory chdir constrainedMemory cpuUsage cwd dlopen emitWarning env execArgv execPath exit getActiveResourcesInfo getBuiltinModule getegid geteuid getgid getuid hrtime loadEnvFile kill memoryUsage nextTick pid platform ppid removeAllListeners removeListener report resourceUsage setegid seteuid setgid setuid stderr stdin stdout threadCpuUsage umask version versions";
const processModule = (process: Record<string, unknown>): Exports => ({
  ...Object.fromEntries(PROCESS_NAMES.split(" ").map((name) => [name, process[name]])),
  default: process,
});

const FS_READ = "readFile readdir stat lstat readlink realpath open access opendir";
const FS_WRITE =
  "writeFile appendFile mkdir rm rmdir unlink rename copyFile chmod chown symlink truncate mkdtemp utimes cp";

type Refuse = (permission: string, subject?: unknown) => Error;

/** Functions of `node:os` that need a permission, and what their errors name. */
const OS_READS = {
  cpus: "cpus",
  freemem: "systemMemoryInfo",
  homedir: "homedir",
  hostname: "hostname",
  loadavg: "loadavg",
  networkInterfaces: "networkInterfaces",
  release: "osRelease",
  totalmem: "systemMemoryInfo",
  uptime: "osUptime",
  userInfo: "uid",
  version: "osRelease",
};
const OS_NAMES =
  "availableParallelism arch cpus endianness freemem getPriority homedir hostname loadavg networkInterfaces machine platform release setPriority tmpdir totalmem type uptime userInfo version constants EOL devNull";

/** Those of them that aren't converted to what they return. */
const NOT_TEXTS = "cpus getPriority loadavg networkInterfaces setPriority userInfo".split(" ");

/** Creates `node:os`. */
function createOs(constants: Readonly<Record<string, object>>, refuse: Refuse): Record<string, unknown> {
  const os: Record<string, unknown> = {
    EOL: "\n",
    devNull: "/dev/null",
    tmpdir(): never {
      throw refuse("env", "TMPDIR");
    },
    getPriority(pid: unknown = 0): never {
      checkInteger(pid, "pid", -(2 ** 31), 2 ** 31 - 1);
      throw refuse("sys", "getPriority");
    },
    setPriority(pid: unknown, priority: unknown): never {
      const isOnly = priority === undefined;
      if (!isOnly) checkInteger(pid, "pid", -(2 ** 31), 2 ** 31 - 1);
      checkInteger(isOnly ? pid : priority, "priority", -20, 19);
      throw refuse("sys", "setPriority");
    },
    constants: { UV_UDP_IPV6ONLY: 2, ...constants, signals: Object.freeze(constants["signals"]) },
  };
  const ends = {
    constants: { writable: false, configurable: false },
    EOL: { writable: false },
    devNull: { writable: false },
  };
  const texts = { arch: "x64", endianness: "LE", machine: "x86_64", platform: "linux", type: "Linux" };
  for (const [name, text] of Object.entries(texts)) os[name] = () => text;
  os["availableParallelism"] = () => 1;
  for (const [name, subject] of Object.entries(OS_READS))
    os[name] = () => {
      throw refuse("sys", subject);
    };
  for (const [name, read] of Object.entries(os)) {
    if (typeof read !== "function") continue;
    shape(os, { "": `${name}/${name === "setPriority" ? 2 : 0}+` });
    if (!NOT_TEXTS.includes(name))
      Object.assign(read, { [Symbol.toPrimitive]: nameless(() => (read as () => unknown)()) });
  }
  return Object.defineProperties(order(os, OS_NAMES), ends);
}

/** Creates the system modules: as on the nodes, they can be imported, but any use that needs a permission is refused. */
export default function nodeSystemChunk({ load, native }: Internals): Readonly<Record<string, Exports>> {
  showValuesWith(load);
  const { errors } = load("platform")["Deno"] as { errors: Record<string, ErrorConstructor> };
  const refuse = (permission: string, subject?: unknown): Error => {
    const named = subject === undefined ? "" : ` to "${String(subject)}"`;
    return new (errors["NotCapable"] as ErrorConstructor)(
      `Requires ${permission} access${named}, run again with the --allow-${permission} flag`,
    );
  };
  const promises: Record<string, unknown> = { constants: {} };
  const fs: Record<string, unknown> = {
    constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 },
    promises,
    existsSync: (path: unknown): boolean => {
      if (path === undefined) return false;
      throw refuse("read", path);
    },
  };
  for (const [permission, list] of [
    ["read", FS_READ],
    ["write", FS_WRITE],
  ] as const) {
    for (const name of list.split(" ")) {
      promises[name] = async (path: unknown) => Promise.reject(refuse(permission, path));
      fs[`${name}Sync`] = (path: unknown): never => {
        throw refuse(permission, path);
      };
      fs[name] = (path: unknown, ...rest: unknown[]): void => {
        const callback = rest.at(-1);
        if (typeof callback === "function")
          void Promise.resolve().then(() => (callback as (error: Error) => void)(refuse(permission, path)));
      };
    }
  }
  for (const name of ["createReadStream", "createWriteStream", "watch", "watchFile"]) {
    fs[name] = (path: unknown): never => {
      throw refuse(name === "createWriteStream" ? "write" : "read", path);
    };
  }
  const noEnvironment = (): never => {
    throw refuse("env");
  };
  const processes = Object.fromEntries(
    ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"].map((name) => [
      name,
      noEnvironment,
    ]),
  );
  const constants = JSON.parse(native("osConstants", {}) as string) as Record<string, object>;
  const os = createOs(constants, refuse);
  const getBuiltinModule = (name: unknown): unknown => {
    const entry = Object.hasOwn(nodeModules, String(name)) ? nodeModules[String(name)] : undefined;
    if (entry === undefined) return undefined;
    const [chunk = "", member] = entry.split("#");
    const exported = load(chunk);
    return (member === undefined ? exported : (exported[member] as Exports))["default"];
  };
  const unreachable = (name: string) => (): never => {
    throw new (errors["NotSupported"] as ErrorConstructor)(`${name} is not available here: use fetch`);
  };
  const http = {
    request: unreachable("http.request"),
    get: unreachable("http.get"),
    createServer: unreachable("http.createServer"),
    Agent: class Agent {},
    ...(JSON.parse(native("httpNames", {}) as string) as object),
  };
  const ipVersion = (text: unknown): number => {
    // An address of version 6 may end with the name of its zone.
    const value = String(text).replace(/(?<=^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)%[\w.-]+$/, "");
    if (/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(value)) return 4;
    const { URL } = load("url") as { URL: { canParse(url: string): boolean } };
    return value.includes(":") && /^[0-9a-fA-F:.]+$/.test(value) && URL.canParse(`http://[${value}]/`)
      ? 6
      : 0;
  };
  const net = {
    isIP: ipVersion,
    isIPv4: (text: unknown) => ipVersion(text) === 4,
    isIPv6: (text: unknown) => ipVersion(text) === 6,
    connect: unreachable("net.connect"),
    createConnection: unreachable("net.createConnection"),
    createServer: unreachable("net.createServer"),
    Socket: class Socket {},
  };
  const worker = {
    isMainThread: true,
    threadId: 0,
    parentPort: null,
    workerData: null,
    Worker: load("platform")["Worker"],
  };
  const lookup = { lookup: unreachable("dns.lookup"), resolve: unreachable("dns.resolve"), promises: {} };
  return {
    fs: withDefault(fs),
    fsPromises: withDefault(promises),
    childProcess: withDefault(processes),
    os: withDefault(os),
    http: withDefault(http),
    net: withDefault(net),
    worker: withDefault(worker),
    dns: withDefault(lookup),
    process: processModule(load("platform")["process"] as Record<string, unknown>),
    module: createModule({ getBuiltinModule, refuseRead: (path) => refuse("read", path), native }),
    tty: withDefault({ isatty: () => false }),
  };
}
