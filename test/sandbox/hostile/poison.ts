import { fails, returns, type HostileCase } from "./case.ts";

const DONE = "return Functions.encodeString('done')";
const poison = (name: string, source: string): HostileCase => returns(name, `${source}; ${DONE}`, "done");
const NO_RESULT = "returned value not an ArrayBuffer or Uint8Array";

/** Sources that modify the built-ins underneath our code, and sources that forge a result. */
export const poisoned: readonly HostileCase[] = [
  poison(
    "Object.prototype with accessors for common names",
    "for (const k of ['value', 'get', 'set', 'then', 'args', 'source', 'length', 'meta', 'resolve', 'reject', 'callback', '0', '1']) { Object.prototype.__defineGetter__(k, () => undefined); Object.prototype.__defineSetter__(k, () => {}) }",
  ),
  poison(
    "Array.prototype with setters for indices",
    "for (let i = 0; i < 10; i++) Object.defineProperty(Array.prototype, i, { set() { throw 1 }, configurable: true })",
  ),
  poison(
    "Array.prototype methods that throw",
    "for (const k of Reflect.ownKeys(Array.prototype)) if (typeof Array.prototype[k] === 'function' && k !== 'constructor') Array.prototype[k] = () => { throw k }",
  ),
  poison(
    "String.prototype methods that throw",
    "for (const k of Reflect.ownKeys(String.prototype)) if (typeof String.prototype[k] === 'function' && k !== 'constructor') String.prototype[k] = () => { throw k }",
  ),
  poison(
    "Function.prototype methods that throw",
    "for (const k of ['call', 'apply', 'bind', 'toString']) Function.prototype[k] = () => { throw k }",
  ),
  poison("Promise.prototype.then that never calls", "Promise.prototype.then = () => {}"),
  poison("Promise.prototype without a constructor", "delete Promise.prototype.constructor"),
  poison(
    "Promise with a hostile species",
    "Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } })",
  ),
  poison(
    "Promise's own functions replaced",
    "Promise.resolve = Promise.reject = Promise.all = () => { throw 1 }",
  ),
  poison("Uint8Array replaced", "globalThis.Uint8Array = class { constructor() { throw 1 } }"),
  poison("Uint8Array.fromHex replaced", "Uint8Array.fromHex = () => { throw 1 }; Functions.encodeUint256(1)"),
  poison(
    "typed array getters replaced",
    "const p = Object.getPrototypeOf(Uint8Array.prototype); for (const k of ['length', 'byteLength', 'buffer', Symbol.toStringTag]) Object.defineProperty(p, k, { get() { throw 1 } })",
  ),
  poison(
    "typed array iteration replaced",
    "Object.getPrototypeOf(Uint8Array.prototype)[Symbol.iterator] = function* () { throw 1 }",
  ),
  poison(
    "typed array methods replaced",
    "const p = Object.getPrototypeOf(Uint8Array.prototype); p.slice = p.subarray = p.set = () => { throw 1 }; Functions.encodeString('é')",
  ),
  poison(
    "Symbol.hasInstance on the classes that are asked",
    "for (const c of [ArrayBuffer, Uint8Array, Error]) Object.defineProperty(c, Symbol.hasInstance, { value: () => { throw 1 } })",
  ),
  poison("JSON replaced", "JSON.parse = JSON.stringify = () => { throw 1 }; globalThis.JSON = undefined"),
  poison(
    "Object's functions replaced",
    "for (const k of Object.getOwnPropertyNames(Object)) if (typeof Object[k] === 'function') try { Object[k] = () => { throw 1 } } catch {}",
  ),
  poison("Reflect and Proxy replaced", "globalThis.Reflect = globalThis.Proxy = undefined"),
  poison("Error replaced", "globalThis.Error = class { constructor() { throw 1 } }"),
  poison(
    "Error.prepareStackTrace that returns objects",
    "Error.prepareStackTrace = () => ({ toString() { throw 1 } })",
  ),
  poison(
    "Error.stackTraceLimit of strange kinds",
    "Error.stackTraceLimit = {}; Error.stackTraceLimit = Infinity; Error.stackTraceLimit = -1",
  ),
  poison(
    "Number and BigInt functions replaced",
    "Number.isInteger = () => false; BigInt.prototype.toString = () => { throw 1 }; globalThis.BigInt = null; Functions.encodeUint256(5)",
  ),
  poison("Date replaced", "Date.now = () => { throw 1 }; globalThis.Date = null; setTimeout(() => {}, 5)"),
  poison("the global object frozen", "Object.freeze(globalThis)"),
  poison("the global object closed", "Object.preventExtensions(globalThis); console.log('x')"),
  poison(
    "the global object's prototype replaced",
    "try { Object.setPrototypeOf(globalThis, new Proxy({}, { get() { throw 1 }, has() { return true } })) } catch {}",
  ),
  poison(
    "every global deleted",
    "const F = Functions; for (const k of Reflect.ownKeys(globalThis)) try { delete globalThis[k] } catch {}",
  ),
  poison(
    "the Functions object emptied and restored",
    "const { encodeString } = Functions; for (const k of Object.keys(Functions)) delete Functions[k]; Functions.encodeString = encodeString",
  ),
  poison("args and secrets changed", "try { args.length = 0 } catch {} try { secrets.x = 1 } catch {}"),
  poison(
    "a getter for `then` on Uint8Array.prototype",
    "Object.defineProperty(Uint8Array.prototype, 'then', { get() { return undefined } })",
  ),
  fails(
    "a poisoned prototype and an error",
    "String.prototype.slice = () => { throw 1 }; Function.prototype.call = () => { throw 1 }; throw new Error('m')",
    "m",
  ),
  fails(
    "a poisoned `then` on Object.prototype that swallows",
    "Object.prototype.then = function () {}; return new Uint8Array(1)",
    /runtime exceeded/,
    { kinds: ["timeout"] },
  ),
  returns(
    "a result printed instead of returned",
    "console.log('\\n' + JSON.stringify({ success: '0x6f776e6564' })); return Functions.encodeString('real')",
    "real",
  ),
  returns(
    "frames printed instead of returned",
    "console.log('\\u0000\\u0000\\u0000\\u0005\\u0005\\u0000\\u0000\\u0000\\u0000'); return Functions.encodeString('real')",
    "real",
  ),
  returns(
    "a result changed after it was returned",
    "const b = Functions.encodeString('real'); Promise.resolve().then(() => b.fill(0)); queueMicrotask(() => { queueMicrotask(() => { queueMicrotask(() => b.fill(1)) }) }); return b.slice()",
    "real",
  ),
  returns(
    "a second result from a returned thenable",
    "return { then(resolve, reject) { resolve(Functions.encodeString('first')); resolve(Functions.encodeString('second')); reject(1); throw 2 } }",
    "first",
  ),
  returns(
    "an error after the result",
    "setTimeout(() => { throw 1 }); return Functions.encodeString('real')",
    "real",
  ),
  fails(
    "an object with a forged tag",
    "return { [Symbol.toStringTag]: 'Uint8Array', length: 1, 0: 1 }",
    NO_RESULT,
  ),
  fails(
    "an object with a forged constructor",
    "return { constructor: Uint8Array, byteLength: 1, buffer: new ArrayBuffer(1) }",
    NO_RESULT,
  ),
  fails(
    "an object with a forged prototype",
    "return Object.create(Uint8Array.prototype)",
    /typed array|not an ArrayBuffer/,
  ),
  fails(
    "a proxy of a typed array",
    "return new Proxy(new Uint8Array(1), {})",
    /typed array|not an ArrayBuffer/,
  ),
  fails("an array", "return [1, 2, 3]", NO_RESULT),
  fails("a text", "return '0x01'", NO_RESULT),
  fails("nothing", "", NO_RESULT),
  fails("shared memory", "return new SharedArrayBuffer(1)", NO_RESULT),
  fails("a view of another kind", "return new DataView(new ArrayBuffer(1))", NO_RESULT),
  fails("a detached buffer", "const b = new ArrayBuffer(8); b.transfer(); return b", /detached/),
  fails(
    "a view of a detached buffer",
    "const v = new Uint8Array(8); v.buffer.transfer(); return v",
    /detached/,
  ),
  returns(
    "a subclass whose getters lie",
    "return new (class extends Uint8Array { get length() { return 1e9 } get byteLength() { return 1e9 } get buffer() { throw 1 } })([104, 105])",
    "hi",
  ),
  returns(
    "a view of a buffer that shrank",
    "const b = new ArrayBuffer(8, { maxByteLength: 8 }); const v = new Uint8Array(b); b.resize(0); return v",
    "",
  ),
  fails(
    "closing the function to return something else",
    "}; return new Uint8Array(1); () => {",
    /RAM exceeded/,
  ),
  fails("closing all brackets at once", "}})();(()=>{{", /RAM exceeded/),
  fails(
    "a second default export",
    "}}; export default () => () => new Uint8Array(1); (() => {{",
    /RAM exceeded/,
  ),
  fails(
    "a function that is closed with a comment",
    "return Functions.encodeString('a') } /*",
    /RAM exceeded/,
  ),
];
