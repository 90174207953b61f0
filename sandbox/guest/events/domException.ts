import { double, string } from "../convert.ts";
import { exposeInterface, illegalInvocation, printGetters } from "../webIdl.ts";

/** Names, constants and legacy codes (Web IDL, §2.8.1); three constants have no name. */
const CODES: readonly (readonly [name: string, constant: string, code: number])[] = [
  ["IndexSizeError", "INDEX_SIZE_ERR", 1],
  ["", "DOMSTRING_SIZE_ERR", 2],
  ["HierarchyRequestError", "HIERARCHY_REQUEST_ERR", 3],
  ["WrongDocumentError", "WRONG_DOCUMENT_ERR", 4],
  ["InvalidCharacterError", "INVALID_CHARACTER_ERR", 5],
  ["", "NO_DATA_ALLOWED_ERR", 6],
  ["NoModificationAllowedError", "NO_MODIFICATION_ALLOWED_ERR", 7],
  ["NotFoundError", "NOT_FOUND_ERR", 8],
  ["NotSupportedError", "NOT_SUPPORTED_ERR", 9],
  ["InUseAttributeError", "INUSE_ATTRIBUTE_ERR", 10],
  ["InvalidStateError", "INVALID_STATE_ERR", 11],
  ["SyntaxError", "SYNTAX_ERR", 12],
  ["InvalidModificationError", "INVALID_MODIFICATION_ERR", 13],
  ["NamespaceError", "NAMESPACE_ERR", 14],
  ["InvalidAccessError", "INVALID_ACCESS_ERR", 15],
  ["", "VALIDATION_ERR", 16],
  ["TypeMismatchError", "TYPE_MISMATCH_ERR", 17],
  ["SecurityError", "SECURITY_ERR", 18],
  ["NetworkError", "NETWORK_ERR", 19],
  ["AbortError", "ABORT_ERR", 20],
  ["URLMismatchError", "URL_MISMATCH_ERR", 21],
  ["QuotaExceededError", "QUOTA_EXCEEDED_ERR", 22],
  ["TimeoutError", "TIMEOUT_ERR", 23],
  ["InvalidNodeTypeError", "INVALID_NODE_TYPE_ERR", 24],
  ["DataCloneError", "DATA_CLONE_ERR", 25],
];

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

const { hasOwn, setPrototypeOf } = Object;
const { construct } = Reflect;
const codes = { __proto__: null } as unknown as Record<string, number>;
for (const [name, , code] of CODES) if (name !== "") codes[name] = code;

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
      const given = typeof options === "object" && options !== null ? options : { name: options };
      const name = string((given as { name?: unknown }).name, prefix, "Argument 2");
      const made: Error = construct(Error, [], new.target);
      if ("cause" in given)
        Object.defineProperty(made, "cause", { value: given.cause, configurable: true, writable: true });
      fields.set(made, { name, message: text, code: codes[name] ?? 0 });
      setStack(made, `${name}${text === "" ? "" : `: ${text}`}`, new.target);
      return made as unknown as this;
    }
    get message(): string {
      return own(this).message;
    }
    get name(): string {
      return own(this).name;
    }
    get code(): number {
      return own(this).code;
    }
  }
  setPrototypeOf(DOMException.prototype, Error.prototype);
  exposeInterface(DOMException);
  printGetters(DOMException, ["message", "name", "code"], (value) => fields.has(value));
  const inspectSymbol = Symbol.for("Deno.privateCustomInspect");
  const asGetters = (DOMException.prototype as unknown as Record<symbol, (...args: unknown[]) => string>)[
    inspectSymbol
  ] as (...args: unknown[]) => string;
  Object.defineProperty(DOMException.prototype, inspectSymbol, {
    configurable: true,
    value(this: Error, ...args: unknown[]): string {
      return hasOwn(this, "stack") && typeof this.stack === "string"
        ? this.stack
        : asGetters.apply(this, args);
    },
  });
  for (const [, constant, value] of CODES) {
    Object.defineProperty(DOMException, constant, { value, enumerable: true });
    Object.defineProperty(DOMException.prototype, constant, { value, enumerable: true });
  }

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

/** Gives an exception a stack that begins with its own name and message; an accessor, as V8's are in Deno. */
function setStack(made: Error, head: string, below: unknown): void {
  const holder = {} as { stack?: string };
  (Error as unknown as { captureStackTrace(holder: object, below: unknown): void }).captureStackTrace(
    holder,
    below,
  );
  const frames = holder.stack?.slice(holder.stack.indexOf("\n")) ?? "";
  let stack: unknown = head + (frames.startsWith("\n") ? frames : "");
  Object.defineProperty(made, "stack", {
    get: () => stack,
    set: (value: unknown) => {
      stack = value;
    },
    configurable: true,
  });
}
