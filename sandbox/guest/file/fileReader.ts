import { toBase64 } from "../baseCodes.ts";
import { string } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { concatBytes, exposeInterface, printGetters, requireArguments } from "../webIdl.ts";

interface Decoder {
  readonly encoding: string;
  decode(bytes: Uint8Array): string;
}

/** A read in progress; a later one, or `abort()`, leaves it behind. */
interface Read {
  isAborted: boolean;
}
/** What Deno uses of a blob; any object that has it can be read. */
interface Readable {
  readonly type: string;
  stream(): { getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: unknown }> } };
}

const EMPTY = 0;
const LOADING = 1;
const DONE = 2;

/** Creates `FileReader` (File API, §6.2). Its events are tasks, so promises settle between two of them. */
export function createFileReader({ load, setTimeout, exception }: Internals) {
  const events = load("events") as {
    readonly EventTarget: new () => {
      dispatchEvent(event: object): boolean;
      addEventListener(type: string, listener: (event: object) => unknown): void;
    };
    readonly ProgressEvent: new (type: string, init?: object) => object;
  };
  const decoder = (label: string | undefined): Decoder | undefined => {
    if (!label) return undefined;
    try {
      return new (load("text") as { TextDecoder: new (label: string) => Decoder }).TextDecoder(label);
    } catch {
      // An unknown encoding counts as none.
      return undefined;
    }
  };

  class FileReader extends events.EventTarget {
    #result: unknown = null;
    #error: unknown = null;
    #state = EMPTY;
    #read: Read | undefined;
    readonly #handlers: Record<string, { handler: unknown }> = { __proto__: null } as never;
    get readyState(): number {
      return this.#state;
    }
    get result(): unknown {
      return this.#result;
    }
    get error(): unknown {
      return this.#error;
    }
    #start(blob: Readable, convert: (bytes: Uint8Array<ArrayBuffer>) => unknown): void {
      if (this.#state === LOADING) throw exception("Invalid FileReader state", "InvalidStateError");
      this.#state = LOADING;
      this.#result = null;
      this.#error = null;
      const read: Read = { isAborted: false };
      this.#read = read;
      const reader = streamOf(blob).getReader();
      const task = (work: () => void): void => {
        setTimeout(() => {
          if (!read.isAborted) work();
        }, 1);
      };
      const finish = (type: "load" | "error", init: object): void => {
        this.#fire(type, init);
        task(() => {
          if (this.#state !== LOADING) this.#fire("loadend", init);
        });
      };
      const readAll = async (): Promise<void> => {
        const chunks: Uint8Array[] = [];
        let loaded = 0;
        for (let isFirst = true; ; isFirst = false) {
          const { done, value } = await reader.read();
          if (read.isAborted) return;
          if (isFirst) task(() => this.#fire("loadstart", {}));
          if (done) break;
          if (!(value instanceof Uint8Array)) continue;
          chunks.push(value);
          const init = { loaded: (loaded += value.length) };
          task(() => this.#fire("progress", init));
        }
        task(() => {
          this.#state = DONE;
          this.#result = convert(concatBytes(chunks));
          finish("load", { lengthComputable: true, loaded, total: loaded });
        });
      };
      readAll().catch((error: unknown) =>
        task(() => {
          this.#state = DONE;
          this.#error = error;
          finish("error", {});
        }),
      );
    }
    // The attributes keep whatever they are set to; a method that isn't called on a reader has the errors of these two.
    #getHandler(type: string): unknown {
      return this.#handlers[type]?.handler ?? null;
    }
    #setHandler(type: string, handler: unknown): void {
      const known = this.#handlers[type];
      if (known !== undefined) {
        known.handler = handler;
        return;
      }
      const held = (this.#handlers[type] = { handler });
      this.addEventListener(type, (event) =>
        typeof held.handler === "function" ? held.handler.call(this, event) : undefined,
      );
    }
    #fire(type: string, init: object): void {
      this.dispatchEvent(new events.ProgressEvent(type, init));
    }
    abort(): void {
      this.#result = null;
      if (this.#state !== LOADING) return;
      this.#state = DONE;
      if (this.#read !== undefined) this.#read.isAborted = true;
      this.#fire("abort", {});
      if (this.#state !== (LOADING as number)) this.#fire("loadend", {});
    }
    readAsArrayBuffer(blob: Readable): void {
      requireArguments(arguments.length, 1, "Failed to execute 'readAsArrayBuffer' on 'FileReader'");
      this.#start(blob, (bytes) => bytes.buffer);
    }
    readAsBinaryString(blob: Readable): void {
      requireArguments(arguments.length, 1, "Failed to execute 'readAsBinaryString' on 'FileReader'");
      this.#start(blob, (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    }
    readAsDataURL(blob: Readable): void {
      requireArguments(arguments.length, 1, "Failed to execute 'readAsDataURL' on 'FileReader'");
      this.#start(
        blob,
        (bytes) => `data:${blob.type || "application/octet-stream"};base64,${toBase64(bytes)}`,
      );
    }
    readAsText(blob: Readable, encoding: unknown = undefined): void {
      const prefix = "Failed to execute 'readAsText' on 'FileReader'";
      requireArguments(arguments.length, 1, prefix);
      const label = encoding === undefined ? undefined : string(encoding, prefix, "Argument 2");
      this.#start(blob, (bytes) => {
        const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(blob.type)?.[1];
        // A byte order mark outweighs both labels (Encoding Standard, decode).
        const marked =
          bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
            ? "utf-8"
            : bytes[0] === 0xfe && bytes[1] === 0xff
              ? "utf-16be"
              : bytes[0] === 0xff && bytes[1] === 0xfe
                ? "utf-16le"
                : undefined;
        const chosen = decoder(marked) ?? decoder(label) ?? decoder(charset) ?? decoder("utf-8");
        return (chosen as Decoder).decode(bytes);
      });
    }
    static {
      for (const type of ["error", "loadstart", "load", "loadend", "progress", "abort"]) {
        const handler = {
          get [`on${type}`](): unknown {
            return (this as unknown as FileReader).#getHandler(type);
          },
          set [`on${type}`](value: unknown) {
            (this as unknown as FileReader).#setHandler(type, value);
          },
        };
        Object.defineProperties(FileReader.prototype, Object.getOwnPropertyDescriptors(handler));
      }
    }
  }
  for (const [name, value] of Object.entries({ EMPTY, LOADING, DONE }))
    for (const target of [FileReader, FileReader.prototype])
      Object.defineProperty(target, name, { value, enumerable: true });
  exposeInterface(FileReader);
  printGetters(FileReader, ["error", "readyState", "result"]);
  return FileReader;
}

/** Returns what Deno reads: it checks nothing of a blob, and names its own variable. */
function streamOf(blob: Readable): ReturnType<Readable["stream"]> {
  if (blob !== null && blob !== undefined && typeof blob.stream !== "function")
    throw new TypeError("e.stream is not a function");
  return blob.stream();
}
