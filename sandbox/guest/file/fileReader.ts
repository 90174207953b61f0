import { toBase64 } from "../baseCodes.ts";
import { string } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { exposeInterface, printGetters, requireArguments } from "../webIdl.ts";
import type { BlobTools } from "./blob.ts";

interface Decoder {
  readonly encoding: string;
  decode(bytes: Uint8Array): string;
}

/** A read in progress; a later one, or `abort()`, leaves it behind. */
interface Read {
  isAborted: boolean;
}

const EMPTY = 0;
const LOADING = 1;
const DONE = 2;

/** Creates `FileReader` (File API, §6.2). Its events are tasks, so promises settle between two of them. */
export function createFileReader(
  { load, setTimeout, exception }: Internals,
  { bytesOfBlob, isBlob }: BlobTools,
) {
  const events = load("events") as {
    readonly EventTarget: new () => { dispatchEvent(event: object): boolean };
    readonly ProgressEvent: new (type: string, init?: object) => object;
    readonly handlerAttribute: (prototype: object, type: string, isAny: boolean) => void;
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
    #state = EMPTY;
    #read: Read | undefined;
    get readyState(): number {
      return this.#state;
    }
    get result(): unknown {
      return this.#result;
    }
    get error(): null {
      return null;
    }
    #start(
      blob: InstanceType<BlobTools["Blob"]>,
      convert: (bytes: Uint8Array<ArrayBuffer>) => unknown,
    ): void {
      if (this.#state === LOADING) throw exception("Invalid FileReader state", "InvalidStateError");
      // Deno checks nothing else.
      if (blob === null || blob === undefined)
        throw new TypeError(`Cannot read properties of ${String(blob)} (reading 'stream')`);
      if (!isBlob(blob)) throw new TypeError("e.stream is not a function");
      const bytes = bytesOfBlob(blob);
      const read: Read = { isAborted: false };
      this.#read = read;
      this.#state = LOADING;
      this.#result = null;
      const task = (work: () => void): void => {
        setTimeout(() => {
          if (!read.isAborted) work();
        }, 0);
      };
      const size = bytes.length;
      task(() => this.#fire("loadstart", {}));
      if (size > 0) task(() => this.#fire("progress", { loaded: size }));
      task(() => {
        this.#state = DONE;
        this.#result = convert(bytes);
        const progress = { lengthComputable: true, loaded: size, total: size };
        this.#fire("load", progress);
        task(() => {
          if (this.#state !== LOADING) this.#fire("loadend", progress);
        });
      });
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
    readAsArrayBuffer(blob: InstanceType<BlobTools["Blob"]>): void {
      requireArguments(arguments.length, 1, "Failed to execute 'readAsArrayBuffer' on 'FileReader'");
      this.#start(blob, (bytes) => bytes.slice().buffer);
    }
    readAsBinaryString(blob: InstanceType<BlobTools["Blob"]>): void {
      requireArguments(arguments.length, 1, "Failed to execute 'readAsBinaryString' on 'FileReader'");
      this.#start(blob, (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    }
    readAsDataURL(blob: InstanceType<BlobTools["Blob"]>): void {
      requireArguments(arguments.length, 1, "Failed to execute 'readAsDataURL' on 'FileReader'");
      this.#start(
        blob,
        (bytes) => `data:${blob.type || "application/octet-stream"};base64,${toBase64(bytes)}`,
      );
    }
    readAsText(blob: InstanceType<BlobTools["Blob"]>, encoding: unknown = undefined): void {
      const prefix = "Failed to execute 'readAsText' on 'FileReader'";
      requireArguments(arguments.length, 1, prefix);
      const label = encoding === undefined ? undefined : string(encoding, prefix, "Argument 2");
      const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(blob.type)?.[1];
      this.#start(blob, (bytes) => {
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
  }
  for (const type of ["error", "loadstart", "load", "loadend", "progress", "abort"])
    events.handlerAttribute(FileReader.prototype, type, true);
  for (const [name, value] of Object.entries({ EMPTY, LOADING, DONE }))
    for (const target of [FileReader, FileReader.prototype])
      Object.defineProperty(target, name, { value, enumerable: true });
  exposeInterface(FileReader);
  printGetters(FileReader, ["error", "readyState", "result"]);
  return FileReader;
}
