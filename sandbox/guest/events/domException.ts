import { exposeInterface, toText } from "../webIdl.ts";

const CODES: readonly (readonly [name: string, constant: string, code: number])[] = [
  ["IndexSizeError", "INDEX_SIZE_ERR", 1],
  ["HierarchyRequestError", "HIERARCHY_REQUEST_ERR", 3],
  ["WrongDocumentError", "WRONG_DOCUMENT_ERR", 4],
  ["InvalidCharacterError", "INVALID_CHARACTER_ERR", 5],
  ["NoModificationAllowedError", "NO_MODIFICATION_ALLOWED_ERR", 7],
  ["NotFoundError", "NOT_FOUND_ERR", 8],
  ["NotSupportedError", "NOT_SUPPORTED_ERR", 9],
  ["InUseAttributeError", "INUSE_ATTRIBUTE_ERR", 10],
  ["InvalidStateError", "INVALID_STATE_ERR", 11],
  ["SyntaxError", "SYNTAX_ERR", 12],
  ["InvalidModificationError", "INVALID_MODIFICATION_ERR", 13],
  ["NamespaceError", "NAMESPACE_ERR", 14],
  ["InvalidAccessError", "INVALID_ACCESS_ERR", 15],
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

/** Creates `DOMException` (Web IDL, §4.3): an error class with a legacy code, whose name and message are getters. */
export function createDomException(): DomExceptionType {
  class DOMException {
    readonly #message: string;
    readonly #name: string;
    constructor(message: unknown = "", options: unknown = "Error") {
      const fields = (typeof options === "object" && options !== null ? options : { name: options }) as {
        name?: unknown;
        cause?: unknown;
      };
      this.#message = toText(message);
      this.#name = toText(fields.name ?? "Error");
      if ("cause" in fields)
        Object.defineProperty(this, "cause", { value: fields.cause, configurable: true, writable: true });
      const holder = { name: this.#name, message: this.#message } as { stack?: string };
      captureStack(holder, new.target);
      const frames = holder.stack?.slice(holder.stack.indexOf("\n")) ?? "";
      const head = `${this.#name}${this.#message === "" ? "" : `: ${this.#message}`}`;
      Object.defineProperty(this, "stack", {
        value: head + (frames.startsWith("\n") ? frames : ""),
        configurable: true,
        writable: true,
      });
    }
    get name(): string {
      return this.#name;
    }
    get message(): string {
      return this.#message;
    }
    get code(): number {
      return CODES.find(([name]) => name === this.#name)?.[2] ?? 0;
    }
  }
  Object.setPrototypeOf(DOMException.prototype, Error.prototype);
  Object.defineProperty(DOMException.prototype, Symbol.for("Deno.privateCustomInspect"), {
    configurable: true,
    value(this: Error): string {
      return Object.hasOwn(this, "stack") && typeof this.stack === "string"
        ? this.stack
        : Error.prototype.toString.call(this);
    },
  });
  for (const [, constant, value] of CODES) {
    Object.defineProperty(DOMException, constant, { value, enumerable: true });
    Object.defineProperty(DOMException.prototype, constant, { value, enumerable: true });
  }
  exposeInterface(DOMException);
  return DOMException;
}

function captureStack(holder: object, below: unknown): void {
  (Error as unknown as { captureStackTrace(holder: object, below: unknown): void }).captureStackTrace(
    holder,
    below,
  );
}
