import {
  checkInteger,
  invalidArgument,
  missing,
  nodeError,
  outOfRange,
  wrongArgument,
  wrongType,
} from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { order, shape } from "../shape.ts";

/** Environment variables that Deno lets every program read; none of them is set here. */
export const READABLE: readonly string[] = ["FORCE_COLOR", "NODE_DEBUG", "NODE_OPTIONS", "NO_COLOR"];

/** The part of Node's `EventEmitter` that the process uses. */
interface Emitter {
  _events: Record<string, unknown>;
  on(name: string, listener: (...args: never[]) => void): unknown;
  emit(name: string, ...args: unknown[]): boolean;
  listenerCount(name: string): number;
}
type EmitterClass = new () => Emitter;
/** An event of the window that an uncaught error or rejection has made. */
interface Uncaught {
  readonly error: unknown;
  readonly reason: unknown;
  readonly promise: unknown;
  preventDefault(): void;
}
type Listen = (type: string, listener: (event: Uncaught) => void) => void;

/** Functions that need a permission to read about the system, and what their errors name. */
const READS = {
  getgid: "gid",
  getuid: "uid",
  getgroups: "gid",
  getegid: "getegid",
  geteuid: "uid",
  availableMemory: "systemMemoryInfo",
  constrainedMemory: "systemMemoryInfo",
};
const SETS = ["setegid", "seteuid", "setgid", "setuid"];
/** The order of the process's properties in Deno. */
const ORDER =
  "_events _eventsCount _maxListeners release arch report title argv argv0 debugPort _debugEnd _debugProcess chdir config cpuUsage threadCpuUsage cwd env execArgv exit abort openStdin _rawDebug getActiveResourcesInfo _getActiveRequests _getActiveHandles reallyExit _exiting setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback _fatalException exitCode mainModule nextTick dlopen pid ppid platform setSourceMapsEnabled sourceMapsEnabled hrtime _kill kill memoryUsage availableMemory constrainedMemory resourceUsage stderr stdin stdout version versions emitWarning binding umask getgid getuid getgroups getegid geteuid setegid seteuid setgid setuid getBuiltinModule _eval loadEnvFile execPath uptime allowedNodeEnvironmentFlags features noDeprecation moduleLoadList";
/** Which of its functions differ from ours in their properties, as `shape` reads them. */
const SHAPES = {
  "": "_debugEnd/0+ _debugProcess/1+ chdir/1+ cpuUsage/1+ threadCpuUsage/1+ cwd/0+ openStdin/0= _rawDebug/0= getActiveResourcesInfo/0+ _getActiveRequests/0+=getActiveRequests _getActiveHandles/0+=getActiveHandles reallyExit/1= setUncaughtExceptionCaptureCallback/1+= hasUncaughtExceptionCaptureCallback/0+= _fatalException/2+= nextTick/1+ dlopen/3+ setSourceMapsEnabled/1= _kill/2+ kill/1+ memoryUsage/0+ availableMemory/0+ constrainedMemory/0+ resourceUsage/0+ emitWarning/4+ binding/1= umask/1+ getgroups/0= setegid/1+= seteuid/1+= setgid/1+= setuid/1+= loadEnvFile/0+ uptime/0=",
  hrtime: "bigint/0+=",
  memoryUsage: "rss/0+=",
  _events: "warning/1+=onWarning",
  report: "getReport/1+ writeReport/2+",
};
const RESOURCES =
  "userCPUTime systemCPUTime maxRSS sharedMemorySize unsharedDataSize unsharedStackSize minorPageFault majorPageFault swappedOut fsRead fsWrite ipcSent ipcReceived signalsCount voluntaryContextSwitches involuntaryContextSwitches";
