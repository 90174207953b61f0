import { invalidArgument, missing, nodeError, wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

interface ModuleParts {
  readonly getBuiltinModule: (name: unknown) => unknown;
  /** The error of reading without permission. */
  readonly refuseRead: (path: string) => Error;
  readonly native: Internals["native"];
}

/** In Deno's order; those that begin with `node:` have no other name. */
const BUILT_IN =
  "buffer console diagnostics_channel events module path/posix path/win32 path sys url util worker_threads assert async_hooks cluster constants dns dns/promises domain fs os punycode string_decoder timers timers/promises util/types vm _http_agent _http_common _http_outgoing _http_server http http2 https child_process crypto dgram zlib tls _tls_common _tls_wrap repl fs/promises node:test/reporters assert/strict readline readline/promises stream/web net process stream stream/consumers stream/promises tty inspector inspector/promises perf_hooks querystring node:sqlite node:test trace_events v8 wasi _stream_duplex _stream_passthrough _stream_readable _stream_transform _stream_writable";
const WRAPPER = ["(function (exports, require, module, __filename, __dirname) { ", "\n});"];
/** What of the function `Module` isn't exported by name. */
const UNNAMED = ["length", "name", "prototype", "wrapper"];
const HIDDEN = ["_stat", "wrap", "wrapper"];

/** Creates `node:module`: Node's modules can be required, others can't. */
export function createModule(parts: ModuleParts): Readonly<Record<string, unknown>> {
  const { getBuiltinModule, refuseRead, native } = parts;
  const builtinModules = BUILT_IN.split(" ");
  const known = new Set([
    "sqlite",
    ...builtinModules,
    ...builtinModules.map((name) => `node:${name.replace("node:", "")}`),
  ]);
  const folders = (path: string): string[] => {
    const steps = path.split("/").filter((step) => step !== "");
    return steps
      .map((_, at) => `/${steps.slice(0, steps.length - at).join("/")}/node_modules`)
      .concat("/node_modules");
  };
  const folderOf = (path: string): string => path.replace(/\/[^/]*$/, "");

  function find(id: unknown, folder: string): unknown {
    if (typeof id !== "string") throw wrongType("id", "string", id);
    if (id === "") throw invalidArgument("id", id, "must be a non-empty string");
    const found = getBuiltinModule(id);
    if (found !== undefined) return found;
    if (known.has(id)) missing(id.replace("node:", ""))();
    if (id.startsWith("node:")) throw new Error("Unknown built-in module");
    throw refuseRead(/^\.{0,2}\//.test(id) ? folder || "/" : (folders(folder)[0] as string));
  }
  function requireFrom(folder: string): object {
    const resolve = (id: unknown): unknown => {
      if (!known.has(String(id))) find(id, folder);
      return id;
    };
    return Object.assign((id: unknown) => find(id, folder), {
      resolve: Object.assign(resolve, { paths: () => folders(folder) }),
      main: null,
      extensions: Module._extensions,
      cache: Module._cache,
    });
  }

  class ModuleClass {
    id: string;
    path: string;
    exports: unknown = {};
    filename: string | null = null;
    loaded = false;
    children: unknown[] = [];
    constructor(id = "") {
      this.id = id;
      this.path = folderOf(id) === id ? "." : folderOf(id);
    }
    get parent(): undefined {
      return undefined;
    }
    load(path: string): never {
      throw refuseRead(path);
    }
    require(id: unknown): unknown {
      return find(id, this.path);
    }
    _compile(): never {
      return missing("module: _compile")();
    }
  }
  function Module(id?: string): object {
    return Reflect.construct(ModuleClass, [id], new.target ?? Module) as object;
  }
  Object.defineProperty(Module, "length", { value: 0 });
  Object.defineProperty(Module, "prototype", { value: ModuleClass.prototype });
  Object.defineProperty(Module.prototype, "constructor", { value: Module });
  const extension = (): never => missing("module: _extensions")();
  Module.builtinModules = builtinModules;
  Module._extensions = Object.fromEntries(
    [".js", ".cjs", ".mjs", ".wasm", ".json", ".node"].map((end) => [end, extension]),
  );
  Module._cache = Object.setPrototypeOf({}, null) as object;
  Module._pathCache = Object.setPrototypeOf({}, null) as object;
  Module.globalPaths = [] as string[];
  Module._stat = missing("module: _stat");
  Module._findPath = missing("module: _findPath");
  Module._nodeModulePaths = folders;
  Module._resolveLookupPaths = (id: string) => (known.has(id) ? null : ["/node_modules"]);
  Module._load = (id: unknown) => find(id, "");
  Module._resolveFilename = (id: unknown) => {
    if (!known.has(String(id))) find(id, "");
    return id;
  };
  Module._preloadModules = () => {};
  Module.wrap = (text: string) => WRAPPER.join(text);
  Module.wrapper = WRAPPER;
  Module.isBuiltin = (name: unknown) => known.has(name as string);
  Module.createRequire = (from: unknown) => {
    const text = String(from);
    if (!/^(?:\/|file:)/.test(text))
      throw invalidArgument(
        "filename",
        from,
        "must be a file URL object, file URL string, or absolute path string",
      );
    return requireFrom(folderOf(text.replace(/^file:\/\/[^/]*/, "")));
  };
  Module.findPackageJSON = (name: unknown): never => {
    throw new Error(`Import "${String(name)}" not a dependency`);
  };
  Module._initPaths = () => {};
  Module.syncBuiltinESMExports = () => {};
  Module.runMain = missing("module: runMain");
  Module.Module = Module;
  Module.findSourceMap = () => undefined;
  Module.SourceMap = class SourceMap {
    constructor() {
      missing("module: SourceMap")();
    }
  };
  Module.stripTypeScriptTypes = (code: unknown, options: { mode?: unknown } = {}) => {
    if (typeof code !== "string") throw wrongType("code", "string", code);
    const { mode = "strip" } = options;
    if (mode !== "strip" && mode !== "transform")
      throw invalidArgument("options.mode", mode, "must be one of: 'strip', 'transform'");
    try {
      return native("stripTypes", { code, mode });
    } catch (error) {
      throw nodeError("ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", (error as Error).message, SyntaxError);
    }
  };
  Module.registerHooks = () => ({ deregister() {} });
  for (const name of HIDDEN) Object.defineProperty(Module, name, { enumerable: false });
  const named = Object.fromEntries(
    Object.getOwnPropertyNames(Module)
      .filter((name) => !UNNAMED.includes(name))
      .map((name) => [name, (Module as unknown as Record<string, unknown>)[name]]),
  );
  return { ...named, getBuiltinModule, register() {}, default: Module };
}
