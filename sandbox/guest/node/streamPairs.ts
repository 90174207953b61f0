/** What Node's streams have since the library's version: pairs of duplex streams, and web streams that stand for writable ones. */

import { checkObject, invalidArgument, wrongType } from "../buffer/errors.ts";
import { isAnyArrayBuffer } from "../types.ts";

type Done = (error?: unknown) => void;
interface NodeWritable {
  readonly writableHighWaterMark: number;
  readonly writableObjectMode: boolean;
  readonly writableNeedDrain: boolean;
  readonly writableEnded: boolean;
  write(chunk: unknown): boolean;
  end(): void;
  destroy(error?: unknown): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}
interface NodeDuplex {
  push(chunk: unknown): boolean;
  on(event: string, listener: () => void): unknown;
}
export type DuplexClass = new (options?: object) => NodeDuplex;
interface WebWriter {
  readonly closed: Promise<unknown>;
  readonly ready: Promise<unknown>;
  write(chunk: unknown): Promise<unknown>;
  close(): Promise<unknown>;
  abort(reason: unknown): Promise<unknown>;
}
type WebWritable = new (sink?: object, strategy?: object) => { getWriter(): WebWriter };
type NodeClass = new (options: object) => object;
interface BufferTools {
  from(text: string, encoding: string): Uint8Array;
  isEncoding(value: unknown): boolean;
}
interface NodeReadable {
  readonly readableObjectMode: boolean;
  readonly readableHighWaterMark: number;
  pause(): void;
  resume(): void;
  push(chunk: unknown): boolean;
  on(event: string, listener: (chunk: unknown) => void): unknown;
}
interface WebReader {
  readonly closed: Promise<unknown>;
  read(): Promise<{ readonly done: boolean; readonly value: unknown }>;
  cancel(reason: unknown): Promise<unknown>;
}
interface WebController {
  readonly desiredSize: number;
  readonly byobRequest: { respond(count: number): void } | null;
  enqueue(chunk: unknown): void;
  error(reason: unknown): void;
  close(): void;
}
interface Library {
  readonly Readable: unknown;
  readonly Writable: unknown;
  readonly Duplex: unknown;
  readonly finished?: unknown;
  readonly destroy?: unknown;
  readonly isReadable?: unknown;
  readonly isWritable?: unknown;
}

/** How Node names the parts of a pair's side. */
const CALLBACK = Symbol("Callback");
const INIT = Symbol("InitOtherSide");

/** The error of a web stream for one of Node's. */
const toWebError = (error: unknown, AbortError: new (options: ErrorOptions) => Error): unknown =>
  (error as { code?: unknown } | null)?.code === "ERR_STREAM_PREMATURE_CLOSE"
    ? new AbortError({ cause: error })
    : error;

/** Checks the options of a stream of Node's that is made of a web stream. */
function readOptions(options: object, Buffer: BufferTools) {
  checkObject(options, "options");
  const { objectMode = false, decodeStrings = true, ...others } = options as Record<string, unknown>;
  const { encoding } = others;
  if (encoding !== undefined && !Buffer.isEncoding(encoding))
    throw invalidArgument(String(encoding), "options.encoding");
  if (typeof objectMode !== "boolean") throw wrongType("options.objectMode", "boolean", objectMode);
  if (typeof decodeStrings !== "boolean") throw wrongType("options.decodeStrings", "boolean", decodeStrings);
  return { ...others, objectMode, decodeStrings } as Readonly<Record<string, unknown>> & {
    readonly objectMode: boolean;
    readonly decodeStrings: boolean;
  };
}

/** Reads one piece of a web stream into a stream of Node's. */
function readInto(
  reader: WebReader,
  stream: NodeReadable,
  destroy: (stream: object, error: unknown) => void,
): void {
  reader.read().then(
    ({ done, value }) => void stream.push(done ? null : value),
    (error: unknown) => destroy(stream, error),
  );
}

