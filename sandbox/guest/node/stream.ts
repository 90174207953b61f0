import type { Internals } from "../internals.ts";

type Emitter = {
  on(name: string, listener: unknown): unknown;
  once(name: string, listener: unknown): unknown;
  emit(name: string, ...args: unknown[]): boolean;
};
type Done = (error?: unknown, chunk?: unknown) => void;
interface Options {
  objectMode?: boolean;
  read?: (this: unknown) => void;
  write?: (this: unknown, chunk: unknown, encoding: string, done: Done) => void;
  final?: (this: unknown, done: Done) => void;
  transform?: (this: unknown, chunk: unknown, encoding: string, done: Done) => void;
  flush?: (this: unknown, done: Done) => void;
}

/** Creates `node:stream`: readable, writable and transform streams in memory, without backpressure. */
export function createStream(
  _internals: Internals,
  EventEmitter: new () => Emitter,
): Readonly<Record<string, unknown>> {
  class Stream extends EventEmitter {
    destroyed = false;
    destroy(error?: unknown): this {
      if (this.destroyed) return this;
      this.destroyed = true;
      void Promise.resolve().then(() => {
        if (error !== undefined) this.emit("error", error);
        this.emit("close");
      });
      return this;
    }
    pipe<T extends Writable>(target: T): T {
      this.on("data", (chunk: unknown) => target.write(chunk));
      this.on("end", () => target.end());
      return target;
    }
  }

  class Readable extends Stream {
    readonly #chunks: unknown[] = [];
    #ended = false;
    #flowing = false;
    #waiting: (() => void) | undefined;
    #encoding: string | undefined;
    constructor(options: Options = {}) {
      super();
      if (options.read !== undefined) this._read = options.read;
    }
    static from(items: Iterable<unknown> | AsyncIterable<unknown>): Readable {
      const stream = new Readable();
      const isWhole = typeof items === "string" || items instanceof Uint8Array;
      void (async () => {
        try {
          for await (const item of isWhole ? [items] : items) stream.push(item);
          stream.push(null);
        } catch (error) {
          stream.destroy(error);
        }
      })();
      return stream;
    }
    _read(): void {}
    setEncoding(encoding: string): this {
      this.#encoding = encoding;
      return this;
    }
    push(chunk: unknown): boolean {
      if (chunk === null) this.#ended = true;
      else
        this.#chunks.push(
          this.#encoding !== undefined && typeof chunk !== "string"
            ? (chunk as { toString(encoding: string): string }).toString(this.#encoding)
            : chunk,
        );
      this.#waiting?.();
      if (this.#flowing) this.#drain();
      else this.emit("readable");
      return true;
    }
    read(): unknown {
      const chunk = this.#chunks.shift() ?? null;
      if (chunk === null && !this.#ended) this._read();
      return chunk;
    }
    override on(name: string, listener: unknown): unknown {
      super.on(name, listener);
      if (name === "data" && !this.#flowing) {
        this.#flowing = true;
        void Promise.resolve().then(() => {
          this._read();
          this.#drain();
        });
      }
      return this;
    }
    resume(): this {
      this.on("data", () => {});
      return this;
    }
    pause(): this {
      return this;
    }
    #drain(): void {
      while (this.#chunks.length > 0) {
        this.emit("data", this.#chunks.shift());
        if (!this.#ended) this._read();
      }
      if (this.#ended && !this.destroyed) {
        this.#flowing = false;
        this.emit("end");
        this.destroy();
      }
    }
    async *[Symbol.asyncIterator](): AsyncGenerator {
      let failed: { error: unknown } | undefined;
      super.on("error", (error: unknown) => {
        failed = { error };
        this.#waiting?.();
      });
      for (;;) {
        if (failed !== undefined) throw failed.error;
        if (this.#chunks.length > 0) yield this.#chunks.shift();
        else if (this.#ended) return;
        else {
          await new Promise<void>((resolve) => {
            this.#waiting = resolve;
            this._read();
            if (this.#chunks.length > 0 || this.#ended) resolve();
          });
        }
      }
    }
  }

  class Writable extends Stream {
    #tail: Promise<unknown> = Promise.resolve();
    #ended = false;
    constructor(options: Options = {}) {
      super();
      if (options.write !== undefined) this._write = options.write;
      if (options.final !== undefined) this._final = options.final;
    }
    _write(_chunk: unknown, _encoding: string, done: Done): void {
      done();
    }
    _final(done: Done): void {
      done();
    }
    #queue(work: (done: Done) => void): Promise<unknown> {
      this.#tail = this.#tail.then(
        () =>
          new Promise((resolve) =>
            work((error) => {
              if (error !== undefined && error !== null) this.destroy(error);
              resolve(undefined);
            }),
          ),
      );
      return this.#tail;
    }
    write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
      const done = (typeof encoding === "function" ? encoding : callback) as Done | undefined;
      void this.#queue((next) =>
        this._write(chunk, typeof encoding === "string" ? encoding : "utf8", (error) => {
          done?.(error);
          next(error);
        }),
      );
      return true;
    }
    end(chunk?: unknown): this {
      if (this.#ended) return this;
      if (chunk !== undefined && chunk !== null) this.write(chunk);
      this.#ended = true;
      void this.#queue((next) => this._final(next)).then(() => {
        if (!this.destroyed) this.emit("finish");
      });
      return this;
    }
  }

  class Duplex extends Readable {
    readonly #writable: Writable;
    constructor(options: Options = {}) {
      super(options);
      this.#writable = new Writable({
        write: (chunk, encoding, done) => this._write(chunk, encoding, done),
        final: (done) => this._final(done),
      });
      if (options.write !== undefined) this._write = options.write;
      if (options.final !== undefined) this._final = options.final;
      this.#writable.on("finish", () => this.emit("finish"));
      this.#writable.on("error", (error: unknown) => this.destroy(error));
    }
    _write(_chunk: unknown, _encoding: string, done: Done): void {
      done();
    }
    _final(done: Done): void {
      done();
    }
    write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
      return this.#writable.write(chunk, encoding, callback);
    }
    end(chunk?: unknown): this {
      this.#writable.end(chunk);
      return this;
    }
  }
  class Transform extends Duplex {
    constructor(options: Options = {}) {
      super(options);
      if (options.transform !== undefined) this._transform = options.transform;
      if (options.flush !== undefined) this._flush = options.flush;
    }
    _transform(chunk: unknown, _encoding: string, done: Done): void {
      done(null, chunk);
    }
    _flush(done: Done): void {
      done();
    }
    override _write(chunk: unknown, encoding: string, done: Done): void {
      this._transform(chunk, encoding, (error, made) => {
        if (made !== undefined && made !== null) this.push(made);
        done(error);
      });
    }
    override _final(done: Done): void {
      this._flush((error, made) => {
        if (made !== undefined && made !== null) this.push(made);
        this.push(null);
        done(error);
      });
    }
  }
  class PassThrough extends Transform {}

  const finished = (stream: Emitter, callback?: Done): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        callback?.();
        resolve();
      };
      stream.once("finish", end);
      stream.once("end", end);
      stream.once("error", (error: unknown) => (callback === undefined ? reject(error) : callback(error)));
    });
  const pipeline = (...streams: unknown[]): Promise<void> => {
    const callback = typeof streams.at(-1) === "function" ? (streams.pop() as Done) : undefined;
    const list = streams as (Readable & Writable)[];
    for (let at = 0; at + 1 < list.length; at++) (list[at] as Readable).pipe(list[at + 1] as Writable);
    return finished(list.at(-1) as Emitter, callback);
  };
  const promises = { finished: (stream: Emitter) => finished(stream), pipeline };
  const names = { Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, promises };
  return { ...names, default: Object.assign(Stream, names) };
}
