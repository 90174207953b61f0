import type { Internals } from "../internals.ts";
import { string } from "../convert.ts";
import * as types from "../types.ts";
import { bytesOf, concatBytes, illegalInvocation } from "../webIdl.ts";
import { type MimeType, extractMimeType, serialiseMimeType } from "./mimeType.ts";

type Bytes = Uint8Array<ArrayBuffer>;

interface StreamLike {
  readonly locked: boolean;
  getReader(): { read(): Promise<{ done: boolean; value: unknown }>; releaseLock(): void };
  pipeThrough(pair: object): unknown;
}

/** The body of a request or response: bytes or a stream. */
export interface Body {
  bytes: Bytes | undefined;
  stream: StreamLike | undefined;
  used: boolean;
}

/** Operations on bodies. */
export interface BodyTools {
  /** Converts a body given by the caller; also returns the content type it implies. `where` names it in errors. */
  readonly extract: (
    value: unknown,
    where?: string,
  ) => { readonly body: Body; readonly type: string | undefined };
  readonly streamOf: (body: Body) => StreamLike;
  readonly isUsed: (body: Body) => boolean;
  /** Whether a body can't be read or cloned: it was read from, or somebody holds its reader. */
  readonly isUnusable: (body: Body) => boolean;
  readonly read: (body: Body) => Promise<Bytes>;
  readonly clone: (body: Body) => Body;
  /** Moves a body to another owner; the first one's is used up. */
  readonly take: (body: Body) => Body;
  /** Adds the readers of every request and response to the class's prototype. */
  readonly mixin: (
    prototype: object,
    bodyOf: (self: object) => Body | null | undefined,
    typeOf: (self: object) => string | null,
  ) => void;
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Creates the operations on bodies; the chunks for streams, blobs and forms load only when a body needs them. */
export function createBodyTools({ load, encodeUtf8, decodeUtf8 }: Internals): BodyTools {
  const streams = () =>
    load("streams") as {
      readonly ReadableStream: (new (source?: object) => StreamLike) & { from(items: unknown): StreamLike };
      readonly TransformStream: new (transformer?: object) => object;
      teeWith(stream: StreamLike, copy: (piece: unknown) => unknown): [StreamLike, StreamLike];
    };
  const files = () =>
    load("file") as {
      readonly FormData: new () => { append(name: string, value: unknown): void };
      readonly bytesOfBlob: (blob: object) => Bytes;
      readonly encodeForm: (form: object) => { bytes: Bytes; type: string; blob: object };
      readonly decodeForm: (bytes: Bytes, boundary: string) => object;
    };
  const isDisturbed = (stream: object): boolean => {
    const { disturbed } = load("streams")["fields"] as { readonly disturbed: symbol };
    return Boolean((stream as Record<symbol, unknown>)[disturbed]);
  };
  const ofBytes = (bytes: Bytes): Body => ({ bytes, stream: undefined, used: false });

  /** Returns a stream of the byte arrays that an object iterates over; the errors are Deno's, which can't be cancelled. */
  function streamOfItems(
    items: Partial<AsyncIterable<unknown> & Iterable<unknown>>,
    where: string,
  ): StreamLike {
    const context = where.replace(/^.*?: /, "");
    const requireObject = (what: string, value: unknown): void => {
      if (Object(value) !== value) throw new TypeError(`${context} ${what}, but ${typeName(value)}.`);
    };
    const isAsync = (items[Symbol.asyncIterator] ?? undefined) !== undefined;
    const method = isAsync ? items[Symbol.asyncIterator] : items[Symbol.iterator];
    if (typeof method !== "function")
      throw new TypeError(`Symbol(Symbol.${isAsync ? "asyncIterator" : "iterator"}) is not a function`);
    const open = (): object => {
      const iterator = Reflect.apply(method, items, []) as AsyncIterator<unknown>;
      requireObject("could not be iterated because iterator method did not return object", iterator);
      return {
        async next() {
          const step = await iterator.next();
          requireObject(
            "failed to iterate next value because the next() method did not return an object",
            step,
          );
          if (step.done === true) return step;
          const value = await step.value;
          if (!(value instanceof Uint8Array))
            throw new TypeError(
              `${context} failed to iterate next value: The value returned from the next() method is not an Uint8Array object`,
            );
          return { value, done: false };
        },
        async return(reason: unknown) {
          await iterator.return?.(reason);
          requireObject(
            "failed to close iterator because the return() method did not return an object",
            undefined,
          );
        },
      };
    };
    return streams().ReadableStream.from({ [Symbol.asyncIterator]: open });
  }

  const tools: BodyTools = {
    extract(value, where = "") {
      if (typeof value === "object" && value !== null) {
        if (types.isSharedArrayBuffer(value)) throw new TypeError(`${where} is not an ArrayBuffer`);
        if (ArrayBuffer.isView(value) && types.isSharedArrayBuffer(value.buffer))
          throw new TypeError(`${where} is a view on a SharedArrayBuffer, which is not allowed`);
        const bytes = value instanceof Uint8Array ? value : bytesOf(value);
        if (bytes !== undefined) return { body: ofBytes(bytes.slice()), type: undefined };
        switch (tagOf(value)) {
          case "Blob":
          case "File": {
            const type = (value as { type: string }).type;
            const body = ofBytes(files().bytesOfBlob(value));
            BLOBS.set(body, value as Streamable);
            return { body, type: type === "" ? undefined : type };
          }
          case "FormData": {
            const form = files().encodeForm(value);
            const body = ofBytes(form.bytes);
            BLOBS.set(body, form.blob as Streamable);
            return { body, type: form.type };
          }
          case "URLSearchParams":
            return {
              body: ofBytes(encodeUtf8(String(value)) as Bytes),
              type: "application/x-www-form-urlencoded;charset=UTF-8",
            };
          case "ReadableStream": {
            const stream = value as StreamLike;
            if (stream.locked || isDisturbed(stream))
              throw new TypeError("ReadableStream is locked or disturbed");
            const known = STATIC.get(stream);
            if (known !== undefined)
              return { body: withText(ofBytes(known.bytes), known.text), type: undefined };
            return { body: { bytes: undefined, stream, used: false }, type: undefined };
          }
        }
        const items = value as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
        if ((items[Symbol.asyncIterator] ?? items[Symbol.iterator]) && !types.isStringObject(value))
          return {
            body: { bytes: undefined, stream: streamOfItems(value, where), used: false },
            type: undefined,
          };
      }
      const text = string(value, "", "");
      const body = withText(ofBytes(encodeUtf8(text) as Bytes), text);
      return { body, type: "text/plain;charset=UTF-8" };
    },
    streamOf(body) {
      if (body.stream === undefined) {
        const { bytes, used } = body;
        const blob = BLOBS.get(body);
        if (blob !== undefined && !used) return (body.stream = blob.stream());
        const { ReadableStream } = streams();
        body.stream = new ReadableStream({
          __proto__: null,
          ...((FROM_NETWORK.has(body) || BLOBS.has(body)) && { type: "bytes" }),
          start(controller: { enqueue(chunk: Bytes): void; close(): void; error(reason: unknown): void }) {
            const signal = SIGNALS.get(body);
            if (signal?.aborted) return controller.error(signal.reason);
            signal?.addEventListener("abort", () => controller.error(signal.reason));
            const isEmpty = bytes === undefined || (FROM_NETWORK.has(body) && bytes.length === 0);
            if (!used && !isEmpty) controller.enqueue(bytes.slice());
            controller.close();
          },
        });
        if (bytes !== undefined && !FROM_NETWORK.has(body))
          STATIC.set(body.stream, { bytes, text: TEXTS.get(body) });
        TEXTS.delete(body);
        // The stream of a body that was read is disturbed and held by its reader.
        if (used) void body.stream.getReader().read();
      }
      return body.stream;
    },
    isUsed: ({ used, stream }) => used || (stream !== undefined && isDisturbed(stream)),
    isUnusable: (body) => tools.isUsed(body) || body.stream?.locked === true,
    async read(body) {
      if (tools.isUnusable(body)) throw new TypeError("Body already consumed");
      body.used = true;
      const signal = SIGNALS.get(body);
      if (signal?.aborted) throw signal.reason;
      if (body.stream === undefined) return body.bytes as Bytes;
      const reader = body.stream.getReader();
      const parts: Uint8Array[] = [];
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return concatBytes(parts);
        if (!(value instanceof Uint8Array))
          throw new TypeError("Cannot convert value to Uint8Array while consuming the stream");
        parts.push(value);
      }
    },
    take(body) {
      const { bytes, stream } = body;
      const taken: Body = { bytes, used: false, stream: undefined };
      if (stream === undefined) {
        keepSource(body, taken);
        body.used = true;
      } else taken.stream = stream.pipeThrough(new (streams().TransformStream)()) as StreamLike;
      return taken;
    },
    clone(body) {
      if (body.stream === undefined) {
        const copy = { ...body };
        keepSource(body, copy);
        return copy;
      }
      const { copy } = load("clone") as { copy: (value: unknown) => unknown };
      const [first, second] = streams().teeWith(body.stream, copy);
      body.stream = first;
      body.bytes = undefined;
      return { bytes: undefined, stream: second, used: false };
    },
    mixin(prototype, bodyOf, typeOf) {
      const own = (self: object): Body | null => {
        const body = bodyOf(self);
        if (body === undefined) throw illegalInvocation();
        return body;
      };
      const read = async (self: object): Promise<Bytes> => {
        const body = own(self);
        return body === null ? new Uint8Array(0) : tools.read(body);
      };
      /** Reads a body as text; one that was made of a text is that text. */
      const text = async (self: object): Promise<string> => {
        const known = TEXTS.get(own(self) as Body);
        const bytes = await read(self);
        return known ?? decodeUtf8(bytes, false, false);
      };
      const mimeType = (self: object): MimeType | undefined => extractMimeType(typeOf(self));
      const members = {
        get body(): StreamLike | null {
          const body = own(this);
          return body === null ? null : tools.streamOf(body);
        },
        get bodyUsed(): boolean {
          const body = own(this);
          return body !== null && tools.isUsed(body);
        },
        async arrayBuffer(): Promise<ArrayBuffer> {
          return (await read(this)).slice().buffer;
        },
        async blob(): Promise<object> {
          const bytes = await read(this);
          const type = mimeType(this);
          // As in Deno, the global class.
          return new Blob([bytes], { type: type === undefined ? "" : serialiseMimeType(type) });
        },
        async bytes(): Promise<Bytes> {
          return (await read(this)).slice();
        },
        async formData(): Promise<object> {
          const bytes = await read(this);
          const type = mimeType(this);
          if (type === undefined) throw new TypeError("Missing content type");
          if (type.essence === "multipart/form-data") {
            const boundary = type.parameters.get("boundary");
            if (!boundary)
              throw new TypeError(
                "Cannot construct MultipartParser: multipart/form-data must provide a boundary",
              );
            return files().decodeForm(bytes, boundary);
          }
          if (type.essence !== "application/x-www-form-urlencoded")
            throw new TypeError("Body can not be decoded as form data");
          const form = new (files().FormData)();
          const { URLSearchParams } = load("url") as {
            URLSearchParams: new (text: string) => Iterable<[string, string]>;
          };
          // The leading `&` keeps a `?`, which the constructor would drop. A mark is part of the first name.
          for (const [name, value] of new URLSearchParams(`&${decodeUtf8(bytes, false, true)}`))
            form.append(name, value);
          return form;
        },
        async json(): Promise<unknown> {
          return JSON.parse(await text(this)) as unknown;
        },
        async text(): Promise<string> {
          return text(this);
        },
        textStream(): unknown {
          const body = own(this);
          if (body !== null && tools.isUnusable(body)) throw new TypeError("Body already consumed.");
          const { TextDecoderStream } = load("streams") as unknown as { TextDecoderStream: new () => object };
          if (body === null)
            return new (streams().ReadableStream)({
              __proto__: null,
              start(controller: { close(): void }) {
                controller.close();
              },
            });
          return tools.streamOf(body).pipeThrough(new TextDecoderStream());
        },
      };
      const descriptors = Object.getOwnPropertyDescriptors(members);
      for (const [name, { value }] of Object.entries<TypedPropertyDescriptor<unknown>>(descriptors))
        if (typeof value === "function")
          Object.assign(descriptors[name as "text"], { value: asFunction(name, value as () => unknown) });
      for (const key of ["body", "bodyUsed"] as const)
        Object.defineProperty(descriptors[key].get, "name", { value: "get" });
      Object.defineProperties(prototype, descriptors);
    },
  };
  return tools;
}

