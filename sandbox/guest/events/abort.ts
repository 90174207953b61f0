import { type Convert, instance, integer, sequence } from "../convert.ts";
import type { Internals } from "../internals.ts";
import {
  exposeInterface,
  exposeStatics,
  illegalInvocation,
  printGetters,
  requireArguments,
} from "../webIdl.ts";
import type { DomExceptionType } from "./domException.ts";
import { Event } from "./event.ts";
import type { EventTargetTools } from "./eventTarget.ts";

const milliseconds = integer({ bits: 64, mode: "enforceRange" });

/** Creates `AbortSignal` and `AbortController` (DOM Standard, §3). `setConverter` receives the conversion to a signal. */
export function createAbort(
  { EventTarget, fire, handlerAttribute }: EventTargetTools,
  setTimeout: Internals["setTimeout"],
  setConverter: (convert: Convert<never>) => void,
) {
  const SECRET = {};
  const reasonOf = (text: string, name: string): Error => {
    // As in Deno, a class that the source puts in its place counts.
    const { DOMException } = globalThis as unknown as { DOMException: DomExceptionType };
    return new DOMException(text, name);
  };
  let abort: (signal: AbortSignal, reason: unknown) => void;
  let isSignal: (value: unknown) => boolean;

  class AbortSignal extends EventTarget {
    #reason: unknown = undefined;
    /** The signals that `any` made of others; undefined for every other signal. */
    #sources: AbortSignal[] | undefined;
    readonly #dependents: AbortSignal[] = [];
    static {
      isSignal = (value) => typeof value === "object" && value !== null && #dependents in value;
      abort = (signal, reason) => {
        if (signal.#reason !== undefined) return;
        signal.#reason =
          reason === undefined ? reasonOf("The signal has been aborted", "AbortError") : reason;
        // All dependents are aborted before the first event, which may look at them.
        const newly = signal.#dependents.filter((dependent) => dependent.#reason === undefined);
        for (const dependent of newly) dependent.#reason = signal.#reason;
        for (const each of [signal, ...newly]) fire(each, new Event("abort"));
      };
    }
    static any(signals: unknown): AbortSignal {
      const prefix = "Failed to execute 'AbortSignal.any'";
      requireArguments(arguments.length, 1, prefix);
      return follow(signals, prefix);
    }
    static follow(signals: unknown, prefix: string): AbortSignal {
      const all = readSignals(signals, prefix, "Argument 1");
      const made = new AbortSignal(SECRET);
      const first = all.find((source) => source.#reason !== undefined);
      if (first !== undefined) {
        made.#reason = first.#reason;
        return made;
      }
      made.#sources = [...new Set(all.flatMap((source) => source.#sources ?? [source]))];
      for (const source of made.#sources) source.#dependents.push(made);
      return made;
    }
    static abort(reason: unknown = undefined): AbortSignal {
      const signal = new AbortSignal(SECRET);
      abort(signal, reason);
      return signal;
    }
    static timeout(delayMs: unknown): AbortSignal {
      const prefix = "Failed to execute 'AbortSignal.timeout'";
      requireArguments(arguments.length, 1, prefix);
      const wait = milliseconds(delayMs, prefix, "Argument 1");
      const signal = new AbortSignal(SECRET);
      setTimeout(
        () => abort(signal, reasonOf("The operation was aborted due to timeout", "TimeoutError")),
        wait,
      );
      return signal;
    }
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw new TypeError("Illegal constructor");
      super();
    }
    get aborted(): boolean {
      if (!isSignal(this)) throw illegalInvocation();
      return this.#reason !== undefined;
    }
    get reason(): unknown {
      if (!isSignal(this)) throw illegalInvocation();
      return this.#reason;
    }
    throwIfAborted(): void {
      if (!isSignal(this)) throw illegalInvocation();
      if (this.#reason !== undefined) throw this.#reason;
    }
    override addEventListener(
      ...args: Parameters<EventTargetTools["EventTarget"]["prototype"]["addEventListener"]>
    ): void {
      Reflect.apply(super.addEventListener, this, args);
    }
    override removeEventListener(
      ...args: Parameters<EventTargetTools["EventTarget"]["prototype"]["removeEventListener"]>
    ): void {
      Reflect.apply(super.removeEventListener, this, args);
    }
  }
  /** Creates a signal that is aborted with the first of others. */
  const { follow } = AbortSignal;
  delete (AbortSignal as { follow?: unknown }).follow;
  const convertSignal = instance<AbortSignal>("AbortSignal", isSignal);
  setConverter(convertSignal as Convert<never>);
  const readSignals = sequence(convertSignal);
  Object.defineProperty(AbortSignal, "length", { value: 0, configurable: true });
  handlerAttribute(AbortSignal.prototype, "abort");

  class AbortController {
    readonly #signal = new AbortSignal(SECRET);
    static isController(value: object): boolean {
      return #signal in value;
    }
    get signal(): AbortSignal {
      if (!isController(this)) throw illegalInvocation();
      return this.#signal;
    }
    abort(reason?: unknown): void {
      if (!isController(this)) throw illegalInvocation();
      abort(this.#signal, reason);
    }
  }
  const { isController } = AbortController;
  delete (AbortController as { isController?: unknown }).isController;

  for (const type of [AbortSignal, AbortController]) exposeInterface(type);
  exposeStatics(AbortSignal, "abort", "timeout", "any");
  printGetters(AbortSignal, ["aborted", "reason", "onabort"]);
  printGetters(AbortController, ["signal"]);
  return { AbortSignal, AbortController, convertSignal, follow };
}