const MEMORY = {
  rss: 64_000_000,
  heapTotal: 8_000_000,
  heapUsed: 4_000_000,
  external: 2_000_000,
  arrayBuffers: 0,
};
const VERSION = "26.3.0";
const VERSIONS = readFields(
  `node=${VERSION} uv=1.52.1 zlib=1.3.1-e00f703 brotli=1.2.0 ares=1.34.6 modules=147 nghttp2=1.69.0 napi=10 llhttp=9.4.1 openssl=3.0.7+quic cldr=48.0 icu=78.3 tz=2026b unicode=17.0 ngtcp2= nghttp3= sqlite=3.53.1 deno=2.9.6 v8=15.0.245.2-rusty typescript=6.0.3`,
);
const RELEASE_URL = `https://nodejs.org/download/release/v${VERSION}/node-v${VERSION}`;
/** What can't be written, or isn't listed. */
const FIXED = {
  release: { name: "node", sourceUrl: `${RELEASE_URL}.tar.gz`, headersUrl: `${RELEASE_URL}-headers.tar.gz` },
  arch: "x64",
  config: {
    target_defaults: { default_configuration: "Release" },
    variables: {
      node_module_version: 147,
      llvm_version: "0.0",
      enable_lto: "false",
      enable_thin_lto: "false",
      lto_jobs: "",
      host_arch: "x64",
    },
  },
  pid: 1,
  ppid: 0,
};
/** What can be written, and isn't listed. */
const HIDDEN = { title: "deno", argv0: "deno", platform: "linux", execPath: "/usr/bin/deno" };
const FEATURES = Object.fromEntries(
  "inspector debug uv ipv6 tls_alpn tls_sni tls_ocsp tls openssl_is_boringssl quic cached_builtins require_module"
    .split(" ")
    .map((name) => [name, name !== "debug" && name !== "quic"]),
);
const TYPESCRIPT = Object.getOwnPropertyDescriptors({
  get typescript() {
    return "transform";
  },
});

/** Reads fields written as `name=value`, in one text. */
function readFields(text: string): Record<string, string> {
  return Object.fromEntries(text.split(" ").map((field) => field.split("=") as [string, string]));
}

type Refuse = (permission: string, subject?: string) => Error;

/** Creates the environment: every variable that Deno doesn't let all programs read is refused. */
function createEnvironment(refuse: Refuse): object {
  const named = (key: PropertyKey): never => {
    throw refuse("env", String(key));
  };
  const isReadable = (key: PropertyKey): boolean => typeof key === "symbol" || READABLE.includes(String(key));
  return new Proxy(
    {},
    {
      get: (_, key) => (isReadable(key) ? undefined : named(key)),
      set: (_, key) => named(typeof key === "symbol" ? (key as never) + "" : key),
      has: (_, key) => !isReadable(key) && named(key),
      deleteProperty: (_, key) => named(key),
      getOwnPropertyDescriptor: (_, key) => (isReadable(key) ? undefined : named(key)),
      ownKeys: () => {
        throw refuse("env");
      },
    },
  );
}

/** Creates a standard stream, which no terminal shows. */
function createStream({ load, print, decodeUtf8 }: Internals, fd: number): object {
  const { stream } = load("nodeStream") as Record<string, Record<string, new (options: object) => object>>;
  if (fd === 0) {
    const Readable = stream?.["Readable"] as new (options: object) => object;
    return Object.assign(new Readable({ read() {} }), { fd, isTTY: false });
  }
  const Writable = stream?.["Writable"] as new (options: object) => object;
  const options = {
    decodeStrings: false,
    write(piece: string | Uint8Array, encoding: string, done: () => void): void {
      const { Buffer } = load("buffer") as unknown as { Buffer: { from(...args: unknown[]): Uint8Array } };
      print(decodeUtf8(typeof piece === "string" ? Buffer.from(piece, encoding) : piece));
      done();
    },
    destroy(_error: unknown, done: () => void): void {
      done();
    },
  };
  const made = Object.assign(new Writable(options), {
    fd,
    destroySoon: (Writable.prototype as { destroy?: unknown }).destroy,
    _isStdio: true,
  });
  const listed = { enumerable: true, configurable: true };
  const none = { get: () => undefined, ...listed };
  return Object.defineProperties(made, {
    columns: none,
    rows: none,
    isTTY: { ...none, get: () => false },
    getWindowSize: { value: () => undefined, ...listed },
    getColorDepth: { value: () => 1, ...listed, writable: true },
    hasColors: { value: (_count: unknown, _env: unknown) => false, ...listed, writable: true },
  });
}

