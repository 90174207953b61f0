import type ivm from "isolated-vm";
import type { CompiledSource } from "./compile.ts";
import { bootstrapCode, chunkCode } from "./guestCode.ts";

type Ivm = typeof ivm;

/** Called with everything the guest asks for; see `sandbox/guest/protocol.ts`. */
export type Ask = (ask: number, a: unknown, b: unknown, c: unknown) => string | Uint8Array | undefined;

/** A context whose global object is set up and in which no caller's code has run. */
export interface PreparedContext {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  readonly dispatch: ivm.Reference<(...args: unknown[]) => unknown>;
  /** Who hears the guest; set before a source starts. */
  ask: Ask;
  /** The one source that may run in it more than once; set by its first run. */
  compiled?: { readonly source: CompiledSource; readonly factory: ivm.Reference };
  /** Compiles a chunk of ours and hands its value to `give`. */
  readonly loadChunk: (name: string, give: (chunk: ivm.Reference) => void) => void;
  readonly release: () => void;
}

/**
 * Creates contexts, with the code of our own files compiled once per process: V8's code cache of the first
 * compilation serves all later isolates. It lives in this process only; code caches from outside are never read.
 */
export function createContextFactory(vm: Ivm): (isolate: ivm.Isolate) => PreparedContext {
  const caches = new Map<string, ivm.ExternalCopy<ArrayBuffer>>();
  const scripts = new WeakMap<ivm.Isolate, Map<string, ivm.Script>>();

  function compile(isolate: ivm.Isolate, name: string, code: string): ivm.Script {
    let known = scripts.get(isolate);
    if (known === undefined) scripts.set(isolate, (known = new Map<string, ivm.Script>()));
    let script = known.get(name);
    if (script !== undefined) return script;
    const cachedData = caches.get(name);
    const filename = `tyche:${name}`;
    if (cachedData === undefined) {
      script = isolate.compileScriptSync(code, { filename, produceCachedData: true });
      const produced = (script as { cachedData?: ivm.ExternalCopy<ArrayBuffer> }).cachedData;
      if (produced !== undefined) caches.set(name, produced);
    } else script = isolate.compileScriptSync(code, { filename, cachedData });
    known.set(name, script);
    return script;
  }

  return (isolate) => {
    const context = isolate.createContextSync();
    const host = new vm.Callback((ask: number, a: unknown, b: unknown, c: unknown) => {
      const answer = prepared.ask(ask, a, b, c);
      // An array of its own: what Node gives may be a view into its pool. It moves, as isolated-vm copies without asking whether there is memory.
      return answer instanceof Uint8Array
        ? new vm.ExternalCopy(Uint8Array.from(answer), { transferOut: true }).copyInto({
            release: true,
            transferIn: true,
          })
        : answer;
    });
    const boot = compile(isolate, "bootstrap", bootstrapCode).runSync(context, { reference: true });
    const dispatch = boot.applySync(undefined, [host], { result: { reference: true } });
    boot.release();
    const prepared: PreparedContext = {
      isolate,
      context,
      dispatch: dispatch as PreparedContext["dispatch"],
      ask: () => undefined,
      loadChunk: (name, give) => {
        const code = Object.hasOwn(chunkCode, name) ? chunkCode[name] : undefined;
        if (code === undefined) return;
        const chunk = compile(isolate, name, code).runSync(context, { reference: true });
        give(chunk);
        chunk.release();
      },
      release: () => {
        prepared.compiled?.factory.release();
        dispatch.release();
        context.release();
      },
    };
    return prepared;
  };
}
