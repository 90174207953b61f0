import type * as Buffer from "node:buffer";
import type * as Crypto from "node:crypto";

/** Node modules used, where they exist, by code that also runs in a browser. */
interface NodeModules {
  readonly "node:crypto": typeof Crypto;
  readonly "node:buffer": typeof Buffer;
}

/** Finds a Node module without importing it, so that a browser bundle has no reference to it; `undefined` in a browser. */
export function findNodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(id: string): NodeModules[Name] };
  };
  return process?.getBuiltinModule?.(name);
}
