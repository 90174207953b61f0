import type * as Buffer from "node:buffer";
import type * as Crypto from "node:crypto";

/** Modules of Node that code which also runs in a browser uses where they exist. */
interface NodeModules {
  readonly "node:crypto": typeof Crypto;
  readonly "node:buffer": typeof Buffer;
}

/** Finds a module of Node without importing it, so that a bundle for a browser holds no trace of it; `undefined` in a browser. */
export function findNodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(id: string): NodeModules[Name] };
  };
  return process?.getBuiltinModule?.(name);
}