/** Returns a method as Deno has it: a plain function. */
function asFunction(name: string, method: () => unknown): unknown {
  const named = {
    [name]: function (this: unknown): unknown {
      return Reflect.apply(method, this, []);
    },
  };
  return named[name];
}

/** The strings that bodies were made of, until somebody asks for their streams: Deno returns and parses them as they are. */
const TEXTS = new WeakMap<Body, string>();

function withText(body: Body, text: string | undefined): Body {
  if (text !== undefined) TEXTS.set(body, text);
  return body;
}

/** Returns the name of a value's type, as Web IDL has it. */
function typeName(value: unknown): string {
  if (value === null) return "Null";
  const name: string = typeof value;
  return name === "bigint" ? "BigInt" : name.charAt(0).toUpperCase() + name.slice(1);
}

interface Streamable {
  stream(): StreamLike;
}
/** Bodies made of blobs and forms: their streams are the blobs'. */
const BLOBS = new WeakMap<Body, Streamable>();

function keepSource(from: Body, to: Body): void {
  const blob = BLOBS.get(from);
  if (blob !== undefined) BLOBS.set(to, blob);
  withText(to, TEXTS.get(from));
}

/** Streams of bodies whose bytes are known: another body takes the bytes, and leaves the stream as it is. */
const STATIC = new WeakMap<StreamLike, { readonly bytes: Bytes; readonly text: string | undefined }>();

interface Aborting {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
}
/** Bodies that can't be read any more once the signal of their request is aborted. */
const SIGNALS = new WeakMap<Body, Aborting>();

/** Ends a body with the signal of its request. */
export function endWith(body: Body, signal: Aborting | undefined): void {
  if (signal !== undefined) SIGNALS.set(body, signal);
}

/** Bodies received from a server: their streams are byte streams. */
export const FROM_NETWORK = new WeakSet<Body>();
