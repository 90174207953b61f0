import { checkInteger, checkObject, missing, nodeError, wrongArgument, wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import type { Ending, Names, Realm } from "../realmTypes.ts";
import { isArrayBufferView } from "../types.ts";

type Options = Readonly<Record<string, unknown>>;

/** Declarations that later scripts of the same context see, which an `eval` keeps to itself. */
const LEXICAL = /(?:^|[;{}])\s*(?:let|const|class)\b/m;
/** The same, and those that nobody can delete. */
const DECLARATION = /(?:^|[;{}])\s*(?:let|const|class|var|(?:async\s+)?function)\b/m;
/** The context of the source itself, for the host. */
const THIS_CONTEXT = 0;
/** Instead of a time: the context evaluates the code. */
const EVALUATES = -1;
const MAX_TIMEOUT = 2 ** 32;

/** A context and its number, by which the host knows it. */
interface Context extends Realm {
  readonly number: number;
}

/** Creates `node:vm`: each context is one of V8's. */
export function createVm({
  load,
  openRealm,
  runScript,
  touch,
}: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as { Buffer: { from(text: string): object } };
  // That of a new context would compile on threads, which an isolate here has none of.
  const { queueMicrotask, WebAssembly } = globalThis as unknown as Record<string, unknown>;
  const contexts = new WeakMap<object, Context>();
  const evaluateIn = (context: Context | undefined, code: string): unknown =>
    context === undefined
      ? // eslint-disable-next-line no-eval -- that is what the module is for
        ((0, eval)(code) as unknown)
      : context.within(() => {
          const ending = runScript(context.number, code, EVALUATES) as Ending;
          if ("error" in ending) throw ending.error;
          return ending.value;
        });

  const isContext = (value: unknown): boolean => {
    if (typeof value !== "object" || value === null) throw wrongType("object", "object", value);
    return contexts.has(value);
  };
  function contextOf(value: unknown): Context {
    if (!isContext(value)) throw wrongArgument("contextifiedObject", "an vm.Context", value);
    return contexts.get(value as object) as Context;
  }
  function createContext(names: unknown = {}, options: unknown = {}): object {
    if (names === constants.DONT_CONTEXTIFY) missing("vm: DONT_CONTEXTIFY")();
    if (typeof names !== "object" || names === null) throw wrongType("object", "object", names);
    if (contexts.has(names)) return names;
    checkOptions(options as Options, { name: "string", origin: "string" }, "options");
    const { codeGeneration } = options as Options;
    if (codeGeneration !== undefined) {
      checkObject(codeGeneration, "options.codeGeneration");
      const kinds = { strings: "boolean", wasm: "boolean" };
      checkOptions(codeGeneration as Options, kinds, "options.codeGeneration");
    }
    const { number, setUp } = openRealm();
    const compilers = (codeGeneration as Options | undefined)?.["strings"] === false ? NO_COMPILERS : {};
    const globals = { queueMicrotask, WebAssembly, ...compilers };
    const realm = setUp({ names: names as Names, root: Object.prototype, globals, touch });
    contexts.set(names, { ...realm, number });
    return names;
  }

  /** Runs code in a context, or in the source's own. */
  function run(code: string, options: Options, context?: Context): unknown {
    const { timeout } = options;
    if (timeout !== undefined)
      checkInteger(timeout, "options.timeout", 1, MAX_TIMEOUT - 1, `>= 1 && < ${MAX_TIMEOUT}`);
    checkOptions(options, { displayErrors: "boolean", breakOnSigint: "boolean" }, "options");
    const isScript = (context === undefined ? DECLARATION : LEXICAL).test(code);
    if (timeout === undefined && !isScript) return evaluateIn(context, code);
    const script = (): unknown => {
      try {
        return runScript(context?.number ?? THIS_CONTEXT, code, (timeout as number | undefined) ?? 0);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        if (timeout !== undefined && error.message === "Script execution timed out.")
          throw Object.assign(new Error(`Script execution timed out after ${timeout as number}ms`), {
            code: "ERR_SCRIPT_EXECUTION_TIMEOUT",
          });
        throw context === undefined ? error : context.adopt(error);
      }
    };
    return context === undefined ? script() : context.within(script);
  }

  class Script {
    cachedDataProduced = false;
    cachedDataRejected = false;
    cachedData: unknown = undefined;
    readonly #code: string;
    constructor(code: unknown, options: unknown = {}) {
      const given = scriptOptions(options);
      this.#code = String(code);
      checkSyntax(this.#code);
      if (given["produceCachedData"] !== true) return;
      this.cachedDataProduced = true;
      this.cachedData = this.createCachedData();
    }
    runInThisContext(options: unknown = {}): unknown {
      checkObject(options, "options");
      return run(this.#code, options as Options);
    }
    runInContext(names: unknown, options: unknown = {}): unknown {
      const context = contextOf(names);
      checkObject(options, "options");
      return run(this.#code, options as Options, context);
    }
    runInNewContext(names?: unknown, options: unknown = {}): unknown {
      return this.runInContext(createContext(names), options);
    }
    get sourceMapURL(): string | undefined {
      return /\/\/[#@]\s*sourceMappingURL=(\S+)/.exec(this.#code)?.[1];
    }
    createCachedData(): object {
      return Buffer.from(this.#code);
    }
  }
  Object.defineProperty(Script.prototype, "sourceMapURL", { enumerable: true });

  /** What the functions below take: a file's name in place of options, too. */
  const optionsOf = (given: unknown): Options =>
    scriptOptions(typeof given === "object" && given !== null ? given : {});

  function compileFunction(code: unknown, given?: unknown, options: unknown = {}): unknown {
    const params = given ?? [];
    if (typeof code !== "string") throw wrongType("code", "string", code);
    if (!Array.isArray(params)) throw wrongArgument("params", "an instance of Array", params);
    for (const [at, param] of params.entries())
      if (typeof param !== "string") throw wrongType(`params[${at}]`, "string", param);
    const { parsingContext, contextExtensions: extensions = [] } = scriptOptions(options);
    if (parsingContext !== undefined && !contexts.has(parsingContext as object))
      throw wrongArgument("options.parsingContext", "an instance of Context", parsingContext);
    if (!Array.isArray(extensions))
      throw wrongArgument("options.contextExtensions", "an instance of Array", extensions);
    for (const [at, extension] of extensions.entries())
      checkObject(extension, `options.contextExtensions[${at}]`);
    const context = contexts.get(parsingContext as object);
    const list = params.join(", ");
    // A body that ends the function early is refused by this.
    const check = `(function (${list}) {\n})`;
    evaluateIn(context, check);
    evaluateIn(context, `(function () {\n${code}\n})`);
    // As in Deno, the extensions aren't used.
    const made = evaluateIn(context, `(function (${list}) {\n${code}\n})`);
    return Object.assign(Object.defineProperty(made as object, "name", { value: "" }), {
      cachedDataProduced: false,
      cachedDataRejected: false,
      cachedData: undefined,
    });
  }

  const vm = {
    Module: class Module {
      constructor() {
        missing("vm: Module")();
      }
    },
    Script,
    SourceTextModule: class SourceTextModule {
      constructor() {
        missing("vm: SourceTextModule")();
      }
    },
    SyntheticModule: class SyntheticModule {
      constructor() {
        missing("vm: SyntheticModule")();
      }
    },
    compileFunction,
    constants,
    createContext,
    createScript: (code: unknown, options?: unknown) => new Script(code, options),
    isContext,
    measureMemory(): never {
      throw nodeError("ERR_NOT_IMPLEMENTED", "Not implemented: measureMemory");
    },
    runInContext: (code: unknown, names: unknown, options?: unknown) =>
      run(String(code), optionsOf(options), contextOf(names)),
    runInNewContext(code: unknown, names?: unknown, options?: unknown): unknown {
      const given = optionsOf(options);
      const codeGeneration = given["contextCodeGeneration"];
      const context = contextOf(createContext(names, codeGeneration === undefined ? {} : { codeGeneration }));
      return run(String(code), given, context);
    },
    runInThisContext: (code: unknown, options?: unknown) => run(String(code), optionsOf(options)),
  };
  return { ...vm, default: vm };
}

const refuseCode = (): never => {
  throw new EvalError("Code generation from strings disallowed for this context");
};
const NO_COMPILERS = { eval: refuseCode, Function: refuseCode };

const constants = Object.freeze({
  USE_MAIN_CONTEXT_DEFAULT_LOADER: Symbol("USE_MAIN_CONTEXT_DEFAULT_LOADER"),
  DONT_CONTEXTIFY: Symbol("DONT_CONTEXTIFY"),
});

/** Throws the engine's `SyntaxError` for a script that doesn't parse, without running it. */
const checkSyntax = (code: string): void => {
  const token = {};
  try {
    // eslint-disable-next-line typescript/no-implied-eval -- likewise
    new Function("token", "code", "eval(`throw token;\n${code}`)")(token, code);
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
  }
};

/** Checks the options that have these types. */
function checkOptions(options: Options, kinds: Readonly<Record<string, string>>, name: string): void {
  checkObject(options, name);
  for (const [key, kind] of Object.entries(kinds)) {
    const value = options[key];
    // eslint-disable-next-line valid-typeof
    if (value !== undefined && typeof value !== kind) throw wrongType(`${name}.${key}`, kind, value);
  }
}

/** Checks the options of a script. */
function scriptOptions(options: unknown): Options {
  if (typeof options === "string") return {};
  const given = options as Options;
  checkOptions(given, { filename: "string" }, "options");
  for (const name of ["lineOffset", "columnOffset"]) {
    const value = given[name];
    if (value === undefined) continue;
    checkInteger(value, `options.${name}`, -(2 ** 31), 2 ** 31 - 1);
  }
  const { cachedData } = given;
  if (cachedData !== undefined && !isArrayBufferView(cachedData))
    throw wrongArgument("options.cachedData", "an instance of Buffer, TypedArray, or DataView", cachedData);
  const { importModuleDynamically } = given;
  const kinds = { produceCachedData: "boolean", importModuleDynamically: "function" };
  checkOptions(
    given,
    typeof importModuleDynamically === "symbol" ? { produceCachedData: "boolean" } : kinds,
    "options",
  );
  return given;
}