/** Creates `Readable.toWeb` and `Readable.fromWeb`. */
export function webReadables(
  library: Library,
  web: Readonly<Record<string, unknown>>,
  Buffer: BufferTools,
  AbortError: new (options?: ErrorOptions) => Error,
): {
  toWeb(stream: NodeReadable, options?: object): object;
  fromWeb(web: { getReader(): WebReader }, options?: object): object;
} {
  const { ReadableStream } = web;
  const destroy = library.destroy as (stream: object, error: unknown) => void;
  const finished = library.finished as (stream: object, done: Done) => () => void;
  const make = (Type: unknown, ...options: unknown[]): object =>
    new (Type as new (...options: unknown[]) => object)(...options);
  return {
    toWeb(stream, options: { type?: unknown; strategy?: unknown } = {}) {
      const { type } = options;
      if (type !== undefined && type !== "bytes")
        throw invalidArgument("options.type", type, "must be one of: 'bytes', undefined");
      if (!(library.isReadable as (stream: object) => boolean)(stream)) {
        const closed = make(ReadableStream) as { cancel(): Promise<unknown> };
        void closed.cancel();
        return closed;
      }
      const { readableObjectMode: isObject, readableHighWaterMark: highWaterMark } = stream;
      const isPlain = type === "bytes" || (!options.strategy && !isObject);
      const strategy = isPlain
        ? { highWaterMark }
        : options.strategy || make(web["CountQueuingStrategy"], { highWaterMark });
      let controller: WebController;
      let isCanceled = false;
      stream.pause();
      const stop = finished(stream, (error) => {
        stop();
        stream.on("error", () => {});
        if (error) return controller.error(toWebError(error, AbortError));
        if (isCanceled) return undefined;
        controller.close();
        if (type === "bytes") controller.byobRequest?.respond(0);
        return undefined;
      });
      stream.on("data", (chunk) => {
        controller.enqueue(chunk instanceof Uint8Array && !isObject ? new Uint8Array(chunk) : chunk);
        if (controller.desiredSize <= 0) stream.pause();
      });
      const source = {
        type,
        start(given: WebController) {
          controller = given;
        },
        pull: () => stream.resume(),
        cancel(reason: unknown) {
          isCanceled = true;
          destroy(stream, reason);
        },
      };
      return make(ReadableStream, source, strategy);
    },
    fromWeb(source, options: object = {}) {
      const { highWaterMark, encoding, objectMode, signal } = readOptions(options, Buffer);
      const reader = source.getReader();
      let isClosed = false;
      const readable = make(library.Readable, {
        objectMode,
        highWaterMark,
        encoding,
        signal,
        read: () => readInto(reader, readable as NodeReadable, destroy),
        destroy(error: unknown, done: Done) {
          const end = (): void => done(error);
          if (isClosed) end();
          else reader.cancel(error).then(end, end);
        },
      });
      const close = (): void => {
        isClosed = true;
      };
      reader.closed.then(close, (error: unknown) => {
        close();
        destroy(readable, error);
      });
      return readable;
    },
  };
}

/** Creates two duplex streams, each of which reads what is written to the other. */
export function duplexPair(
  Duplex: DuplexClass,
  nextTick: (work: () => void) => void,
  options?: object,
): [NodeDuplex, NodeDuplex] {
  class DuplexSide extends Duplex {
    #other: DuplexSide | undefined;
    [CALLBACK]: Done | null = null;
    [INIT](other: DuplexSide): void {
      this.#other = other;
    }
    _read(): void {
      const done = this[CALLBACK];
      this[CALLBACK] = null;
      done?.();
    }
    _write(chunk: { readonly length: number }, _encoding: string, done: Done): void {
      const other = this.#other;
      if (chunk.length === 0 || other === undefined) nextTick(done);
      else {
        other.push(chunk);
        other[CALLBACK] = done;
      }
    }
    _final(done: Done): void {
      this.#other?.on("end", done);
      this.#other?.push(null);
    }
  }
  const [first, second] = [new DuplexSide(options), new DuplexSide(options)];
  first[INIT](second);
  second[INIT](first);
  return [first, second];
}

