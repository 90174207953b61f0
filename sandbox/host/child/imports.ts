import type ivm from "isolated-vm";
import { refusalOfImport, type ImportRequest } from "../net/importRequest.ts";
import type { PreparedContext } from "./context.ts";
import { stopError } from "./errors.ts";
import { createModules } from "./modules.ts";

/** The run whose imports these are. */
export interface ImportsOptions {
  /** Time that is left to the run, in ms. */
  readonly leftMs: () => number;
  /** Hands the namespace of a module to the import. */
  readonly answer: (id: number, namespace: ivm.Reference) => void;
  /** Makes the import throw. */
  readonly refuse: (
    id: number,
    error: { readonly name: string; readonly message: string; readonly code?: string },
  ) => void;
  /** Asks the parent for the text of a module; `request` is JSON. */
  readonly ask: (id: number, request: Uint8Array) => void;
}

/** What a run imports by `import()`. All but `announce` and `release` enter the isolate. */
export interface Imports {
  /** Notes an import that the source has asked for. */
  readonly announce: (id: number, request: ImportRequest) => void;
  /** Answers an import from what is here, or asks the parent. */
  readonly start: (id: number, request: ImportRequest) => void;
  /** Answers an import with the text of its module, from the parent; false for a host call that is no import. */
  readonly finish: (id: number, text: Uint8Array) => boolean;
  readonly release: () => void;
}

/** Creates the imports of one run. */
export function createImports(
  prepared: PreparedContext,
  { leftMs, answer, refuse, ask }: ImportsOptions,
): Imports {
  const modules = createModules(prepared);
  /** Imports under way: what each asked for, as the key of its module. */
  const keys = new Map<number, string>();

  /** A module that does not compile, or throws, is the importing source's to catch: then there is no value. */
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

/** What tells one imported module of a run from another. */
function moduleKey({ specifier, type }: ImportRequest): string {
  return `${type} ${specifier}`;
}
