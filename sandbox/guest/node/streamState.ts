/**
 * The states of streams, as printing shows them: Node 24 keeps their flags as bits of one number, and what a stream rarely has under symbols,
 * where readable-stream has a property for each.
 */

type State = Record<PropertyKey, unknown>;
interface Layout {
  /** Flags and their bits. */
  readonly flags: Readonly<Record<string, number>>;
  /** Values that are null unless they are set, and the bit that says so. */
  readonly values: Readonly<Record<string, number>>;
  /** A flag that may also be unset, and the bit that says so; the next bit is the flag's. */
  readonly choice: readonly [name: string, bit: number, unset: null | undefined];
  /** The bit of the default encoding UTF-8. */
  readonly utf8: number;
}

/** The library's flags of what is read are bits already, which `sandbox/build/buildChild.ts` numbers as Node 24 does. */
const READABLE: Layout = {
  flags: {},
  values: { errored: 1 << 7, decoder: 1 << 21, encoding: 1 << 22 },
  choice: ["flowing", 1 << 23, null],
  utf8: 1 << 20,
};
const WRITABLE: Layout = {
  flags: {
    objectMode: 1,
    errorEmitted: 1 << 1,
    emitClose: 1 << 2,
    autoDestroy: 1 << 3,
    destroyed: 1 << 4,
    closed: 1 << 5,
    closeEmitted: 1 << 6,
    constructed: 1 << 8,
    sync: 1 << 9,
    finalCalled: 1 << 10,
    needDrain: 1 << 11,
    ending: 1 << 12,
    finished: 1 << 13,
    decodeStrings: 1 << 14,
    writing: 1 << 15,
    bufferProcessing: 1 << 16,
    prefinished: 1 << 17,
    allBuffers: 1 << 18,
    allNoop: 1 << 19,
    afterWritePending: 1 << 28,
    ended: 1 << 30,
  },
  values: { errored: 1 << 7, afterWriteTickInfo: 1 << 27 },
  choice: ["writable", 1 << 21, undefined],
  utf8: 1 << 24,
};
/** Bits of a writable stream's state: it has a callback, it waits for one, it has pieces to write. */
const [HAS_CALLBACK, WAITS, IS_BUFFERED] = [1 << 25, 1 << 26, 1 << 29];
const [IS_PAUSED_SET, IS_PAUSED] = [1 << 25, 1 << 26];
const PAUSED = Symbol.for("nodejs.stream.paused");

const STATE = Symbol("kState");
const bitsOf = (state: State): number => (state[STATE] as number | undefined) ?? 0;
function put(state: State, bits: number, isOn: unknown): void {
  state[STATE] = isOn ? bitsOf(state) | bits : bitsOf(state) & ~bits;
}

type Define = (
  name: PropertyKey,
  get: (state: State) => unknown,
  set: (state: State, value: never) => void,
) => void;

/** Lets the library's class of states keep them so; `checkEncoding` returns a default encoding, or throws. */
function packStates(
  Class: unknown,
  { flags, values, choice, utf8 }: Layout,
  checkEncoding: (encoding: unknown) => unknown,
): Define {
  const { prototype } = Class as { readonly prototype: object };
  const define: Define = (name, get, set) =>
    void Object.defineProperty(prototype, name, {
      get(this: State) {
        return get(this);
      },
      set(this: State, value: never) {
        set(this, value);
      },
    });
  for (const [name, bit] of Object.entries(flags))
    define(
      name,
      (state) => (bitsOf(state) & bit) !== 0,
      (state, value) => put(state, bit, value),
    );
  for (const [name, bit] of Object.entries(values)) {
    const key = Symbol(`k${name[0]!.toUpperCase()}${name.slice(1)}Value`);
    define(
      name,
      (state) => (bitsOf(state) & bit ? state[key] : null),
      (state, value) => {
        if (value || Object.hasOwn(state, key)) state[key] = value;
        put(state, bit, value);
      },
    );
  }
  const [name, bit, unset] = choice;
  define(
    name,
    (state) => (bitsOf(state) & bit ? (bitsOf(state) & (bit << 1)) !== 0 : unset),
    (state, value) => {
      put(state, bit, value !== unset);
      put(state, bit << 1, value);
    },
  );
  const encoding = Symbol("kDefaultEncodingValue");
  define(
    "defaultEncoding",
    (state) => (bitsOf(state) & utf8 ? "utf8" : state[encoding]),
    (state, value) => {
      const given = checkEncoding(value);
      if (given !== "utf8" || Object.hasOwn(state, encoding)) state[encoding] = given;
      put(state, utf8, given === "utf8");
    },
  );
  return define;
}

/** Packs the states of both kinds of streams. */
export function packStreams(
  library: { readonly Readable: State; readonly Writable: State },
  checkEncoding: (encoding: unknown) => unknown,
): void {
  const read = packStates(library.Readable["ReadableState"], READABLE, checkEncoding);
  read("state", bitsOf, (state, value) => {
    state[STATE] = value;
  });
  read(
    PAUSED,
    (state) => (bitsOf(state) & IS_PAUSED_SET ? (bitsOf(state) & IS_PAUSED) !== 0 : null),
    (state, value) => {
      put(state, IS_PAUSED_SET, value !== null);
      put(state, IS_PAUSED, value);
    },
  );
  const write = packStates(library.Writable["WritableState"], WRITABLE, checkEncoding);
  // Of a write without a callback, which has the library's own, nothing is kept that printing shows.
  const CALLBACK = Symbol("kWriteCbValue");
  let none: unknown;
  write(
    "writecb",
    (state) => {
      const bits = bitsOf(state);
      return bits & HAS_CALLBACK ? state[CALLBACK] : bits & WAITS ? none : null;
    },
    (state, value) => {
      none ??= value;
      const isSeen = value !== null && value !== none;
      if (isSeen || Object.hasOwn(state, CALLBACK)) state[CALLBACK] = isSeen ? value : null;
      put(state, HAS_CALLBACK, isSeen);
      put(state, WAITS, value);
    },
  );
  const BUFFERED = Symbol("kBufferedValue");
  write(
    "buffered",
    (state) => state[BUFFERED] ?? [],
    (state, value) => {
      state[BUFFERED] = value;
      put(state, IS_BUFFERED, value);
    },
  );
  // The first write shows the library's own callback.
  new (library.Writable as unknown as new (options: object) => { write(text: string): void })({
    write() {},
  }).write("");
}
