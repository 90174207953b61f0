import type ivm from "isolated-vm";
import type { ChildParts } from "../childParts.ts";
import type { CompiledSource } from "./compile.ts";

type Ivm = typeof ivm;

/** Each context takes about half a megabyte of the isolate's memory. */
const MAX_REALMS = 100;

/** Called with each of the guest's requests; see `sandbox/guest/protocol.ts`. */
export type Ask = (
  ask: number,
  a: unknown,
  b: unknown,
  c: unknown,
) => string | number | Uint8Array | undefined;

/** A context whose global object is set up and in which no caller's code has run. */
export interface PreparedContext {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  readonly dispatch: ivm.Reference<(...args: unknown[]) => unknown>;
  /** Receives the guest's requests; set before a source starts. */
  ask: Ask;
  /** The only source that may run in this context more than once; set by its first run. */
  compiled?: { readonly source: CompiledSource; readonly factory: ivm.Reference };
  /** Compiles one of our chunks, hardened if asked for, and passes its value to `give`. */
  readonly loadChunk: (name: string, isHardened: boolean, give: (chunk: ivm.Reference) => void) => void;
  /** Opens a context for `node:vm`, passes what sets it up to `give`, and returns its number. */
  readonly openRealm: (give: (chunk: ivm.Reference) => void) => number;
  /** Runs a script in that context, 0 being the source's own, and passes its value to `give`. */
  readonly runScript: (
    context: number,
    code: string,
    timeoutMs: number,
    give: (value: ivm.Reference) => void,
  ) => void;
  readonly release: () => void;
}

/**
 * Creates contexts. Our own files are compiled once per process: all later isolates use V8's code cache of the first compilation. The cache lives
 * in this process only; code caches from outside are never read.
 */
export function createContextFactory(vm: Ivm, parts: ChildParts): (isolate: ivm.Isolate) => PreparedContext {
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
      let answer: unknown;
      try {
        answer = prepared.ask(ask, a, b, c);
      } catch (thrown) {
        // Deep in a source's calls the stack may end here: the source must not see our frames.
        if (thrown instanceof Error) thrown.stack = "";
        throw thrown;
      }
      // Copied into an array of its own, because Node's may be a view into its pool. It is transferred, because isolated-vm copies without
      // checking whether there is memory.
      return answer instanceof Uint8Array
        ? new vm.ExternalCopy(Uint8Array.from(answer), { transferOut: true }).copyInto({
            release: true,
            transferIn: true,
          })
        : answer;
    });
    const boot = compile(isolate, "bootstrap", parts.bootstrap).runSync(context, { reference: true });
    const dispatch = boot.applySync(undefined, [host], { result: { reference: true } });
    boot.release();
    const realms: { readonly context: ivm.Context; evaluate?: ivm.Reference }[] = [{ context }];
    const prepared: PreparedContext = {
      isolate,
      context,
      dispatch: dispatch as PreparedContext["dispatch"],
      ask: () => undefined,
      loadChunk: (name, isHardened, give) => {
        const codes = isHardened ? parts.hardened : parts.chunks;
        const code = Object.hasOwn(codes, name) ? codes[name] : undefined;
        if (code === undefined) return;
        const chunk = compile(isolate, isHardened ? `${name}Hardened` : name, code).runSync(context, {
          reference: true,
        });
        give(chunk);
        chunk.release();
      },
      openRealm: (give) => {
        if (realms.length > MAX_REALMS) throw new Error(`node:vm has at most ${MAX_REALMS} contexts here`);
        const realm: (typeof realms)[number] = { context: isolate.createContextSync() };
        // A time limit of the source may end what follows: the context is released all the same.
        const number = realms.push(realm) - 1;
        const chunk = compile(isolate, "realm", parts.chunks["realm"] as string).runSync(realm.context, {
          reference: true,
        });
        realm.evaluate = chunk.getSync("evaluate", { reference: true });
        const setUp = chunk.getSync("setUp", { reference: true });
        give(setUp);
        setUp.release();
        chunk.release();
        return number;
      },
      runScript: (number, code, timeoutMs, give) => {
        const { context: realm, evaluate } = realms[number] as (typeof realms)[number];
        if (timeoutMs < 0) {
          const ending = (evaluate as ivm.Reference).applySync(undefined, [code], {
            result: { reference: true },
          }) as ivm.Reference;
          try {
            give(ending);
          } finally {
            ending.release();
          }
          return;
        }
        const script = isolate.compileScriptSync(code, { filename: "evalmachine.<anonymous>" });
        const timeout = timeoutMs > 0 ? { timeout: timeoutMs } : {};
        try {
          const value = script.runSync(realm, { reference: true, ...timeout });
          try {
            give(value);
          } finally {
            value.release();
          }
        } finally {
          script.release();
        }
      },
      release: () => {
        for (const realm of realms.splice(1)) {
          realm.evaluate?.release();
          realm.context.release();
        }
        prepared.compiled?.factory.release();
        dispatch.release();
        context.release();
      },
    };
    return prepared;
  };
}
