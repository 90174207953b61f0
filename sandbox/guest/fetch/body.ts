import type { Internals } from "../internals.ts";
import { bytesOf, concatBytes, toText } from "../webIdl.ts";

type Bytes = Uint8Array<ArrayBuffer>;

interface StreamLike {
  readonly locked: boolean;
  getReader(): { read(): Promise<{ done: boolean; value: unknown }>; releaseLock(): void };
  tee(): [StreamLike, StreamLike];
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
  /** Converts a body given by the caller; also returns the content type it implies. */
  readonly extract: (value: unknown) => { readonly body: Body; readonly type: string | undefined };
  readonly streamOf: (body: Body) => StreamLike;
  readonly isUsed: (body: Body) => boolean;
  readonly read: (body: Body) => Promise<Bytes>;
  readonly clone: (body: Body) => Body;
  /** Adds the readers of every request and response to the class's prototype. */
  readonly mixin: (
    prototype: object,
    bodyOf: (self: object) => Body | null,
    typeOf: (self: object) => string | null,
  ) => void;
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Creates the operations on bodies; the chunks for streams, blobs and forms load only when a body needs them. */
export function createBodyTools({ load, encodeUtf8 }: Internals): BodyTools {
  const streams = () =>
    load("streams") as { readonly ReadableStream: new (source?: object, strategy?: object) => StreamLike };
  const files = () =>
    load("file") as {
      readonly Blob: new (parts: unknown[], options?: object) => object;
      readonly FormData: new () => { append(name: string, value: unknown): void };
      readonly bytesOfBlob: (blob: object) => Bytes;
      readonly encodeForm: (form: object) => { bytes: Bytes; type: string };
      readonly decodeForm: (bytes: Bytes, boundary: string) => object;
    };
  const decodeUtf8 = (bytes: Uint8Array): string =>
    (load("text")["decodeUtf8"] as (bytes: Uint8Array) => string)(bytes);
  const ofBytes = (bytes: Bytes): Body => ({ bytes, stream: undefined, used: false });

  const tools: BodyTools = {
    extract(value) {
      if (typeof value === "object" && value !== null) {
        const bytes = bytesOf(value);
        if (bytes !== undefined) return { body: ofBytes(bytes.slice()), type: undefined };
        switch (tagOf(value)) {
          case "Blob":
          case "File": {
            const type = (value as { type: string }).type;
            return { body: ofBytes(files().bytesOfBlob(value)), type: type === "" ? undefined : type };
          }
          case "FormData": {
            const form = files().encodeForm(value);
            return { body: ofBytes(form.bytes), type: form.type };
          }
          case "URLSearchParams":
            return {
              body: ofBytes(encodeUtf8(String(value)) as Bytes),
              type: "application/x-www-form-urlencoded;charset=UTF-8",
            };
          case "ReadableStream": {
            const stream = value as StreamLike;
            if (stream.locked) throw new TypeError("ReadableStream is locked or disturbed");
            return { body: { bytes: undefined, stream, used: false }, type: undefined };
          }
        }
      }
      return { body: ofBytes(encodeUtf8(toText(value)) as Bytes), type: "text/plain;charset=UTF-8" };
    },
    streamOf(body) {
      if (body.stream === undefined) {
        const { bytes, used } = body;
        const { ReadableStream } = streams();
        body.stream = new ReadableStream({
          ...(FROM_NETWORK.has(body) && { type: "bytes" }),
          start(controller: { enqueue(chunk: Bytes): void; close(): void }) {
            if (!used && bytes !== undefined && bytes.length > 0) controller.enqueue(bytes.slice());
            controller.close();
          },
        });
      }
      return body.stream;
    },
    isUsed: ({ used, stream }) =>
      used || Boolean((stream as { _disturbed?: boolean } | undefined)?._disturbed),
    async read(body) {
      if (tools.isUsed(body) || body.stream?.locked) throw new TypeError("Body already consumed");
      body.used = true;
      if (body.stream === undefined) return body.bytes as Bytes;
      const reader = body.stream.getReader();
      const parts: Uint8Array[] = [];
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return concatBytes(parts);
        if (!(value instanceof Uint8Array))
          throw new TypeError("Cannot read body as chunk is not a Uint8Array");
        parts.push(value);
      }
    },
    clone(body) {
      if (body.stream === undefined) return { ...body };
      const [first, second] = body.stream.tee();
      body.stream = first;
      body.bytes = undefined;
      return { bytes: undefined, stream: second, used: false };
    },
    mixin(prototype, bodyOf, typeOf) {
      const read = async (self: object): Promise<Bytes> => {
        const body = bodyOf(self);
        return body === null ? new Uint8Array(0) : tools.read(body);
      };
      const members = {
        get body(): StreamLike | null {
          const body = bodyOf(this);
          return body === null ? null : tools.streamOf(body);
        },
        get bodyUsed(): boolean {
          const body = bodyOf(this);
          return body !== null && tools.isUsed(body);
        },
        async arrayBuffer(): Promise<ArrayBuffer> {
          return (await read(this)).slice().buffer;
        },
        async blob(): Promise<object> {
          return new (files().Blob)([await read(this)], { type: typeOf(this) ?? "" });
        },
        async bytes(): Promise<Bytes> {
          return (await read(this)).slice();
        },
        async formData(): Promise<object> {
          const type = typeOf(this) ?? "";
          const bytes = await read(this);
          const boundary = /^multipart\/form-data\s*;.*\bboundary="?([^";]+)"?/i.exec(type)?.[1];
          if (boundary !== undefined) return files().decodeForm(bytes, boundary);
          if (!/^application\/x-www-form-urlencoded/i.test(type))
            throw new TypeError(
              type === "" ? "Missing content type" : "Body can not be decoded as form data",
            );
          const form = new (files().FormData)();
          const { URLSearchParams } = load("url") as {
            URLSearchParams: new (text: string) => Iterable<[string, string]>;
          };
          for (const [name, value] of new URLSearchParams(decodeUtf8(bytes))) form.append(name, value);
          return form;
        },
        async json(): Promise<unknown> {
          return JSON.parse(decodeUtf8(await read(this))) as unknown;
        },
        async text(): Promise<string> {
          return decodeUtf8(await read(this));
        },
        textStream(): unknown {
          const { TextDecoderStream } = load("streams") as unknown as { TextDecoderStream: new () => object };
          const body = bodyOf(this);
          return body === null ? null : tools.streamOf(body).pipeThrough(new TextDecoderStream());
        },
      };
      Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(members));
    },
  };
  return tools;
}

/** Bodies received from a server: their streams are byte streams. */
export const FROM_NETWORK = new WeakSet<Body>();
