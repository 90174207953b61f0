import type { Internals } from "../internals.ts";
import { string } from "../convert.ts";
import { exposeInterface } from "../webIdl.ts";

/** Creates `URLPattern` (URL Pattern Standard); the host compiles and matches. */
export function createUrlPattern(native: Internals["native"]): new (...args: unknown[]) => object {
  class URLPattern {
    readonly #of: object;
    readonly #parts: Record<string, unknown>;
    constructor(input: unknown = {}, base: unknown = undefined, options: unknown = undefined) {
      const hasBase = typeof base === "string";
      this.#of = { input, ...(hasBase && { base }), options: (hasBase ? options : base) ?? {} };
      try {
        this.#parts = JSON.parse(native("urlPattern", this.#of) as string) as Record<string, unknown>;
      } catch (error) {
        throw new TypeError((error as Error).message, { cause: error });
      }
    }
    exec(target: unknown = {}, targetBase: unknown = undefined): unknown {
      const text = typeof target === "object" ? target : string(target);
      let answer: string;
      try {
        answer = native("urlPatternExec", {
          ...this.#of,
          target: text,
          ...(targetBase !== undefined && { targetBase }),
        }) as string;
      } catch (error) {
        throw new TypeError((error as Error).message, { cause: error });
      }
      const match = JSON.parse(answer) as Record<string, { groups?: Record<string, unknown> }> | null;
      for (const { groups = {} } of Object.values(match ?? {}))
        for (const name of Object.keys(groups)) groups[name] ??= undefined;
      return match;
    }
    test(target: unknown = {}, targetBase: unknown = undefined): boolean {
      return this.exec(target, targetBase) !== null;
    }
    get protocol(): unknown {
      return this.#parts["protocol"];
    }
    get username(): unknown {
      return this.#parts["username"];
    }
    get password(): unknown {
      return this.#parts["password"];
    }
    get hostname(): unknown {
      return this.#parts["hostname"];
    }
    get port(): unknown {
      return this.#parts["port"];
    }
    get pathname(): unknown {
      return this.#parts["pathname"];
    }
    get search(): unknown {
      return this.#parts["search"];
    }
    get hash(): unknown {
      return this.#parts["hash"];
    }
    get hasRegExpGroups(): unknown {
      return this.#parts["hasRegExpGroups"];
    }
  }
  exposeInterface(URLPattern);
  return URLPattern;
}
