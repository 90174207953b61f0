/**
 * The complete list of names that a pure source may use. Nothing here writes to anything that outlives a run, keeps state between
 * two calls, reads the clock or uses randomness; and no expression built from it evaluates to a shared object, such as a
 * prototype or a built-in function.
 */

/** Values that are created for each run, and constants. */
export const VALUES: ReadonlySet<string> = words("args bytesArgs undefined NaN Infinity");

/** Global functions that may be called, or passed to a method as its only argument: `args.map(BigInt)`. */
export const CONVERSIONS: ReadonlySet<string> = words("BigInt Number String Boolean parseInt parseFloat");

/** Conversions whose result is a number or a bigint. */
export const TO_NUMBER: ReadonlySet<string> = words("BigInt Number parseInt parseFloat");

const TYPED_ARRAYS =
  "Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array";

/** Classes that may be instantiated. */
export const CLASSES: ReadonlySet<string> = words(`Array Error RangeError TypeError ${TYPED_ARRAYS}`);

/** Static functions that may be called, by the name of their object. */
export const STATICS: Readonly<Record<string, ReadonlySet<string>>> = {
  __proto__: null as never,
  Functions: words("encodeUint256 encodeInt256 encodeString"),
  Math: words("abs ceil clz32 floor imul max min pow round sign sqrt trunc"),
  BigInt: words("asIntN asUintN"),
  Number: words("isFinite isInteger isNaN isSafeInteger"),
  String: words("fromCharCode fromCodePoint"),
  JSON: words("parse stringify"),
  Array: words("from isArray of"),
  Uint8Array: words("from of"),
  Uint32Array: words("from of"),
};

/** Statics limited to one argument here: with more, they run code in the middle of a value, or write into it. */
export const ONE_ARGUMENT: ReadonlySet<string> = words("parse stringify");

/** Properties that may be read. */
export const PROPERTIES: ReadonlySet<string> = words("length byteLength buffer");

/** Methods that may be called, on arrays, typed arrays, texts, numbers and bigints. */
export const METHODS: ReadonlySet<string> = words(
  [
    "at concat every fill filter find findIndex findLast findLastIndex flat flatMap forEach includes indexOf join lastIndexOf map pop",
    "push reduce reduceRight reverse shift slice some sort splice toReversed toSorted toSpliced unshift with",
    "set subarray",
    "charAt charCodeAt codePointAt endsWith padEnd padStart repeat split startsWith substring toLowerCase toUpperCase trim trimEnd trimStart",
    "toFixed toString",
  ].join(" "),
);

/** Methods whose result is a number, or `undefined`, whatever they are called on. */
export const NUMBER_METHODS: ReadonlySet<string> = words(
  "charCodeAt codePointAt findIndex findLastIndex indexOf lastIndexOf",
);

/** Index of the callback parameter to which a method passes an index. */
export const INDEX_PARAMETERS: Readonly<Record<string, number>> = {
  __proto__: null as never,
  every: 1,
  filter: 1,
  find: 1,
  findIndex: 1,
  flatMap: 1,
  forEach: 1,
  map: 1,
  some: 1,
  reduce: 2,
};

/** Statics whose result is a number, a bigint or a boolean. */
export const NUMBER_STATICS: ReadonlySet<string> = words("Math BigInt Number");

/** Operators that always produce a number or a bigint, or throw; `+` may produce a text. */
export const ARITHMETIC: ReadonlySet<string> = words("- * / % ** << >> >>> & | ^");
export const COMPARISONS: ReadonlySet<string> = words("== != === !== < <= > >=");
export const UNARY: ReadonlySet<string> = words("- + ! ~ void typeof");

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
