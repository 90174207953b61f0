/**
 * Recognizes built-in objects by their internal slots where JavaScript can check these, rather than by prototype or
 * tag, which a source may have changed. Every check returns a boolean; only a proxy's trap can make one throw.
 */

type Getter = (this: unknown) => unknown;

function getterOf(prototype: object, name: PropertyKey): Getter {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get as Getter;
}

/** Creates a check that is true if calling `probe` on the value doesn't throw. */
function accepts(probe: (value: unknown) => unknown): (value: unknown) => boolean {
  return (value) => {
    if (typeof value !== "object" || value === null) return false;
    try {
      probe(value);
      return true;
    } catch {
      return false;
    }
  };
}

const apply = Reflect.apply;
const probeOf =
  (method: (...args: never[]) => unknown, ...args: unknown[]) =>
  (value: unknown) =>
    apply(method as (...args: unknown[]) => unknown, value, args);

const TypedArray = Object.getPrototypeOf(Uint8Array) as { prototype: object };
const typedArrayTag = getterOf(TypedArray.prototype, Symbol.toStringTag);

const mapSize = getterOf(Map.prototype, "size");
const setSize = getterOf(Set.prototype, "size");
/** Returns the number of entries, whatever the prototype. */
export const sizeOf = (value: object): number => apply(isMap(value) ? mapSize : setSize, value, []) as number;
export const isMap = accepts(probeOf(mapSize));
export const isSet = accepts(probeOf(setSize));
export const isWeakMap = accepts(probeOf(WeakMap.prototype.has, {}));
export const isWeakSet = accepts(probeOf(WeakSet.prototype.has, {}));
export const isWeakRef = accepts(probeOf(WeakRef.prototype.deref));
const iterators = [[].values(), "".matchAll(/./g), new Map().keys(), new Set().keys()].map(
  (sample) => Object.getPrototypeOf(sample) as object,
);
/** Whether a value is an iterator of an array, map, set or match; by its prototype. */
export const isBuiltInIterator = (value: object): boolean =>
  iterators.includes(Object.getPrototypeOf(value) as object);
export const isDate = accepts(probeOf(Date.prototype.getTime));
export const isArrayBuffer = accepts(probeOf(getterOf(ArrayBuffer.prototype, "byteLength")));
export const isSharedArrayBuffer =
  typeof SharedArrayBuffer === "undefined"
    ? (): boolean => false
    : accepts(probeOf(getterOf(SharedArrayBuffer.prototype, "byteLength")));
const detachedOf = getterOf(ArrayBuffer.prototype, "detached");
/** Whether a buffer has been detached; false for shared memory, which can't be. */
export const isDetached = (buffer: unknown): boolean =>
  isArrayBuffer(buffer) && (apply(detachedOf, buffer, []) as boolean);
const probeArray = accepts(probeOf(Uint8Array.prototype.keys));
const probeView = accepts(probeOf(getterOf(DataView.prototype, "byteLength")));
/** Whether a view reaches beyond its buffer, which has become smaller or is detached. */
export const isOutOfBounds = (view: ArrayBufferView): boolean =>
  !(typedArrayName(view) === undefined ? probeView : probeArray)(view);
/** Whether a view has the length of its resizable buffer, whatever that becomes. */
export function tracksLength(view: ArrayBufferView): boolean {
  const buffer = view.buffer as ArrayBuffer;
  if (!isArrayBuffer(buffer) || !buffer.resizable || buffer.byteLength === buffer.maxByteLength) return false;
  const before = view.byteLength;
  const size = buffer.byteLength;
  buffer.resize(Math.min(buffer.maxByteLength, size + 8));
  const grows = view.byteLength !== before;
  buffer.resize(size);
  return grows;
}
export const isDataView = accepts(probeOf(getterOf(DataView.prototype, "buffer")));
export const isNumberObject = accepts(probeOf(Number.prototype.valueOf));
export const isStringObject = accepts(probeOf(String.prototype.valueOf));
export const isBooleanObject = accepts(probeOf(Boolean.prototype.valueOf));
export const isBigIntObject = accepts(probeOf(BigInt.prototype.valueOf));
export const isSymbolObject = accepts(probeOf(Symbol.prototype.valueOf));

const sourceOf = getterOf(RegExp.prototype, "source");
/** Returns a regular expression's text, whatever its prototype. */
export function regExpText(value: object): string {
  if (Object.getPrototypeOf(value) !== null) return RegExp.prototype.toString.call(value);
  return String(new RegExp(value as RegExp));
}
/** Excludes `RegExp.prototype`, which answers the getter without being a regular expression. */
export const isRegExp = (value: unknown): boolean =>
  value !== RegExp.prototype && accepts(probeOf(sourceOf))(value);

/** Returns the name of a typed array's type, e.g. `Uint8Array`; undefined for everything else. */
export function typedArrayName(value: unknown): string | undefined {
  return apply(typedArrayTag, value, []) as string | undefined;
}

export const isTypedArray = (value: unknown): boolean => typedArrayName(value) !== undefined;
export const isArrayBufferView = (value: unknown): boolean => ArrayBuffer.isView(value);
export const isAnyArrayBuffer = (value: unknown): boolean =>
  isArrayBuffer(value) || isSharedArrayBuffer(value);

const isErrorSlot = (Error as unknown as { isError?: (value: unknown) => boolean }).isError;
export const isNativeError = (value: unknown): boolean =>
  isErrorSlot ? isErrorSlot(value) : Object.prototype.toString.call(value) === "[object Error]";
/** Whether a value is an error, or inherits from one. */
export const isAnyError = (value: unknown): boolean => isNativeError(value) || value instanceof Error;

/** Checks the prototype chain: JavaScript can't check a promise's slot without calling `then`, which a source may observe. */
export const isPromise = (value: unknown): boolean => value instanceof Promise;

const tagOf = (value: unknown): string => {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return "";
  }
};
export const isMapIterator = (value: unknown): boolean => tagOf(value) === "[object Map Iterator]";
export const isSetIterator = (value: unknown): boolean => tagOf(value) === "[object Set Iterator]";
export const isArguments = (value: unknown): boolean =>
  tagOf(value) === "[object Arguments]" && !(Symbol.toStringTag in (value as object));
export const isModuleNamespace = (value: unknown): boolean =>
  tagOf(value) === "[object Module]" && Object.getPrototypeOf(value) === null;
export const isAsyncFunction = (value: unknown): boolean =>
  typeof value === "function" && /^\[object Async(?:Generator)?Function\]$/.test(tagOf(value));
export const isGeneratorFunction = (value: unknown): boolean =>
  typeof value === "function" && /^\[object (?:Async)?GeneratorFunction\]$/.test(tagOf(value));
export const isGeneratorObject = (value: unknown): boolean =>
  /^\[object (?:Async)?Generator\]$/.test(tagOf(value));
export const isBoxedPrimitive = (value: unknown): boolean =>
  isNumberObject(value) ||
  isStringObject(value) ||
  isBooleanObject(value) ||
  isBigIntObject(value) ||
  isSymbolObject(value);