/** The functions of the process that use nothing but its permissions. */
function createFunctions(refuse: Refuse, native: Internals["native"]): Record<string, unknown> {
  const functions: Record<string, (...args: unknown[]) => unknown> = {
    chdir(directory) {
      if (typeof directory !== "string") throw wrongType("directory", "string", directory);
      if (directory === "") throw new Error("Empty path is not allowed");
      throw refuse("read", directory);
    },
    kill(pid, signal = "SIGTERM") {
      // eslint-disable-next-line eqeqeq -- as in Deno, a text of a number will do
      if (pid != ((pid as number) | 0)) throw wrongType("pid", "number", pid);
      const { signals } = JSON.parse(native("osConstants", {}) as string) as { signals: object };
      if (typeof signal !== "number" && !Object.hasOwn(signals, signal as string))
        throw nodeError("ERR_UNKNOWN_SIGNAL", `Unknown signal: ${String(signal)}`, TypeError);
      if (signal === 0 && Number(pid) === 1) return true;
      throw refuse("run");
    },
    umask(mask) {
      const isOctal = typeof mask === "string" && /^[0-7]+$/.test(mask);
      if (mask !== undefined && !isOctal) {
        if (typeof mask === "string")
          throw invalidArgument("mask", mask, "must be a 32-bit unsigned integer or an octal string");
        checkInteger(mask ?? undefined, "mask", 0, 2 ** 32 - 1);
      }
      throw refuse("sys", "umask");
    },
    dlopen(_module, path, _flags) {
      throw refuse("ffi", (path as object).toString());
    },
    loadEnvFile(path = ".env") {
      if (typeof path !== "string" && !ArrayBuffer.isView(path))
        throw wrongArgument("path", "of type string or an instance of Buffer or URL", path);
      throw refuse("env");
    },
    cpuUsage(earlier) {
      const { user, system } = usageSince(earlier);
      return earlier ? { user, system } : { system, user };
    },
    threadCpuUsage(earlier) {
      return usageSince(earlier);
    },
    resourceUsage: () => Object.fromEntries(RESOURCES.split(" ").map((name) => [name, 0])),
    memoryUsage: Object.assign(() => ({ ...MEMORY }), { rss: () => MEMORY.rss }),
    getActiveResourcesInfo: () => [],
    _getActiveRequests: () => [],
    _getActiveHandles: () => [],
    _debugEnd() {},
    _fatalException: () => false,
    setSourceMapsEnabled(isOn) {
      if (typeof isOn !== "boolean") throw wrongType("val", "boolean", isOn);
    },
    binding: (name) => {
      throw new Error(`No such module: ${name as number}`);
    },
  };
  for (const name of ["_debugProcess", "_kill", "abort", "openStdin", "_rawDebug", "reallyExit"])
    functions[name] = missing(`process: ${name}`);
  for (const name of SETS)
    functions[name] = (id) => {
      if (typeof id === "number") checkInteger(id, "id", 0, 2 ** 32 - 1, ">= 0 && < 4294967296");
      else if (typeof id !== "string") throw wrongArgument("id", "one of type number or string", id);
      throw refuse("sys", name);
    };
  for (const [name, subject] of Object.entries(READS))
    functions[name] = () => {
      throw refuse("sys", subject);
    };
  for (const [name, value] of Object.entries(functions))
    Object.defineProperty(value, "name", { value: name });
  return functions;
}

/** How much of the processor was used: none that a source could learn. */
function usageSince(earlier: unknown): { user: number; system: number } {
  if (earlier) {
    if (typeof earlier !== "object") throw wrongType("prevValue", "object", earlier);
    for (const name of ["user", "system"]) {
      const value = (earlier as Record<string, unknown>)[name];
      if (typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER) continue;
      if (typeof value !== "number") throw wrongType(`prevValue.${name}`, "number", value);
      const error = invalidArgument(`prevValue.${name}`, value);
      throw nodeError("ERR_INVALID_ARG_VALUE", error.message, RangeError);
    }
  }
  return { user: 0, system: 0 };
}

/** Creates the functions that say how long the process has run. */
function createClock(): object {
  const startMs = Date.now();
  const elapsed = (): bigint => BigInt(Math.round((Date.now() - startMs) * 1e6)) + 1n;
  function hrtime(earlier?: readonly number[]): [number, number] {
    let left = elapsed();
    if (earlier) {
      if (!Array.isArray(earlier)) throw wrongArgument("time", "an instance of Array", earlier);
      if (earlier.length !== 2) throw outOfRange("time", "2", earlier.length);
      left -= BigInt(earlier[0] as number) * 1_000_000_000n + BigInt(earlier[1] as number);
    }
    return [Number(left / 1_000_000_000n), Number(left % 1_000_000_000n)];
  }
  return {
    hrtime: Object.assign(hrtime, { bigint: elapsed }),
    uptime: () => (Date.now() - startMs) / 1000,
  };
}

/** Reads an exit code, which may be a number's text. */
function readExitCode(value: unknown): number {
  if (value === undefined || value === null) return 0;
  const code = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof code === "number" && Number.isInteger(code)) return code;
  if (typeof value === "number") throw checkInteger(value, "code");
  throw wrongArgument("code", "integer", value);
}

