/** What Node's streams have since the library's version: pairs of duplex streams, and web streams that stand for writable ones. */

import { checkObject, invalidArgument, wrongType } from "../buffer/errors.ts";

type Done = (error?: unknown) => void;
interface NodeWritable {
  write(chunk: unknown, done: Done): boolean;
  end(done: Done): void;
  destroy(error?: unknown): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}
interface NodeDuplex {
  push(chunk: unknown): boolean;
  on(event: string, listener: () => void): unknown;
}
export type DuplexClass = new (options?: object) => NodeDuplex;
interface WebWriter {
  readonly ready: Promise<unknown>;
  write(chunk: unknown): Promise<unknown>;
  close(): Promise<unknown>;
  abort(reason: unknown): Promise<unknown>;
}
export type WebWritable = new (sink: object) => { getWriter(): WebWriter };
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
  readonly finished?: unknown;
  readonly destroy?: unknown;
  readonly isReadable?: unknown;
  readonly isWritable?: unknown;
}

/** Creates `Readable.toWeb` and `Readable.fromWeb`. */
export function webReadables(
  library: Library,
  web: Readonly<Record<string, unknown>>,
  Buffer: { isEncoding(value: unknown): boolean },
  AbortError: new (options: ErrorOptions) => Error,
): {
  toWeb(stream: NodeReadable, options?: object): object;
  fromWeb(web: { getReader(): WebReader }, options?: object): object;
} {
  const { ReadableStream } = web;
  const destroy = library.destroy as (stream: object, error: unknown) => void;
  const finished = library.finished as (stream: object, done: Done) => () => void;
  const make = (Type: unknown, ...options: unknown[]): object =>
    new (Type as new (...options: unknown[]) => object)(...options);
  /** The error of a web stream for one of Node's. */
  const toWebError = (error: unknown): unknown =>
    (error as { code?: unknown } | null)?.code === "ERR_STREAM_PREMATURE_CLOSE"
      ? new AbortError({ cause: error })
      : error;
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
        if (error) return controller.error(toWebError(error));
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
      checkObject(options, "options");
      const { highWaterMark, encoding, objectMode = false, signal } = options as Record<string, unknown>;
      if (encoding !== undefined && !Buffer.isEncoding(encoding))
        throw invalidArgument(String(encoding), "options.encoding");
      if (typeof objectMode !== "boolean") throw wrongType("options.objectMode", "boolean", objectMode);
      const reader = source.getReader();
      let isClosed = false;
      const readable = make(library.Readable, {
        objectMode,
        highWaterMark,
        encoding,
        signal,
        read(this: NodeReadable) {
          reader.read().then(
            ({ done, value }) => void this.push(done ? null : value),
            (error: unknown) => destroy(this, error),
          );
        },
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
    other: DuplexSide | undefined;
    #waiting: Done | undefined;
    _read(): void {
      const done = this.#waiting;
      this.#waiting = undefined;
      done?.();
    }
    _write(chunk: { readonly length: number }, _encoding: string, done: Done): void {
      const { other } = this;
      if (chunk.length === 0 || other === undefined) nextTick(done);
      else {
        other.push(chunk);
        other.#waiting = done;
      }
    }
    _final(done: Done): void {
      this.other?.on("end", done);
      this.other?.push(null);
    }
  }
  const [first, second] = [new DuplexSide(options), new DuplexSide(options)];
  for (const [side, other] of [
    [first, second],
    [second, first],
  ] as const)
    Object.defineProperty(side, "other", { value: other });
  return [first, second];
}

/** Creates `Writable.toWeb` and `Writable.fromWeb`. */
export function webWritables(
  library: Library,
  WritableStream: WebWritable,
): {
  toWeb(stream: NodeWritable): object;
  fromWeb(web: { getWriter(): WebWriter }, options?: object): object;
} {
  const settle =
    (resolve: () => void, reject: (reason: unknown) => void): Done =>
    (error) =>
      error ? reject(error) : resolve();
  return {
    toWeb(stream: NodeWritable): object {
      if (!(library.isWritable as (stream: object) => boolean)(stream)) {
        const closed = new WritableStream({}) as unknown as { close(): Promise<unknown> };
        void closed.close();
        return closed;
      }
      return new WritableStream({
        start(controller: { error(reason: unknown): void }) {
          stream.on("error", (error) => controller.error(error));
        },
        write: (chunk: unknown) =>
          new Promise<void>((resolve, reject) => stream.write(chunk, settle(resolve, reject))),
        close: () => new Promise<void>((resolve, reject) => stream.end(settle(resolve, reject))),
        abort: (reason: unknown) => stream.destroy(reason),
      });
    },
    fromWeb(web: { getWriter(): WebWriter }, options: object = {}): object {
      const writer = web.getWriter();
      const Writable = library.Writable as new (options: object) => object;
      return new Writable({
        ...options,
        write(chunk: unknown, _encoding: string, done: Done) {
          writer.ready.then(() => writer.write(chunk)).then(() => done(), done);
        },
        final(done: Done) {
          writer.close().then(() => done(), done);
        },
        destroy(error: unknown, done: Done) {
          if (error) void writer.abort(error).catch(() => {});
          done(error);
        },
      });
    },
  };
}
