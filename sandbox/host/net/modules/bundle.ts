import {
  build,
  transform,
  type BuildFailure,
  type BuildOptions,
  type OnLoadResult,
  type Plugin,
} from "esbuild";
import { messageOf } from "../../sandboxError.ts";
import { commonJsNames } from "./commonJsNames.ts";
import { ModuleFailureError } from "./moduleFailure.ts";
import type { GraphModule, ModuleGraph } from "./moduleGraph.ts";
import type { ImportKind } from "./packageFiles.ts";

/**
 * Bundles a module and all its imports into the text of one ES module, in ASCII, that imports only the default exports of
 * `node:` modules. None of the code is run.
 *
 * - A CommonJS module exports `default` and `module.exports`, both its `module.exports`, and the names that Node finds in
 *   its text; its code runs in sloppy mode, for which it was written.
 * - A module that awaits at its top level exports only `then`, so that `import()` waits for it and resolves to an object
 *   that looks like its namespace: isolated-vm doesn't say when such a module is done.
 *
 * @param type The import attribute: `json`, or absent for code.
 * @throws {ModuleFailureError} With Deno's text.
 */
export async function bundleModule(
  graph: ModuleGraph,
  specifier: string,
  type: string | undefined,
): Promise<string> {
  const root = await graph.root(specifier);
  assertType(root, specifier, type);
  const bundler = createBundler(graph, root, specifier);
  if (root.kind === "code" && root.language === "json") {
    return (await bundler.build({ ...entry(`export { default } from "root"`), format: "esm" })).text;
  }
  const plain = await bundler.build({ entryPoints: ["root"], format: "esm" });
  if (plain.isCommonJs) {
    const names = await commonJsNames(graph, root);
    return commonJsModule(asScript(plain) ?? (await bundler.buildScript()), names);
  }
  if (!(await hasTopLevelAwait(plain.text))) return nodeImports(plain.nodeNames) + plain.text;
  // A dynamically imported module becomes a function in esbuild's output, an async one if it awaits.
  const deferred = await bundler.build({ ...entry(`__define(() => import("root"));`), format: "esm" });
  return `${nodeImports(deferred.nodeNames)}let __load;const __define=(load)=>{__load=load};${NAMESPACE_OF}${deferred.text};export const then=(resolve,reject)=>__load().then((exports)=>resolve(__namespaceOf(exports)),reject);`;
}

interface Built {
  readonly text: string;
  readonly isCommonJs: boolean;
  /** `node:` modules that the text uses as `__node0`, `__node1`, … in this order. */
  readonly nodeNames: readonly string[];
}

function createBundler(graph: ModuleGraph, root: GraphModule, specifier: string) {
  const url = root.path.startsWith("http") ? root.path : "file:///module.js";
  return {
    async build(options: BuildOptions & { format: "esm" | "iife" }): Promise<Built> {
      const nodeNames: string[] = [];
      const result = await build({
        ...options,
        bundle: true,
        write: false,
        platform: "neutral",
        target: "esnext",
        minifyWhitespace: true,
        minifySyntax: true,
        legalComments: "none",
        charset: "ascii",
        metafile: true,
        logLevel: "silent",
        define: { "import.meta.url": JSON.stringify(url), "import.meta.main": "false" },
        plugins: [graphPlugin(graph, root, nodeNames)],
      }).catch((error: unknown) => {
        throw failureOf(error, specifier);
      });
      const isCommonJs = result.metafile?.inputs[`tyche:${root.path}`]?.format === "cjs";
      return { text: result.outputFiles?.[0]?.text ?? "", isCommonJs, nodeNames };
    },
    /** Builds a CommonJS module again, as a script whose `__exports` are the module's. */
    buildScript(): Promise<Built> {
      return this.build({
        ...entry(`module.exports = require("root")`, "entry.cjs"),
        format: "iife",
        globalName: "__exports",
      });
    },
  };
}

/**
 * Turns the ES module that esbuild builds from a CommonJS one into a script: building a large package again takes a
 * second. Returns `undefined` if the text may contain more of an ES module than its last statement.
 */
function asScript({ text, ...built }: Built): Built | undefined {
  const last = /\bexport default ([\w$]+)\(\);?\s*$/.exec(text.slice(-1_000));
  if (last === null || /\bimport\s*\.\s*meta\b/.test(text)) return undefined;
  const head = text.slice(0, text.length - last[0].length);
  return { ...built, text: `${head}var __exports=${last[1]}();` };
}

/** Returns a module of ours that imports the root; its extension says which module system it uses. */
function entry(contents: string, sourcefile = "entry.mjs"): BuildOptions {
  return { stdin: { contents, sourcefile } };
}

function nodeImports(names: readonly string[]): string {
  return names.map((name, at) => `import __node${at} from ${JSON.stringify(`node:${name}`)};`).join("");
}