/** Creates what `emitWarning` has been told of a warning. */
function createWarning(warning: unknown, given: unknown, ownCode: unknown): Error {
  let [type, code, detail] = [given, ownCode, undefined as unknown];
  if (typeof given === "object" && given !== null && !Array.isArray(given)) {
    const options = given as Record<string, unknown>;
    ({ code } = options);
    detail = options["detail"];
    type = options["type"] || "Warning";
  } else if (typeof given === "function") [type, code] = ["Warning", undefined];
  if (type !== undefined && typeof type !== "string") throw wrongType("type", "string", type);
  if (typeof code === "function") code = undefined;
  if (code !== undefined && typeof code !== "string") throw wrongType("code", "string", code);
  if (warning instanceof Error) return warning;
  if (typeof warning !== "string")
    throw wrongArgument("warning", "of type string or an instance of Error", warning);
  const made = new Error(warning);
  made.name = type ?? "Warning";
  return Object.assign(made, code !== undefined && { code }, typeof detail === "string" && { detail });
}

function warningText(warning: { readonly code?: unknown; readonly detail?: unknown }): string {
  const code = warning.code ? `[${String(warning.code)}] ` : "";
  const detail = typeof warning.detail === "string" ? `\n${warning.detail}` : "";
  // eslint-disable-next-line typescript/no-base-to-string -- an error
  return `(node:1) ${code}${String(warning)}${detail}\n`;
}

/** Passes uncaught errors and rejections to the process's listeners, as long as it has some. */
function followUncaught(process: Emitter, listen: Listen, ignore: Listen): object {
  const counts: Record<string, number> = {
    unhandledRejection: 0,
    uncaughtException: 0,
    uncaughtExceptionMonitor: 0,
  };
  let capture: ((error: unknown) => void) | null = null;
  const isCaught = (): boolean => capture !== null || process.listenerCount("uncaughtException") > 0;
  function pass(event: Uncaught, error: unknown, origin: string): void {
    if (isCaught()) event.preventDefault();
    process.emit("uncaughtExceptionMonitor", error, origin);
    if (capture !== null) capture(error);
    else process.emit("uncaughtException", error, origin);
  }
  const onError = (event: Uncaught): void => pass(event, event.error, "uncaughtException");
  const onRejection = (event: Uncaught): void => {
    if (process.listenerCount("unhandledRejection") === 0)
      return pass(event, event.reason, "unhandledRejection");
    event.preventDefault();
    process.emit("unhandledRejection", event.reason, event.promise);
  };
  function synchronize(): void {
    const errors = (counts["uncaughtException"] ?? 0) + (counts["uncaughtExceptionMonitor"] ?? 0);
    const isListening = errors > 0 || capture !== null;
    (isListening ? listen : ignore)("error", onError);
    const rejections = counts["unhandledRejection"] ?? 0;
    (isListening || rejections > 0 ? listen : ignore)("unhandledrejection", onRejection);
  }
  const count = (by: number) => (name: string) => {
    if (counts[name] === undefined) return;
    counts[name] += by;
    synchronize();
  };
  process.on("newListener", count(1));
  process.on("removeListener", count(-1));
  return {
    setUncaughtExceptionCaptureCallback(callback: unknown): void {
      if (callback !== null && typeof callback !== "function")
        throw wrongArgument("fn", "of type function or null", callback);
      capture = callback as typeof capture;
      synchronize();
    },
    hasUncaughtExceptionCaptureCallback: () => capture !== null,
  };
}

/** Creates an emitter of a class of its own, with the methods that Deno's has. */
function createEmitter(EventEmitter: EmitterClass): Emitter {
  // V8 names the class in its errors.
  const { process: Process } = { process: class extends EventEmitter {} };
  const lengths =
    "on/2+= off/2+= emit/1+= prependListener/2+= addListener/2+= removeListener/2+= removeAllListeners/1+=";
  const methods = EventEmitter.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const [name = ""] of lengths.split(" ").map((entry) => entry.split("/")))
    Object.assign(Process.prototype, {
      [name]: (() =>
        function (this: unknown, ...args: unknown[]): unknown {
          return Reflect.apply(methods[name]!, this, args);
        })(),
    });
  shape(Process.prototype, { "": lengths });
  return new Process();
}

/** A property that is made when it is first read. */
function lazily(make: () => unknown): PropertyDescriptor {
  let made: unknown;
  return {
    get: () => (made ??= make()),
    set: (value: unknown) => void (made = value),
    enumerable: true,
    configurable: true,
  };
}

