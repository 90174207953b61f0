import type { Internals } from "../internals.ts";
import { exposeInterface, exposeStatics, printGetters, requireArguments } from "../webIdl.ts";
import type { DomExceptionType } from "./domException.ts";
import { Event } from "./event.ts";
import type { EventTargetTools } from "./eventTarget.ts";

/** Creates `AbortSignal` and `AbortController` (DOM Standard, §3). */
export function createAbort(
  { EventTarget, dispatch, handlerAttribute }: EventTargetTools,
  DOMException: DomExceptionType,
  setTimeout: Internals["setTimeout"],
) {
  const SECRET = {};
  let abort: (signal: AbortSignal, reason: unknown) => void;

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason: unknown = undefined;
    readonly #followers: ((reason: unknown) => void)[] = [];
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason =
          reason === undefined ? new DOMException("The signal has been aborted", "AbortError") : reason;
        for (const follow of signal.#followers) follow(signal.#reason);
        dispatch(signal, new Event("abort"));
      };
    }
    static abort(reason: unknown = undefined): AbortSignal {
      const signal = new AbortSignal(SECRET);
      abort(signal, reason);
      return signal;
    }
    static timeout(delayMs: unknown): AbortSignal {
      requireArguments(arguments.length, 1, "Failed to execute 'AbortSignal.timeout'");
      const signal = new AbortSignal(SECRET);
      setTimeout(
        () => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")),
        Number(delayMs),
      );
      return signal;
    }
    static any(signals: Iterable<AbortSignal>): AbortSignal {
      requireArguments(arguments.length, 1, "Failed to execute 'AbortSignal.any'");
      const all = [...signals];
      const signal = new AbortSignal(SECRET);
      const first = all.find((source) => source.aborted);
      if (first !== undefined) abort(signal, first.reason);
      else for (const source of all) source.#followers.push((reason) => abort(signal, reason));
      return signal;
    }
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw new TypeError("Illegal constructor");
      super();
    }
    get aborted(): boolean {
      return this.#aborted;
    }
    get reason(): unknown {
      return this.#reason;
    }
    throwIfAborted(): void {
      if (this.#aborted) throw this.#reason;
    }
  }
  Object.defineProperty(AbortSignal, "length", { value: 0, configurable: true });
  handlerAttribute(AbortSignal.prototype, "abort");

  class AbortController {
    readonly #signal = new AbortSignal(SECRET);
    get signal(): AbortSignal {
      return this.#signal;
    }
    abort(reason: unknown = undefined): void {
      abort(this.#signal, reason);
    }
  }

  for (const type of [AbortSignal, AbortController]) exposeInterface(type);
  exposeStatics(AbortSignal, "abort", "timeout", "any");
  printGetters(AbortSignal, ["aborted", "reason", "onabort"]);
  printGetters(AbortController, ["signal"]);
  return { AbortSignal, AbortController };
}
