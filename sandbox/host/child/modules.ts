import type ivm from "isolated-vm";
import { nodeModules } from "../../guest/nodeModules.ts";
import { TELL } from "../../guest/protocol.ts";
import type { PreparedContext } from "./context.ts";
import { parseDataUrl } from "../dataUrl.ts";

/** Modules that a run has imported, each evaluated once. */
export interface Modules {
  /**
   * Returns the namespace of a module that needs nothing from outside: one that our guest code provides
   * (`node:buffer`), a built-in one that it doesn't provide (its functions refuse), or a `data:` URL; null for
   * any other.
   */
  readonly findOwn: (specifier: string, type: string, timeoutMs: number) => ivm.Reference | null;
  /**
   * Evaluates an imported module's text, one ES module that imports only `node:` modules, and returns its
   * namespace.
   */
  readonly evaluate: (key: string, code: string, timeoutMs: number) => ivm.Reference;
  /** Returns the namespace of a module evaluated before; `undefined` for any other. */
  readonly find: (key: string) => ivm.Reference | undefined;
  /** Releases everything: a handle keeps its context alive until this process's own garbage collection. */
  readonly release: () => void;
}

/** Creates the module table of one context. */
export function createModules(prepared: PreparedContext): Modules {
  const { isolate, context, dispatch } = prepared;
  const own = new Map<string, ivm.Module>();
  const known = new Map<string, ivm.Reference>();

  function compile(code: string, filename: string, timeoutMs?: number): ivm.Module {
    const module = isolate.compileModuleSync(code, { filename });
    module.instantiateSync(context, (inner) => nodeModule(inner) ?? refuse());
    module.evaluateSync(timeoutMs === undefined ? {} : { timeout: timeoutMs });
    return module;
  }

  /** Creates a module from a chunk's exports: bindings by name, filled in before anyone can read them. */
  function chunkModule(specifier: string, chunk: string): ivm.Module {
    const names = JSON.parse(dispatch.applySync(undefined, [TELL.exportNames, chunk]) as string) as string[];
    const bindings = names.map((name, at) => `${JSON.stringify(name)}: b${at}`).join(", ");
    const exported = names.map((name, at) => `b${at} as ${JSON.stringify(name)}`).join(", ");
    const locals = names.map((_name, at) => `b${at}`).join(", ");
    // A separate module passes the setter, so that the namespace holds only the exports.
    const slot = compile("export let taken; export const give = (fill) => { taken = fill; };", "tyche:slot");
    const code = `import { give } from "slot"; let ${locals}; export { ${exported} }; give((from) => { ({ ${bindings} } = from); });`;
    const module = isolate.compileModuleSync(code, { filename: `tyche:${specifier.replace(/\W/g, "_")}` });
    module.instantiateSync(context, () => slot);
    module.evaluateSync();
    const fill = slot.namespace.getSync("taken", { reference: true });
    dispatch.applySync(undefined, [TELL.fill, fill.derefInto({ release: true }), chunk]);
    slot.release();
    return module;
  }

  function nodeModule(specifier: string): ivm.Module | null {
    const name = specifier.startsWith("node:") ? specifier : `node:${specifier}`;
    let module = own.get(name);
    if (module !== undefined) return module;
    const chunk = Object.hasOwn(nodeModules, name) ? nodeModules[name] : undefined;
    if (chunk !== undefined) module = chunkModule(name, chunk);
    else if (process.getBuiltinModule(name) !== undefined)
      module = compile(unavailableModule(name), `tyche:${name.replace(/\W/g, "_")}`);
    else return null;
    own.set(name, module);
    return module;
  }

  function evaluate(key: string, code: string, timeoutMs: number): ivm.Reference {
    let namespace = known.get(key);
    if (namespace !== undefined) return namespace;
    const module = compile(code, key, timeoutMs);
    namespace = module.namespace;
    module.release();
    known.set(key, namespace);
    return namespace;
  }

  return {
    findOwn: (specifier, type, timeoutMs) => {
      if (specifier.startsWith("data:")) {
        const code = dataModuleCode(specifier, type);
        return code === null ? null : evaluate(`${type} ${specifier}`, code, timeoutMs);
      }
      const earlier = known.get(specifier);
      if (earlier !== undefined) return earlier;
      const namespace = nodeModule(specifier)?.namespace ?? null;
      if (namespace !== null) known.set(specifier, namespace);
      return namespace;
    },
    evaluate,
    find: (key) => known.get(key),
    release: () => {
      for (const handle of [...own.values(), ...known.values()]) handle.release();
      own.clear();
      known.clear();
    },
  };
}

/**
 * Returns the code of a built-in module that sources don't have. Its names exist, so that packages that merely
 * mention them load; calling any of them fails with the error that the nodes report for a blocked resource.
 */
function unavailableModule(specifier: string): string {
  const real = process.getBuiltinModule(specifier) as Readonly<Record<string, unknown>> | undefined;
  const names = Object.keys(real ?? {}).filter((name) => name !== "default");
  // `events` and `stream` are classes themselves, and packages extend them when they load.
  const isFunction = typeof real === "function";
  const exported = names.map((name, at) => `b${at} as ${JSON.stringify(name)}`);
  // Constants are what they are.
  const valueOf = (name: string): string =>
    typeof real?.[name] === "number" ? String(real[name]) : `blocked(${JSON.stringify(name)})`;
  const bindings = names.map((name, at) => `const b${at} = ${valueOf(name)};`).join("\n");
  const members = names.map((name, at) => `${JSON.stringify(name)}: b${at}`).join(", ");
  return `const blocked = (name) => function () {
  const error = new Error(${JSON.stringify(`Requires access to "${specifier}", which sources do not have: `)} + name);
  error.name = "PermissionDenied";
  throw error;
};
${bindings}
export { ${exported.join(", ")} };
const members = { ${members} };
export default ${isFunction ? 'Object.assign(blocked("default"), members)' : "members"};`;
}

/** Refuses any import here. */
export function refuse(): never {
  throw new SyntaxError("import declarations may only appear at top level of a module");
}

/**
 * Returns the text of the ES module in a `data:` URL. It is the source's own code, so the parent need not be asked.
 *
 * @param type The import attribute: `json`, or `""` for code.
 * @returns `null` if the media type and the attribute don't go together; the host explains that.
 */
function dataModuleCode(url: string, type: string): string | null {
  const data = parseDataUrl(url);
  if (data === null) return null;
  const text = data.bytes.toString();
  if (type === "json" && /^(?:application|text)\/json$/.test(data.mediaType)) {
    return `export default JSON.parse(${JSON.stringify(text)});`;
  }
  const isScript = /^(?:text|application)\/(?:x-)?(?:java|ecma)script$/.test(data.mediaType);
  return isScript && type === "" ? text : null;
}
