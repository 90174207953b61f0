import { DEFAULT_LIMITS } from "../../../sandbox/index.ts";
import { exhausts, fails, timesOut, type HostileCase } from "./case.ts";

const INVALID_LENGTH =
  /Invalid (string|typed array|array) length|Array buffer allocation failed|RAM exceeded/;

/** For sources that reach the default limit quickly, on V8's heap and outside it. */
const DEFAULT_MEMORY = { limits: { memoryLimitMb: DEFAULT_LIMITS.memoryLimitMb } };

/** Sources that take memory: on V8's heap, outside it, and in native code that aborts the process. */
export const memory: readonly HostileCase[] = [
  exhausts("arrays", "const a = []; for (;;) a.push(new Array(1000).fill(1))", DEFAULT_MEMORY),
  exhausts("objects", "const a = []; for (;;) a.push({ a: 1, b: 2 })"),
  exhausts("distinct strings", "const a = []; for (let i = 0; ; i++) a.push('key' + i + 'x'.repeat(100))"),
  exhausts(
    "contexts of node:vm",
    "const vm = await import('node:vm'); const a = []; for (let i = 0; i < 1e3; i++) try { a.push(vm.createContext({})); vm.runInContext('x = new Array(1e5).fill(1)', a.at(-1)) } catch {} for (;;) a.push([1])",
  ),
  exhausts(
    "arrays in a context of node:vm",
    "(await import('node:vm')).runInNewContext('const a = []; for (;;) a.push(new Array(1000).fill(1))')",
  ),
  exhausts("property names", "const o = {}; for (let i = 0; ; i++) o['k' + i] = i"),
  exhausts("symbols", "const a = []; for (;;) a.push(Symbol('x'))"),
  exhausts("registered symbols", "for (let i = 0; ; i++) Symbol.for('x' + i)", {
    limits: { timeoutMs: 1_000 },
  }),
  exhausts("map entries", "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})", {
    error: /RAM exceeded|runtime exceeded|Map maximum size exceeded/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts("set entries", "const s = new Set(); for (let i = 0; ; i++) s.add(i + 0.5)", {
    error: /RAM exceeded|runtime exceeded|Set maximum size exceeded/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts(
    "weak map entries",
    "const m = new WeakMap(); const a = []; for (;;) { const k = {}; a.push(k); m.set(k, [k]) }",
    {
      error: /RAM exceeded|runtime exceeded|maximum size exceeded/,
      kinds: ["memory", "timeout", "thrown", "sandbox"],
    },
  ),
  exhausts("closures", "let f = () => 0; for (;;) { const g = f; f = () => g }"),
  exhausts("promises", "const a = []; for (;;) a.push(new Promise(() => {}))"),
  exhausts("pending microtasks", "for (;;) Promise.resolve().then(() => {})"),
  exhausts("pending timers", "for (;;) setTimeout(() => {}, 1e6)"),
  exhausts("pending intervals with arguments", "for (;;) setInterval(() => {}, 1e6, new Array(100).fill(1))"),
  exhausts("unhandled rejections", "for (;;) Promise.reject(new Error('x'))", {
    limits: { timeoutMs: 1_000 },
  }),
  exhausts(
    "errors with stacks",
    "const a = []; Error.stackTraceLimit = 1000; (function f(n) { if (n) return f(n - 1); for (;;) a.push(new Error('x')) })(500)",
  ),
  exhausts(
    "generators",
    "const a = []; function* g() { yield 1 } for (;;) { const i = g(); i.next(); a.push(i) }",
  ),
  exhausts("proxies", "let p = {}; for (;;) p = new Proxy(p, {})"),
  exhausts("functions from text", "const a = []; for (let i = 0; ; i++) a.push(new Function('return ' + i))"),
  exhausts("classes", "const a = []; for (;;) a.push(class { a = 1; #b = 2; static c = [] })"),
  exhausts(
    "regular expressions",
    "const a = []; for (let i = 0; ; i++) { const r = new RegExp('a{' + (i % 999) + '}' + i); r.test('b'); a.push(r) }",
  ),
  exhausts("weak references", "const a = []; for (;;) a.push(new WeakRef([1]))"),
  exhausts(
    "finalizers",
    "const r = new FinalizationRegistry(() => {}); const a = []; for (;;) { const o = [1]; a.push(o); r.register(o, o) }",
    {
      error: /RAM exceeded|runtime exceeded|same|target and holdings/,
      kinds: ["memory", "timeout", "thrown", "sandbox"],
    },
  ),
  exhausts("array buffers", "const a = []; for (;;) a.push(new ArrayBuffer(1e6))", {
    error: /RAM exceeded|runtime exceeded|allocation failed/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts("filled array buffers", "const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1))", {
    ...DEFAULT_MEMORY,
    error: /RAM exceeded|runtime exceeded|allocation failed/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts("small array buffers", "const a = []; for (;;) a.push(new Uint8Array(65))", {
    error: /RAM exceeded|runtime exceeded|allocation failed/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts(
    "resizable array buffers",
    "const a = []; for (;;) { const b = new ArrayBuffer(8, { maxByteLength: 2 ** 30 }); b.resize(2 ** 28); new Uint8Array(b).fill(1); a.push(b) }",
    {
      error: /RAM exceeded|runtime exceeded|allocation failed|Out of/i,
      kinds: ["memory", "timeout", "thrown", "sandbox"],
    },
  ),
  exhausts(
    "growable shared buffers",
    "const a = []; for (;;) { const b = new SharedArrayBuffer(8, { maxByteLength: 2 ** 30 }); b.grow(2 ** 28); new Uint8Array(b).fill(1); a.push(b) }",
    {
      error: /RAM exceeded|runtime exceeded|allocation failed|Out of|Invalid/i,
      kinds: ["memory", "timeout", "thrown", "sandbox"],
    },
  ),
  exhausts(
    "reserved address space",
    "const a = []; for (;;) a.push(new ArrayBuffer(8, { maxByteLength: 2 ** 32 }))",
    {
      error: /RAM exceeded|runtime exceeded|allocation failed|Out of|Invalid/i,
      kinds: ["memory", "timeout", "thrown"],
    },
  ),
  exhausts(
    "WebAssembly memory",
    "const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 16384 }); new Uint8Array(m.buffer).fill(1); a.push(m) }",
    {
      error: /RAM exceeded|runtime exceeded|could not allocate memory/i,
      kinds: ["memory", "timeout", "thrown", "sandbox"],
    },
  ),
  exhausts(
    "growing WebAssembly memory",
    "const m = new WebAssembly.Memory({ initial: 1 }); for (;;) { m.grow(1024); new Uint8Array(m.buffer).fill(1) }",
    { error: /RAM exceeded|runtime exceeded|grow/i, kinds: ["memory", "timeout", "thrown", "sandbox"] },
  ),
  exhausts(
    "WebAssembly tables",
    "const a = []; for (;;) a.push(new WebAssembly.Table({ initial: 1e6, element: 'anyfunc' }))",
    {
      error: /RAM exceeded|runtime exceeded|could not|allocat/i,
      kinds: ["memory", "timeout", "thrown", "sandbox"],
    },
  ),
  exhausts(
    "WebAssembly modules",
    "const a = []; const b = new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11]); for (;;) a.push(new WebAssembly.Module(b))",
    { limits: { timeoutMs: 1_000 }, error: /RAM exceeded|runtime exceeded/ },
  ),
  exhausts(
    "locale objects",
    "const a = []; for (;;) a.push(new Intl.NumberFormat('de'), new Intl.Collator('sv'))",
    { limits: { timeoutMs: 1_000 } },
  ),
  exhausts(
    "dates with time zones",
    "const a = []; for (;;) a.push(Temporal.Now.zonedDateTimeISO('Asia/Tokyo'))",
    {
      limits: { timeoutMs: 1_000 },
      error: /RAM exceeded|runtime exceeded|Temporal is not defined/,
      kinds: ["memory", "timeout", "thrown", "sandbox"],
    },
  ),
  exhausts("splitting a text of 256 MB", "'x'.repeat(2 ** 28).split('')"),
  exhausts(
    "flattening ropes",
    "const a = []; for (let i = 0; ; i++) { let s = 'a' + i; for (let j = 0; j < 20; j++) s += s; s.charCodeAt(5); /b/.test(s); a.push(s) }",
  ),
  exhausts(
    "long texts",
    "const a = []; for (;;) { const s = 'é'.repeat(2 ** 24) + a.length; /x/.test(s); a.push(s) }",
  ),
  exhausts("matching everything", "'ab'.repeat(2 ** 26).match(/./g)"),
  exhausts("all of a text's characters", "[...'x'.repeat(2 ** 27)]"),
  exhausts("array from a length", "Array.from({ length: 2 ** 32 - 1 }, () => ({}))", {
    error: /RAM exceeded|runtime exceeded|Invalid array length/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts("concatenated arrays", "let a = [1]; for (;;) a = a.concat(a)", {
    error: /RAM exceeded|runtime exceeded|Invalid array length/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts("flat arrays", "let a = [[1]]; for (let i = 0; i < 60; i++) a = [a, a]; a.flat(Infinity)"),
  exhausts("a huge JSON text", "const a = new Array(1e6).fill('x'.repeat(500)); JSON.stringify(a)", {
    error: /RAM exceeded|runtime exceeded|Invalid string length/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts("big integers", "const a = []; for (;;) a.push(1n << 80_000_000n)", {
    error: /RAM exceeded|runtime exceeded|Maximum BigInt/,
    kinds: ["memory", "timeout", "thrown", "sandbox"],
  }),
  exhausts("memory after a result's promise", "const a = []; await null; for (;;) a.push([1, 2, 3])"),
  exhausts(
    "memory in a timer",
    "setTimeout(() => { const a = []; for (;;) a.push([1, 2, 3]) }); await new Promise(() => {})",
  ),
  fails("a text of 2 GB", "'x'.repeat(2 ** 31)", /Invalid (string length|count value)/),
  fails("a text of 1 GB by padding", "'x'.padEnd(2 ** 30)", INVALID_LENGTH),
  fails(
    "a buffer of 8 GB",
    "new ArrayBuffer(2 ** 33)",
    /Array buffer allocation failed|Invalid array buffer length|RAM exceeded/,
    { kinds: ["thrown", "memory"] },
  ),
  fails("a typed array of 2^53", "new Float64Array(2 ** 53)", INVALID_LENGTH),
  fails("doubling a text", "let s = 'x'; for (;;) s += s", "Invalid string length"),
  timesOut(
    "an empty array of four thousand million and a loop",
    "const a = new Array(2 ** 32 - 1); for (;;) {}",
  ),
];