/** Creates Node's `process` to the extent that Deno offers it to a program without permissions. */
export function createProcess(internals: Internals): object {
  const { load, exit, nextTick, loseTime, noteProcess, bindContext } = internals;
  noteProcess();
  const refuse: Refuse = (permission, subject) => {
    const { errors } = load("platform")["Deno"] as { errors: { NotCapable: ErrorConstructor } };
    const named = subject === undefined ? "" : ` to "${subject}"`;
    return new errors.NotCapable(
      `Requires ${permission} access${named}, run again with the --allow-${permission} flag`,
    );
  };
  const { EventEmitter } = load("node")["events"] as { EventEmitter: EmitterClass };
  const process = createEmitter(EventEmitter);
  let exitCode: unknown;
  let debugPort = 9229;
  /** The report on the process, which can't be made without permissions. */
  const report = {
    compact: false,
    directory: "",
    filename: "",
    getReport(): never {
      throw refuse("sys", "cpus");
    },
    reportOnFatalError: false,
    reportOnSignal: false,
    reportOnUncaughtException: false,
    signal: "SIGUSR2",
    writeReport: () => "",
  };
  const { addEventListener, removeEventListener } = load("events") as Record<string, Listen>;
  Object.assign(process, {
    argv: ["/usr/bin/deno", "/source.js"],
    env: createEnvironment(refuse),
    execArgv: [],
    cwd: () => "/",
    exit(code: unknown) {
      if (code !== undefined) members.exitCode = code;
      const known = readExitCode(exitCode);
      if (!members._exiting) {
        members._exiting = true;
        process.emit("exit", known);
      }
      exit(known);
    },
    _exiting: false,
    mainModule: undefined,
    nextTick(callback: unknown, ...args: unknown[]) {
      if (typeof callback !== "function") throw wrongType("callback", "function", callback);
      const bound = bindContext(callback as (...args: unknown[]) => void);
      loseTime();
      nextTick(() => bound(...args));
    },
    version: `v${VERSION}`,
    versions: VERSIONS,
    emitWarning(warning: unknown, type?: unknown, code?: unknown) {
      const made = createWarning(warning, type, code);
      nextTick(() => void process.emit("warning", made));
    },
    _eval: undefined,
    ...createClock(),
    noDeprecation: false,
    moduleLoadList: [],
    getBuiltinModule(id: unknown) {
      if (typeof id !== "string") throw wrongType("id", "string", id);
      return (load("nodeSystem")["module"] as { getBuiltinModule(name: unknown): unknown }).getBuiltinModule(
        id,
      );
    },
    ...createFunctions(refuse, internals.native),
    ...followUncaught(process, addEventListener!.bind(globalThis), removeEventListener!.bind(globalThis)),
  });
  process.on("warning", (warning: object) => internals.print(warningText(warning)));
  const members = process as unknown as { exitCode: unknown; _exiting: boolean };
  for (const [name, value] of Object.entries(FIXED))
    Object.defineProperty(process, name, { get: () => value, configurable: true });
  for (const [name, value] of Object.entries(HIDDEN))
    Object.defineProperty(process, name, { ...lazily(() => value), enumerable: false });
  Object.defineProperties(process, {
    features: {
      value: Object.defineProperties({ ...FEATURES }, TYPESCRIPT),
      enumerable: true,
      configurable: true,
    },
    sourceMapsEnabled: { get: () => true, enumerable: true, configurable: true },
    debugPort: {
      get: () => debugPort,
      set(value: unknown) {
        const port = Number(value);
        if (port !== 0 && !(port >= 1024 && port <= 65_535))
          throw new RangeError("process.debugPort must be 0 or in range 1024 to 65535");
        debugPort = port;
      },
      enumerable: true,
      configurable: true,
    },
    report: { get: () => report, configurable: true },
    exitCode: {
      get: () => exitCode,
      set(value: unknown) {
        readExitCode(value);
        exitCode = value;
      },
      configurable: true,
    },
    stderr: lazily(() => createStream(internals, 2)),
    stdin: lazily(() => createStream(internals, 0)),
    stdout: lazily(() => createStream(internals, 1)),
    [Symbol.toStringTag]: { value: "process", writable: true },
  });
  shape(process, SHAPES);
  order(process, ORDER);
  for (const name of ["release", "exitCode", "pid", "ppid", "report", "title", "argv0", "execPath"])
    Object.defineProperty(process, name, { configurable: false });
  return process;
}
