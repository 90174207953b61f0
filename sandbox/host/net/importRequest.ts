import { isShallow } from "../frames.ts";
import { HostCallRefusal } from "../hostCall.ts";

/**
 * Longest specifier that is considered, in UTF-16 units: a registry's longest name is 214, and nobody needs a longer URL.
 */
const MAX_SPECIFIER_CHARS = 1_024;
/** Longest value of the import attribute `type`, in UTF-16 units. */
const MAX_TYPE_CHARS = 64;
/** Longest message, in bytes: both of them, each unit escaped to six bytes, and the JSON around them. */
const MAX_MESSAGE_BYTES = 6 * (MAX_SPECIFIER_CHARS + MAX_TYPE_CHARS) + 64;

/** The module that an `import()` asks for. */
export interface ImportRequest {
  readonly specifier: string;
  /** Value of the import attribute `type`, or `""`. */
  readonly type: string;
}

/** Says why a request for a module is refused outright, or returns `null` if it may be made. */
export function refusalOfImport({ specifier, type }: ImportRequest): string | null {
  if (specifier.length > MAX_SPECIFIER_CHARS) {
    // The sandbox process serves a data URL of any length itself; it asks the host only if the URL holds no module.
    if (specifier.startsWith("data:")) return "Expected a JavaScript or TypeScript module in a data: URL.";
    return `Import '${specifier.slice(0, 80)}…' failed: the specifier has ${specifier.length} characters, at most ${MAX_SPECIFIER_CHARS} are taken`;
  }
  if (type.length > MAX_TYPE_CHARS)
    return `The import attribute type of "${type.slice(0, MAX_TYPE_CHARS)}…" is unsupported.`;
  return null;
}

/**
 * Parses the message of the host call `import` as hostile input.
 * @throws {HostCallRefusal} If it is malformed.
 */
export function parseImportRequest(message: Uint8Array): ImportRequest {
  if (message.length > MAX_MESSAGE_BYTES) throw new HostCallRefusal("malformed host call");
  if (!isShallow(message, 1)) throw new HostCallRefusal("malformed host call");
  let request: unknown;
  try {
    request = JSON.parse(Buffer.from(message).toString());
  } catch {
    throw new HostCallRefusal("malformed host call");
  }
  const { specifier, type } = (request ?? {}) as { specifier?: unknown; type?: unknown };
  if (typeof specifier !== "string" || typeof type !== "string")
    throw new HostCallRefusal("malformed host call");
  return { specifier, type };
}
