/** What Node's streams have since the library's version: pairs of duplex streams, and web streams that stand for writable ones. */

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
interface Library {
  readonly Writable: unknown;
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
    toWeb: (stream: NodeWritable): object =>
      new WritableStream({
        start(controller: { error(reason: unknown): void }) {
          stream.on("error", (error) => controller.error(error));
        },
        write: (chunk: unknown) =>
          new Promise<void>((resolve, reject) => stream.write(chunk, settle(resolve, reject))),
        close: () => new Promise<void>((resolve, reject) => stream.end(settle(resolve, reject))),
        abort: (reason: unknown) => stream.destroy(reason),
      }),
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
