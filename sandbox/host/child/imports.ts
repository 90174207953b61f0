import type ivm from "isolated-vm";
import { refusalOfImport, type ImportRequest } from "../net/importRequest.ts";
import type { PreparedContext } from "./context.ts";
import { stopError } from "./errors.ts";
import { createModules } from "./modules.ts";

/** The run that these imports belong to. */
export interface ImportsOptions {
  /** The run's remaining time, in ms. */
  readonly leftMs: () => number;
  /** Passes a module's namespace to the import. */
  readonly answer: (id: number, namespace: ivm.Reference) => void;
  /** Makes the import throw. */
  readonly refuse: (
    id: number,
    error: { readonly name: string; readonly message: string; readonly code?: string },
  ) => void;
  /** Asks the parent for a module's text; `request` is JSON. */
  readonly ask: (id: number, request: Uint8Array) => void;
}

/** A run's `import()` calls. All but `announce` and `release` enter the isolate. */
export interface Imports {
  /** Records an import that the source has asked for. */
  readonly announce: (id: number, request: ImportRequest) => void;
  /** Answers an import from what this process has, or asks the parent. */
  readonly start: (id: number, request: ImportRequest) => void;
  /** Answers an import with its module's text from the parent; false for a host call that is not an import. */
  readonly finish: (id: number, text: Uint8Array) => boolean;
  readonly release: () => void;
}

/** Creates the imports of one run. */
export function createImports(
  prepared: PreparedContext,
  { leftMs, answer, refuse, ask }: ImportsOptions,
): Imports {
  const modules = createModules(prepared);
  /** Pending imports: the key of the module each asked for. */
  const keys = new Map<number, string>();

  /** Lets the importing source catch a module that does not compile or that throws; returns `undefined` then. */
  function attempt<T>(id: number, work: () => T): T | undefined {
    try {
      return work();
    } catch (thrown) {
      if (stopError(prepared.isolate, thrown) !== null || !(thrown instanceof Error)) throw thrown;
      refuse(id, { name: thrown.name, message: thrown.message });
      return undefined;
    }
  }

  return {
    announce: (id, request) => keys.set(id, moduleKey(request)),
    start: (id, request) => {
      const { specifier, type } = request;
      const found = attempt(id, () => modules.findOwn(specifier, type, leftMs()));
      const known = found ?? modules.find(moduleKey(request));
      if (known !== undefined) return answer(id, known);
      if (found === undefined) return;
      const message = refusalOfImport(request);
      if (message === null) ask(id, Buffer.from(JSON.stringify(request)));
      else refuse(id, { name: "TypeError", message, code: "ERR_MODULE_NOT_FOUND" });
    },
    finish: (id, text) => {
      const key = keys.get(id);
      if (key === undefined) return false;
      const code = Buffer.from(text).toString();
      const namespace = attempt(id, () => modules.evaluate(key, code, leftMs()));
      if (namespace !== undefined) answer(id, namespace);
      return true;
    },
    release: () => modules.release(),
  };
}

/** Identifies an imported module within a run. */
function moduleKey({ specifier, type }: ImportRequest): string {
  return `${type} ${specifier}`;
}
