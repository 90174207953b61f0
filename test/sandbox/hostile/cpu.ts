import { exhausts, fails, returns, timesOut, type HostileCase } from "./case.ts";

/** Sources that burn processor time, in JavaScript and in native code that may not heed termination. */
export const cpu: readonly HostileCase[] = [
  timesOut("an endless loop", "while (true) {}"),
  timesOut("an endless loop after an await", "await null; for (;;) {}"),
  timesOut("an endless loop in a timer", "setTimeout(() => { for (;;) {} }, 1); await new Promise(() => {})"),
  timesOut("an endless loop in finally", "try { for (;;) {} } finally { for (;;) {} }"),
  timesOut("an endless loop that catches", "for (;;) { try { for (;;) {} } catch {} }"),
  timesOut(
    "an endless loop in a getter of the thrown error",
    "throw Object.defineProperty(new Error(), 'message', { get() { for (;;) {} } })",
  ),
  timesOut(
    "an endless loop in the message's toJSON",
    "const e = new Error(); e.message = { toJSON() { for (;;) {} } }; throw e",
  ),
  timesOut(
    "an endless loop in the stack getter",
    "throw Object.defineProperty(new Error('x'), 'stack', { get() { for (;;) {} } })",
  ),
  timesOut(
    "an endless loop in prepareStackTrace",
    "Error.prepareStackTrace = () => { for (;;) {} }; throw new Error('x')",
  ),
  timesOut(
    "an endless loop in a proxy's prototype",
    "return new Proxy({}, { getPrototypeOf() { for (;;) {} } })",
  ),
  timesOut("an endless loop in a returned thenable", "return { then() { for (;;) {} } }"),
  timesOut("an endless loop in a generator", "function* g() { for (;;) yield } for (const _ of g()) {}"),
  timesOut(
    "an endless loop in an async generator",
    "async function* g() { for (;;) yield } for await (const _ of g()) {}",
  ),
  timesOut("an endless loop in Function", "new Function('for (;;) {}')()"),
  timesOut("an endless loop in eval", "eval('for (;;) {}')"),
  timesOut(
    "an endless loop in a context of node:vm",
    "(await import('node:vm')).runInNewContext('for (;;) {}')",
  ),
  timesOut(
    "endless loops in a context of node:vm with timeouts",
    "const vm = await import('node:vm'); for (;;) try { vm.runInNewContext('let a; for (;;) {}', {}, { timeout: 5 }) } catch {}",
  ),
  timesOut(
    "endless loops in node:vm's contexts whose timeouts end around the run's own",
    "const vm = await import('node:vm'); const c = vm.createContext({}); const f = (n) => { try { c.g = () => f(n - 1); vm.runInContext(n ? 'g()' : 'for (;;);', c, { timeout: 130 + 2 * n }) } catch {} for (;;); }; f(20)",
  ),
  timesOut(
    "an endless loop that a context of node:vm left behind",
    "(await import('node:vm')).runInNewContext('Promise.resolve().then(() => { for (;;) {} })'); await new Promise(() => {})",
  ),
  timesOut(
    "an endless loop in a string conversion for the console",
    "console.log('a', { toString() { for (;;) {} }, [Symbol.toPrimitive]() { for (;;) {} } }); for (;;) {}",
  ),
  timesOut("an endless loop in a class field", "class A { x = (() => { for (;;) {} })() } new A()"),
  timesOut("an endless loop after closing the function early", "}); for (;;) {} (() => {"),
  timesOut(
    "endless microtasks",
    "(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})",
  ),
  timesOut("endless queueMicrotask", "(function f() { queueMicrotask(f) })(); await new Promise(() => {})"),
  timesOut("endless awaits", "for (;;) await 0"),
  timesOut(
    "many microtasks that loop each",
    "for (let i = 0; i < 1e3; i++) Promise.resolve().then(() => { for (;;) {} }); await new Promise(() => {})",
  ),
  timesOut("endless timers", "(function f() { setTimeout(f) })(); await new Promise(() => {})"),
  timesOut(
    "endless intervals",
    "for (let i = 0; i < 100; i++) setInterval(() => {}, 0); await new Promise(() => {})",
  ),
  timesOut("never settling", "await new Promise(() => {})"),
  timesOut("waiting for a timer of a year", "await new Promise((r) => setTimeout(r, 2 ** 31 - 1))"),
  timesOut("a catastrophic regular expression", "/(a+)+$/.test('a'.repeat(50) + 'b')"),
  timesOut("a catastrophic regular expression in replace", "'a'.repeat(50).replace(/(a|aa)+c/, '')"),
  timesOut(
    "a catastrophic sticky regular expression with lookbehind",
    "/(?<=(x+x+)+y)z/.test('x'.repeat(60) + 'z'); for (;;) /(x+x+)+y/.test('x'.repeat(60))",
  ),
  timesOut("squaring a big integer", "let x = 7n; for (;;) x *= x", {
    error: /script runtime exceeded|Maximum BigInt size exceeded|RAM exceeded/,
    kinds: ["timeout", "thrown", "memory"],
  }),
  timesOut("writing a big integer out", "const s = (1n << 30_000_000n).toString(); for (;;) {}", {
    error: /script runtime exceeded|RAM exceeded/,
    kinds: ["timeout", "memory"],
  }),
  timesOut(
    "dividing big integers",
    "const a = (1n << 20_000_000n) - 1n, b = (1n << 10_000_000n) - 3n; for (;;) a % b",
  ),
  timesOut("reading a big integer", "const s = '9'.repeat(3e7); for (;;) BigInt(s)"),
  fails("a big integer's power", "2n ** (2n ** 31n)", "Maximum BigInt size exceeded"),
  exhausts("Array.fill over four thousand million", "new Array(2 ** 32 - 1).fill(0)", {
    limits: { timeoutMs: 400 },
  }),
  timesOut("indexOf over an array-like of 2^53", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)"),
  timesOut(
    "includes over an array-like of 2^53",
    "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
  ),
  timesOut("reverse over an array-like of 2^53", "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })"),
  timesOut(
    "copyWithin over an array-like of 2^53",
    "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)",
  ),
  timesOut(
    "lastIndexOf over an array-like of 2^53",
    "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
  ),
  timesOut("join over a sparse array", "new Array(2 ** 32 - 1).join(); for (;;) {}", {
    error: /script runtime exceeded|Invalid string length|RAM exceeded/,
    kinds: ["timeout", "thrown", "memory"],
  }),
  exhausts(
    "sorting with a lying comparator",
    "const a = Array.from({ length: 5e6 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)",
    { limits: { timeoutMs: 400 } },
  ),
  timesOut(
    "sorting typed arrays",
    "const a = new Float64Array(1e6); for (;;) { for (let i = 0; i < a.length; i++) a[i] = Math.random(); a.sort() }",
  ),
  timesOut("normalizing a long text", "const s = 'ệ'.repeat(5e6); for (;;) s.normalize('NFD')", {
    error: /script runtime exceeded|RAM exceeded/,
    kinds: ["timeout", "memory"],
  }),
  timesOut(
    "comparing long texts by locale",
    "const a = 'é'.repeat(5e6), b = a + 'x'; for (;;) a.localeCompare(b)",
  ),
  timesOut(
    "making locale formats",
    "for (;;) new Intl.DateTimeFormat('de', { timeZone: 'Asia/Tokyo', dateStyle: 'full' }).format(0)",
    { error: /script runtime exceeded|RAM exceeded/, kinds: ["timeout", "memory"] },
  ),
  timesOut("uppercasing by locale", "const s = 'ß'.repeat(1e7); for (;;) s.toLocaleUpperCase('tr')", {
    error: /script runtime exceeded|RAM exceeded/,
    kinds: ["timeout", "memory"],
  }),
  timesOut("waiting on shared memory", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", {
    error: /script runtime exceeded|Atomics.wait cannot be called in this context/,
    kinds: ["timeout", "thrown"],
  }),
  timesOut(
    "waiting on shared memory asynchronously",
    "await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value",
  ),
  timesOut(
    "an endless loop in WebAssembly",
    "new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11]))).exports.f()",
  ),
  timesOut(
    "an endless loop after asynchronous WebAssembly",
    "WebAssembly.compile(new Uint8Array([0,97,115,109,1,0,0,0])).then(() => { for (;;) {} }); await new Promise(() => {})",
  ),
  fails("endless recursion", "(function f() { f() })()", "Maximum call stack size exceeded"),
  fails(
    "endless recursion in a getter",
    "const o = { get x() { return this.x } }; o.x",
    "Maximum call stack size exceeded",
  ),
  fails(
    "endless recursion in a proxy",
    "const p = new Proxy({}, { get: (_t, k, r) => r[k] }); p.x",
    "Maximum call stack size exceeded",
  ),
  fails(
    "endless recursion in toString",
    "const o = { toString() { return `${o}` } }; `${o}`",
    "Maximum call stack size exceeded",
  ),
  fails(
    "endless recursion while writing JSON",
    "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)",
    "Maximum call stack size exceeded",
  ),
  fails(
    "a deeply nested array in JSON",
    "JSON.parse('['.repeat(1e6))",
    /Maximum call stack|Unexpected end of JSON|RAM exceeded/,
    { kinds: ["thrown", "memory"], limits: { timeoutMs: 3_000 } },
  ),
  fails(
    "spreading a large array into arguments",
    "Math.max(...new Array(1e7))",
    "Maximum call stack size exceeded",
  ),
  fails(
    "a chain of bound functions",
    "let f = () => {}; for (let i = 0; i < 1e5; i++) f = f.bind(); f()",
    /stack size exceeded|returned value not/,
  ),
  returns(
    "a result before an endless timer",
    "setInterval(() => { for (;;) {} }, 0); return Functions.encodeString('done')",
    "done",
  ),
  returns(
    "catching its own recursion",
    "let n = 0; const f = () => { n++; try { f() } catch {} }; f(); return Functions.encodeString(String(n > 100))",
    "true",
  ),
];