/** Runs the script through an indirect `eval`, the only way to sloppy mode from a module. */
function commonJsModule({ text, nodeNames }: Built, names: readonly string[]): string {
  const parameters = nodeNames.map((_name, at) => `__node${at}`).join(",");
  const script = JSON.stringify(`((${parameters})=>{${text};return __exports})`).replace(
    /[\u007f-\uffff]/g,
    escapeUnit,
  );
  const named = names.map((_name, at) => `const __name${at}=__exports?.[${ascii(names[at])}];`).join("");
  const exported = names.map((_name, at) => `__name${at} as ${ascii(names[at])}`);
  const list = ["__exports as default", '__exports as "module.exports"', ...exported].join(",");
  return `${nodeImports(nodeNames)}const __exports=(0,eval)(${script})(${parameters});${named}export{${list}};`;
}

function ascii(text: string | undefined): string {
  return JSON.stringify(text ?? "").replace(/[\u007f-\uffff]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Turns esbuild's object of getters into one that looks like a module namespace. */
const NAMESPACE_OF =
  "const __namespaceOf=(exports)=>{const space={__proto__:null};" +
  "for(const name of Object.keys(exports).sort())space[name]=exports[name];" +
  'Object.defineProperty(space,Symbol.toStringTag,{value:"Module"});return Object.seal(space)};';

/** esbuild refuses top-level await in scripts, and tells it from every other `await`. */
async function hasTopLevelAwait(text: string): Promise<boolean> {
  if (!text.includes("await")) return false;
  const errors = await transform(text, { format: "iife", logLevel: "silent", target: "esnext" }).then(
    () => [],
    (error: unknown) => (error as BuildFailure).errors,
  );
  return errors.some((error) => error.text.startsWith("Top-level await"));
}

function assertType(root: GraphModule, specifier: string, type: string | undefined): void {
  const isJson = root.kind === "code" && root.language === "json";
  if (type !== undefined && type !== "json") {
    throw new ModuleFailureError(`The import attribute type of "${type.slice(0, 100)}" is unsupported.`);
  }
  if (isJson && type === undefined) {
    throw new ModuleFailureError(
      'Attempted to load JSON module without specifying "type": "json" attribute in the import statement.',
    );
  }
  if (!isJson && type === "json") {
    throw new ModuleFailureError(
      `Expected a JSON module, but identified a JavaScript module.\n  Specifier: ${specifier}`,
    );
  }
}

function graphPlugin(graph: ModuleGraph, root: GraphModule, nodeNames: string[]): Plugin {
  const modules = new Map<string, GraphModule>([[root.path, root]]);
  return {
    name: "graph",
    setup(build) {
      build.onResolve({ filter: /.*/ }, async ({ path, importer, kind, namespace }) => {
        if (namespace !== "tyche") return { path: root.path, namespace: "tyche" };
        try {
          const found = await graph.resolve(path, modules.get(importer) ?? root, kind as ImportKind);
          modules.set(found.path, modules.get(found.path) ?? found);
          return { path: found.path, namespace: "tyche" };
        } catch (error) {
          return { errors: [{ text: messageOf(error), detail: error }] };
        }
      });
      build.onLoad({ filter: /.*/, namespace: "tyche" }, ({ path }) =>
        loadModule(modules.get(path) ?? root, nodeNames),
      );
    },
  };
}

function loadModule(module: GraphModule, nodeNames: string[]): OnLoadResult {
  if (module.kind === "node") {
    if (!nodeNames.includes(module.name)) nodeNames.push(module.name);
    return { contents: `module.exports = __node${nodeNames.indexOf(module.name)};`, loader: "js" };
  }
  if (module.kind === "missing") {
    const text = JSON.stringify(`Cannot find module '${module.name}'`);
    return {
      contents: `throw Object.assign(new Error(${text}), { code: "MODULE_NOT_FOUND" });`,
      loader: "js",
    };
  }
  const { language, contents, origin } = module;
  const isScript = language === "js" && origin.kind === "npm" && !module.path.endsWith(".mjs");
  if (!isScript || !/__(?:file|dir)name/.test(Buffer.from(contents).toString("latin1"))) {
    return { contents, loader: language };
  }
  // CommonJS code sees its own location; added on the same line, so that positions in messages stay correct.
  const file = `/node_modules/${origin.npm.name}/${origin.file}`;
  const names = { __filename: file, __dirname: file.slice(0, file.lastIndexOf("/")) };
  const head = Object.entries(names).map(([name, value]) => `var ${name}=${JSON.stringify(value)};`);
  return { contents: Buffer.concat([Buffer.from(head.join("")), contents]), loader: language };
}

function failureOf(error: unknown, specifier: string): Error {
  const [first] = (error as Partial<BuildFailure>).errors ?? [];
  if (first === undefined) {
    // Code nested some hundred thousand levels deep, or the memory limit, kills esbuild's process.
    if (!/^The service (?:was stopped|is no longer running)/.test(messageOf(error))) return error as Error;
    return new ModuleFailureError(
      `The module's source code could not be parsed: it is too large or too deeply nested at ${specifier}`,
    );
  }
  if (first.detail instanceof ModuleFailureError) return first.detail;
  const { text, location } = first;
  const at =
    location === null
      ? specifier
      : `${location.file.replace(/^tyche:/, "")}:${location.line}:${location.column + 1}`;
  return new ModuleFailureError(`The module's source code could not be parsed: ${text} at ${at}`);
}
