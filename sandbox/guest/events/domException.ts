import { double, string } from "../convert.ts";
import {
  type Inspect,
  defineGetters,
  exposeInterface,
  illegalInvocation,
  printGetters,
  printWith,
} from "../webIdl.ts";

/** Constants and the names of their exceptions, in the order of the legacy codes from 1 (Web IDL, §2.8.1); three have no name. */
const CODES =
  "INDEX_SIZE:IndexSize DOMSTRING_SIZE HIERARCHY_REQUEST:HierarchyRequest WRONG_DOCUMENT:WrongDocument INVALID_CHARACTER:InvalidCharacter NO_DATA_ALLOWED NO_MODIFICATION_ALLOWED:NoModificationAllowed NOT_FOUND:NotFound NOT_SUPPORTED:NotSupported INUSE_ATTRIBUTE:InUseAttribute INVALID_STATE:InvalidState SYNTAX:Syntax INVALID_MODIFICATION:InvalidModification NAMESPACE:Namespace INVALID_ACCESS:InvalidAccess VALIDATION TYPE_MISMATCH:TypeMismatch SECURITY:Security NETWORK:Network ABORT:Abort URL_MISMATCH:URLMismatch QUOTA_EXCEEDED:QuotaExceeded TIMEOUT:Timeout INVALID_NODE_TYPE:InvalidNodeType DATA_CLONE:DataClone"
    .split(" ")
    .map((entry) => entry.split(":") as [constant: string, name?: string]);

/** The `DOMException` constructor. */
export type DomExceptionType = new (
  message?: unknown,
  options?: unknown,
) => Error & { readonly code: number };

interface Fields {
  readonly name: string;
  readonly message: string;
  readonly code: number;
}

const { getOwnPropertyDescriptor, hasOwn, setPrototypeOf } = Object;
const { apply, construct } = Reflect;
const { captureStackTrace } = Error as unknown as { captureStackTrace(made: object, below: unknown): void };
const codes = { __proto__: null } as unknown as Record<string, number>;
CODES.forEach(([, name], at) => {
  if (name !== undefined) codes[`${name}Error`] = at + 1;
});

/**
 * Creates `DOMException` and `QuotaExceededError` (Web IDL, §4.3 and §4.4). An exception is a real error object, so that it has a stack;
 * its name and message are getters. `fieldsOf` returns an exception's fields, undefined for any other value.
 */
export function createDomException() {
  const fields = new WeakMap<object, Fields>();
  const own = (exception: object): Fields => {
    const found = fields.get(exception);
    if (found === undefined) throw illegalInvocation();
    return found;
  };

  class DOMException {
    constructor(message: unknown = "", options: unknown = "Error") {
      const prefix = "Failed to construct 'DOMException'";
      const text = string(message, prefix, "Argument 1");
      const given =
        typeof options === "object" && options !== null ? options : { __proto__: null, name: options };
      const name = string((given as { name?: unknown }).name, prefix, "Argument 2");
      const made: Error = construct(Error, [], new.target);
      if ("cause" in given)
        Object.defineProperty(made, "cause", { value: given.cause, configurable: true, writable: true });
      fields.set(made, { name, message: text, code: codes[name] ?? 0 });
      setStack(made, name, text, new.target);
      return made;
    }
  }
  setPrototypeOf(DOMException.prototype, Error.prototype);
  defineGetters(DOMException, ["message", "name", "code"], own);
  exposeInterface(DOMException);
  printGetters(DOMException, ["message", "name", "code"]);
  const asGetters = Object.getOwnPropertyDescriptor(
    DOMException.prototype,
    Symbol.for("Deno.privateCustomInspect"),
  )?.value as (inspect: Inspect, options: object) => string;
  printWith(DOMException.prototype, (self, inspect, options) =>
    hasOwn(self, "stack") && typeof (self as Error).stack === "string"
      ? ((self as Error).stack as string)
      : asGetters.call(self, inspect, options),
  );
  CODES.forEach(([constant], at) => {
    for (const target of [DOMException, DOMException.prototype])
      Object.defineProperty(target, `${constant}_ERR`, { value: at + 1, enumerable: true });
  });

  const amount = double(true);
  const readAmount = (options: object, key: "quota" | "requested"): number | null => {
    if (!hasOwn(options, key)) return null;
    const value = amount((options as Record<string, unknown>)[key], "", "");
    if (value >= 0 || value !== value) return value;
    throw new RangeError(`Failed to construct 'QuotaExceededError': ${key} must not be negative`);
  };
  class QuotaExceededError extends (DOMException as unknown as DomExceptionType) {
    readonly #quota: number | null;
    readonly #requested: number | null;
    constructor(message: unknown = "", options: unknown = {}) {
      super(message, "QuotaExceededError");
      const given = typeof options === "object" && options !== null ? options : {};
      this.#quota = readAmount(given, "quota");
      this.#requested = readAmount(given, "requested");
    }
    get quota(): number | null {
      return this.#quota;
    }
    get requested(): number | null {
      return this.#requested;
    }
  }
  exposeInterface(QuotaExceededError);
  return {
    DOMException: DOMException as unknown as DomExceptionType,
    QuotaExceededError,
    fieldsOf: (value: object): Fields | undefined => fields.get(value),
  };
}

/** Gives an exception a stack from below its constructor, which begins with its name and message: V8 leaves out a message that is a getter's. */
function setStack(made: Error, name: string, message: string, below: unknown): void {
  captureStackTrace(made, below);
  const { get, set } = getOwnPropertyDescriptor(made, "stack") as {
    get(): unknown;
    set(value: unknown): void;
  };
  let isWritten = false;
  Object.defineProperty(made, "stack", {
    get() {
      const stack = apply(get, made, []);
      const isPlain =
        !isWritten && typeof stack === "string" && (stack === name || stack.startsWith(`${name}\n`));
      return isPlain && message !== "" ? `${name}: ${message}${stack.slice(name.length)}` : stack;
    },
    set(value: unknown) {
      isWritten = true;
      apply(set, made, [value]);
    },
    configurable: true,
  });
}
