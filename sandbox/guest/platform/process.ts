import type { Internals } from "../internals.ts";
import { wrongArgument, wrongType } from "../buffer/errors.ts";

/** Environment variables that Deno lets every program read; none of them is set here. */
export const READABLE: readonly string[] = ["FORCE_COLOR", "NODE_DEBUG", "NODE_OPTIONS", "NO_COLOR"];

/** Creates Node's `process` to the extent that Deno offers it to a program without permissions. */
export function createProcess({
  load,
  print,
  exit,
  setTimeout,
  nextTick,
  bindContext,
  decodeUtf8,
}: Internals): object {
  const startMs = Date.now();
  const refuse = (name?: string, permission = "env"): Error => {
    const { errors } = load("platform")["Deno"] as { errors: { NotCapable: ErrorConstructor } };
    const named = name === undefined ? "" : ` to "${name}"`;
    return new errors.NotCapable(
      `Requires ${permission} access${named}, run again with the --allow-${permission} flag`,
    );
  };
  const named = (key: PropertyKey): never => {
    throw refuse(String(key));
  };
  const env = new Proxy(
    {},
    {
      get: (_, key) => (typeof key === "symbol" || READABLE.includes(key) ? undefined : named(key)),
      set: (_, key) => named(key),
      has: (_, key) => named(key),
      deleteProperty: (_, key) => named(key),
      getOwnPropertyDescriptor: (_, key) => named(key),
      ownKeys: () => {
        throw refuse();
      },
    },
  );
  const stream = (fd: number): object => ({
    fd,
    isTTY: false,
    writable: true,
    write: (text: unknown): boolean => {
      print(typeof text === "string" ? text : decodeUtf8(text as Uint8Array));
      return true;
    },
    end: (): void => {},
    on: (): void => {},
    once: (): void => {},
    emit: (): boolean => false,
  });
  const subjects = { getuid: "uid", getgid: "gid", geteuid: "geteuid", getegid: "getegid" };
  const ids: Record<string, unknown> = {};
  for (const [name, subject] of Object.entries(subjects)) {
    const refusing = (): never => {
      throw refuse(subject, "sys");
    };
    ids[name] = Object.defineProperty(refusing, "name", { value: name });
  }
  const elapsed = (): bigint => BigInt(Math.round((Date.now() - startMs) * 1e6)) + 1n;
  const hrtime = Object.assign(
    (earlier?: readonly [number, number]): [number, number] => {
      let left = elapsed();
      if (earlier !== undefined && !Array.isArray(earlier))
        throw wrongArgument("time", "an instance of Array", earlier);
      if (earlier !== undefined) left -= BigInt(earlier[0]) * 1_000_000_000n + BigInt(earlier[1]);
      return [Number(left / 1_000_000_000n), Number(left % 1_000_000_000n)];
    },
    { bigint: elapsed },
  );
  const memory = {
    rss: 64_000_000,
    heapTotal: 8_000_000,
    heapUsed: 4_000_000,
    external: 2_000_000,
    arrayBuffers: 0,
  };
  const listeners = (): object => process;
  const process: Record<string, unknown> = {
    title: "deno",
    platform: "linux",
    arch: "x64",
    pid: 1,
    ppid: 0,
    version: "v26.3.0",
    versions: {
      node: "26.3.0",
      v8: "15.0.245.2-rusty",
      deno: "2.9.6",
      uv: "1.48.0",
      zlib: "1.3.0",
      openssl: "3.0.0",
      unicode: "17.0",
    },
    release: { name: "node" },
    argv: ["/usr/bin/deno", "/source.js"],
    argv0: "deno",
    execPath: "/usr/bin/deno",
    execArgv: [],
    env,
    exitCode: undefined,
    cwd: () => "/",
    exit: (code: unknown = 0) => exit(Number(code)),
    nextTick(callback: unknown, ...args: unknown[]) {
      if (typeof callback !== "function") throw wrongType("callback", "function", callback);
      const bound = bindContext(callback as (...args: unknown[]) => void);
      nextTick(() => bound(...args));
    },
    hrtime,
    uptime: () => (Date.now() - startMs) / 1000,
    memoryUsage: Object.assign(() => ({ ...memory }), { rss: () => memory.rss }),
    cpuUsage: () => ({ user: 0, system: 0 }),
    emitWarning(warning: unknown) {
      setTimeout(() => print(`(node:1) ${String(warning)}\n`), 0);
    },
    stdout: stream(1),
    stderr: stream(2),
    stdin: { fd: 0, isTTY: false },
    ...Object.fromEntries(
      "on once off addListener removeListener removeAllListeners prependListener"
        .split(" ")
        .map((name) => [name, listeners]),
    ),
    emit: () => false,
    listeners: () => [],
    listenerCount: () => 0,
    getBuiltinModule: (name: unknown) =>
      (load("nodeSystem")["module"] as { getBuiltinModule(name: unknown): unknown }).getBuiltinModule(name),
    umask: () => 18,
    ...ids,
    features: {},
    config: {},
  };
  Object.defineProperty(process, Symbol.toStringTag, { value: "process", configurable: true });
  return process;
}