/** Creates `Writable.toWeb`. */
export function writableToWeb(
  library: Library,
  web: Readonly<Record<string, unknown>>,
  AbortError: new (options?: ErrorOptions) => Error,
): (stream: NodeWritable) => object {
  const { WritableStream, CountQueuingStrategy } = web as {
    readonly WritableStream: WebWritable;
    readonly CountQueuingStrategy: new (options: object) => object;
  };
  const finished = library.finished as (stream: object, done: Done) => () => void;
  return (stream) => {
    if (!(library.isWritable as (stream: object) => boolean)(stream)) {
      const closed = new WritableStream() as unknown as { close(): Promise<unknown> };
      void closed.close();
      return closed;
    }
    const { writableHighWaterMark: highWaterMark, writableObjectMode: isObject } = stream;
    let controller: { error(reason: unknown): void } | undefined;
    let waiting: PromiseWithResolvers<void> | undefined;
    let closing: PromiseWithResolvers<void> | undefined;
    const stop = finished(stream, (given) => {
      const error = toWebError(given, AbortError);
      stop();
      stream.on("error", () => {});
      if (error) waiting?.reject(error);
      if (error) closing?.reject(error);
      else closing?.resolve();
      if (error || closing === undefined) controller?.error(error ?? new AbortError());
      controller = closing = undefined;
    });
    stream.on("drain", () => waiting?.resolve());
    return new WritableStream(
      {
        start(given: { error(reason: unknown): void }) {
          controller = given;
        },
        async write(chunk: unknown) {
          const piece = !isObject && isAnyArrayBuffer(chunk) ? new Uint8Array(chunk as ArrayBuffer) : chunk;
          if (!stream.writableNeedDrain && stream.write(piece)) return undefined;
          waiting = Promise.withResolvers();
          return waiting.promise.finally(() => {
            waiting = undefined;
          });
        },
        abort: (reason: unknown) => stream.destroy(reason),
        close() {
          if (closing !== undefined || stream.writableEnded) return undefined;
          closing = Promise.withResolvers();
          stream.end();
          return closing.promise;
        },
      },
      isObject ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark },
    );
  };
}

/** Creates `Writable.fromWeb` and `Duplex.fromWeb`. */
export function webWritables(library: Library, Buffer: BufferTools) {
  const destroy = library.destroy as (stream: object, error: unknown) => void;
  /** What a stream does that writes to a web stream. */
  const sinkOf = (writer: WebWriter, isBytes: boolean, isClosed: () => boolean) => ({
    writev(chunks: readonly { readonly chunk: unknown }[], done: Done) {
      writer.ready.then(
        () => Promise.all(chunks.map(({ chunk }) => writer.write(chunk))).then(() => done(), done),
        done,
      );
    },
    write(chunk: unknown, encoding: string, done: Done) {
      const isText = typeof chunk === "string" && isBytes;
      const piece = isText ? new Uint8Array(Buffer.from(chunk, encoding)) : chunk;
      writer.ready.then(() => writer.write(piece).then(() => done(), done), done);
    },
    final(done: Done) {
      if (!isClosed()) writer.close().then(() => done(), done);
    },
  });
  return {
    fromWeb(target: { getWriter(): WebWriter }, options: object = {}): object {
      const { decodeStrings, objectMode, ...others } = readOptions(options, Buffer);
      const writer = target.getWriter();
      let isClosed = false;
      const writable = new (library.Writable as NodeClass)({
        highWaterMark: others["highWaterMark"],
        objectMode,
        decodeStrings,
        signal: others["signal"],
        ...sinkOf(writer, decodeStrings && !objectMode, () => isClosed),
        destroy(error: unknown, done: Done) {
          const end = (): void => done(error);
          if (isClosed) end();
          else if (error !== null && error !== undefined) writer.abort(error).then(end, end);
          else writer.close().then(end, end);
        },
      });
      const close = (): void => {
        isClosed = true;
      };
      writer.closed.then(close, (error: unknown) => {
        close();
        destroy(writable, error);
      });
      return writable;
    },
    duplexFromWeb(
      { readable, writable }: { readable: { getReader(): WebReader }; writable: { getWriter(): WebWriter } },
      options: object = {},
    ): object {
      const { allowHalfOpen = false, ...given } = readOptions(options, Buffer);
      const { decodeStrings, objectMode } = given;
      const [writer, reader] = [writable.getWriter(), readable.getReader()];
      const closed = { reader: false, writer: false };
      const duplex = new (library.Duplex as NodeClass)({
        allowHalfOpen,
        ...given,
        ...sinkOf(writer, decodeStrings && !objectMode, () => closed.writer),
        read: () => readInto(reader, duplex as NodeReadable, destroy),
        destroy(error: unknown, done: Done) {
          const end = (): void => done(error);
          if (closed.writer && closed.reader) return end();
          const work = closed.writer ? [] : [writer.abort(error)];
          if (!closed.reader) work.push(reader.cancel(error));
          Promise.all(work).then(end, end);
        },
      });
      for (const [side, end] of [
        ["writer", writer],
        ["reader", reader],
      ] as const)
        end.closed.then(
          () => {
            closed[side] = true;
          },
          (error: unknown) => {
            closed.reader = closed.writer = true;
            destroy(duplex, error);
          },
        );
      return duplex;
    },
  };
}
