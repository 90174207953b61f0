import type { Internals } from "../internals.ts";
import { toBase64 } from "../baseCodes.ts";
import { makeIterable } from "../pairIterator.ts";
import {
  bytesOf,
  concatBytes,
  exposeInterface,
  printGetters,
  requireArguments,
  toScalarString,
  toText,
} from "../webIdl.ts";

/** File API: `Blob`, `File`, `FileReader`; XMLHttpRequest Standard: `FormData`. */
export default function fileChunk({
  load,
  encodeUtf8,
  setTimeout,
}: Internals): Readonly<Record<string, unknown>> {
  const decodeUtf8 = (bytes: Uint8Array): string =>
    (load("text")["decodeUtf8"] as (bytes: Uint8Array) => string)(bytes);
  let bytesOfBlob: (blob: Blob) => Uint8Array<ArrayBuffer>;
  const makeBlob = (bytes: Uint8Array, type: string): Blob => new Blob([bytes], { type });

  class Blob {
    readonly #bytes: Uint8Array<ArrayBuffer>;
    readonly #type: string;
    static {
      bytesOfBlob = (blob) => blob.#bytes;
    }
    constructor(parts: unknown = [], options: { type?: unknown; endings?: unknown } = {}) {
      if (
        typeof parts !== "object" ||
        parts === null ||
        typeof (parts as Iterable<unknown>)[Symbol.iterator] !== "function"
      ) {
        throw new TypeError("Failed to construct 'Blob': Argument 1 can not be converted to sequence.");
      }
      const native = options?.endings === "native";
      this.#bytes = concatBytes(
        Array.from(parts as Iterable<unknown>, (part) => {
          if (part instanceof Blob) return part.#bytes;
          return bytesOf(part) ?? encodeUtf8(native ? toText(part).replace(/\r\n?/g, "\n") : toText(part));
        }),
      );
      const type = options?.type === undefined ? "" : toText(options.type);
      this.#type = /[^\x20-\x7e]/.test(type) ? "" : type.toLowerCase();
    }
    get size(): number {
      return this.#bytes.length;
    }
    get type(): string {
      return this.#type;
    }
    slice(start: unknown = 0, end: unknown = this.size, type: unknown = ""): Blob {
      return makeBlob(this.#bytes.slice(Number(start), Number(end)), toText(type));
    }
    stream(): unknown {
      const { ReadableStream } = load("streams") as { ReadableStream: new (source: object) => unknown };
      const bytes = this.#bytes;
      return new ReadableStream({
        type: "bytes",
        start(controller: { enqueue(chunk: Uint8Array): void; close(): void }) {
          if (bytes.length > 0) controller.enqueue(bytes.slice());
          controller.close();
        },
      });
    }
    textStream(): unknown {
      const { TextDecoderStream } = load("streams") as { TextDecoderStream: new () => object };
      return (this.stream() as { pipeThrough(pair: object): unknown }).pipeThrough(new TextDecoderStream());
    }
    async text(): Promise<string> {
      return decodeUtf8(this.#bytes);
    }
    async arrayBuffer(): Promise<ArrayBuffer> {
      return this.#bytes.slice().buffer;
    }
    async bytes(): Promise<Uint8Array> {
      return this.#bytes.slice();
    }
  }
  Object.defineProperty(Blob, "length", { value: 0, configurable: true });

  class File extends Blob {
    readonly #name: string;
    readonly #lastModified: number;
    constructor(parts: unknown, name: unknown, options: { type?: unknown; lastModified?: unknown } = {}) {
      requireArguments(arguments.length, 2, "Failed to construct 'File'");
      super(parts, options);
      this.#name = toScalarString(name);
      this.#lastModified = options?.lastModified === undefined ? Date.now() : Number(options.lastModified);
    }
    get name(): string {
      return this.#name;
    }
    get lastModified(): number {
      return this.#lastModified;
    }
    get webkitRelativePath(): string {
      return "";
    }
  }

  const events = load("events") as {
    EventTarget: new () => { dispatchEvent(event: object): boolean };
    ProgressEvent: new (type: string, init?: object) => object;
    handlerAttribute: (prototype: object, type: string) => void;
  };
  class FileReader extends events.EventTarget {
    #result: unknown = null;
    #state = 0;
    get result(): unknown {
      return this.#result;
    }
    get readyState(): number {
      return this.#state;
    }
    get error(): null {
      return null;
    }
    #read(blob: Blob, convert: (bytes: Uint8Array<ArrayBuffer>) => unknown): void {
      this.#state = 1;
      setTimeout(() => {
        this.dispatchEvent(new events.ProgressEvent("loadstart"));
        this.#result = convert(bytesOfBlob(blob));
        this.#state = 2;
        const size = { loaded: blob.size, total: blob.size, lengthComputable: true };
        for (const type of ["progress", "load", "loadend"])
          this.dispatchEvent(new events.ProgressEvent(type, size));
      }, 0);
    }
    readAsText(blob: Blob): void {
      this.#read(blob, decodeUtf8);
    }
    readAsArrayBuffer(blob: Blob): void {
      this.#read(blob, (bytes) => bytes.slice().buffer);
    }
    readAsDataURL(blob: Blob): void {
      const type = blob.type === "" ? "application/octet-stream" : blob.type;
      this.#read(blob, (bytes) => `data:${type};base64,${toBase64(bytes)}`);
    }
    abort(): void {}
  }
  for (const type of ["loadstart", "progress", "load", "abort", "error", "loadend"])
    events.handlerAttribute(FileReader.prototype, type);

  type Entry = [name: string, value: string | File];
  let entriesOf: (form: FormData) => Entry[];

  class FormData {
    #entries: Entry[] = [];
    static {
      entriesOf = (form) => form.#entries;
    }
    append(name: unknown, value: unknown, filename: unknown = undefined): void {
      requireArguments(arguments.length, 2, "Failed to execute 'append' on 'FormData'");
      this.#entries.push(entry(name, value, filename));
    }
    delete(name: unknown): void {
      requireArguments(arguments.length, 1, "Failed to execute 'delete' on 'FormData'");
      this.#entries = this.#entries.filter(([key]) => key !== toScalarString(name));
    }
    get(name: unknown): string | File | null {
      requireArguments(arguments.length, 1, "Failed to execute 'get' on 'FormData'");
      return this.#entries.find(([key]) => key === toScalarString(name))?.[1] ?? null;
    }
    getAll(name: unknown): (string | File)[] {
      requireArguments(arguments.length, 1, "Failed to execute 'getAll' on 'FormData'");
      return this.#entries.filter(([key]) => key === toScalarString(name)).map(([, value]) => value);
    }
    has(name: unknown): boolean {
      requireArguments(arguments.length, 1, "Failed to execute 'has' on 'FormData'");
      return this.#entries.some(([key]) => key === toScalarString(name));
    }
    set(name: unknown, value: unknown, filename: unknown = undefined): void {
      requireArguments(arguments.length, 2, "Failed to execute 'set' on 'FormData'");
      const made = entry(name, value, filename);
      const at = this.#entries.findIndex(([key]) => key === made[0]);
      if (at < 0) this.#entries.push(made);
      else
        this.#entries = this.#entries
          .filter(([key], index) => index === at || key !== made[0])
          .map((old, index) => (index === at ? made : old));
    }
    forEach(
      callback: (value: string | File, name: string, form: FormData) => void,
      thisArg: unknown = undefined,
    ): void {
      for (const [name, value] of this.#entries) callback.call(thisArg, value, name, this);
    }
  }
  makeIterable(FormData, "FormData", entriesOf);
  Object.defineProperty(FormData.prototype, Symbol.for("Deno.privateCustomInspect"), {
    configurable: true,
    value(this: FormData, inspect: (value: unknown, options?: object) => string, options: object) {
      return `FormData ${inspect(Object.fromEntries(entriesOf(this)), options)}`;
    },
  });

  function entry(name: unknown, value: unknown, filename: unknown): Entry {
    if (!(value instanceof Blob)) return [toScalarString(name), toScalarString(value)];
    const named =
      filename === undefined ? (value instanceof File ? value.name : "blob") : toScalarString(filename);
    const file =
      value instanceof File && filename === undefined
        ? value
        : new File([value], named, { type: value.type });
    return [toScalarString(name), file];
  }

  const escapeName = (text: string): string =>
    text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");

  /** Encodes a form as multipart/form-data. */
  function encodeForm(form: FormData): { readonly bytes: Uint8Array; readonly type: string } {
    const boundary = `----${Math.random().toString().slice(2).padEnd(17, "0")}${Math.random().toString().slice(2, 17)}`;
    const parts: Uint8Array[] = [];
    for (const [name, value] of entriesOf(form)) {
      let head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
      if (typeof value === "string")
        parts.push(encodeUtf8(`${head}\r\n\r\n${value.replace(/\r\n?|\n/g, "\r\n")}\r\n`));
      else {
        head += `; filename="${escapeName(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}\r\n\r\n`;
        parts.push(encodeUtf8(head), bytesOfBlob(value), encodeUtf8("\r\n"));
      }
    }
    parts.push(encodeUtf8(`--${boundary}--\r\n`));
    return { bytes: concatBytes(parts), type: `multipart/form-data; boundary=${boundary}` };
  }

  /** Reads multipart/form-data. @throws {TypeError} If it is malformed. */
  function decodeForm(bytes: Uint8Array, boundary: string): FormData {
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    const form = new FormData();
    const toBytes = (part: string): Uint8Array =>
      Uint8Array.from(part, (character) => character.charCodeAt(0));
    const sections = text.split(`--${boundary}`);
    if (sections.length < 2) throw new TypeError("Form data is missing the boundary");
    for (const section of sections.slice(1, -1)) {
      const end = section.indexOf("\r\n\r\n");
      const head = decodeUtf8(toBytes(section.slice(0, end)));
      const name = /\bname="([^"]*)"/i.exec(head)?.[1];
      if (end < 0 || name === undefined) throw new TypeError("Could not parse the form data");
      const body = toBytes(section.slice(end + 4, -2));
      const filename = /\bfilename="([^"]*)"/i.exec(head)?.[1];
      if (filename === undefined) form.append(name, decodeUtf8(body));
      else
        form.append(
          name,
          new File([body], filename, {
            type: /content-type:\s*([^\r\n]+)/i.exec(head)?.[1] ?? "application/octet-stream",
          }),
        );
    }
    return form;
  }

  for (const type of [Blob, File, FileReader, FormData]) exposeInterface(type);
  printGetters(Blob, ["size", "type"]);
  printGetters(File, ["name", "size", "type"]);
  return {
    Blob,
    File,
    FileReader,
    FormData,
    bytesOfBlob: (blob: Blob) => bytesOfBlob(blob),
    encodeForm,
    decodeForm,
  };
}
