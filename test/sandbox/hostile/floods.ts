import { exhausts, fails, returns, timesOut, type HostileCase } from "./case.ts";

const GIANT = "'x'.repeat(1e8)";

/** Sources that produce too much output: console, errors, results, host calls. */
export const floods: readonly HostileCase[] = [
  timesOut("console lines without end", "for (;;) console.log('line')"),
  returns(
    "a million console lines",
    "for (let i = 0; i < 1e6; i++) console.log(i); return Functions.encodeString('done')",
    "done",
    { limits: { timeoutMs: 5_000 } },
  ),
  returns(
    "a console line of 100 MB",
    `console.log(${GIANT}); return Functions.encodeString('done')`,
    "done",
    { limits: { timeoutMs: 4_000 } },
  ),
  returns(
    "a hundred console lines of 1 MB",
    "const s = 'y'.repeat(1e6); for (let i = 0; i < 100; i++) console.log(s); return Functions.encodeString('done')",
    "done",
  ),
  returns(
    "console output of characters of four bytes",
    "console.log('😀'.repeat(1e6)); return Functions.encodeString('done')",
    "done",
  ),
  returns(
    "console output of lone surrogates",
    "console.log('\\ud800'.repeat(1e5)); return Functions.encodeString('done')",
    "done",
  ),
  returns(
    "control characters on the console",
    "console.log('\\x1b[2J\\x00\\r\\n{\"run\":1}\\n'); return Functions.encodeString('done')",
    "done",
  ),
  returns(
    "a console with its methods replaced",
    "console.log = console.error = () => { throw 1 }; return Functions.encodeString('done')",
    "done",
  ),
  returns(
    "console output in a rejected promise",
    "await Promise.reject(1).catch(() => console.log('x')); return Functions.encodeString('done')",
    "done",
  ),
  timesOut(
    "console output in endless microtasks",
    "(function f() { console.log('x'); Promise.resolve().then(f) })(); await new Promise(() => {})",
  ),
  fails("an error message of 100 MB", `throw new Error(${GIANT})`, /^x{16384}$/, {
    limits: { timeoutMs: 4_000 },
  }),
  fails("a thrown text of 100 MB", `throw ${GIANT}`, /^x{16384}$/, {
    limits: { timeoutMs: 4_000 },
  }),
  fails("an error name of 100 MB", `const e = new Error('m'); e.name = ${GIANT}; throw e`, "m", {
    limits: { timeoutMs: 4_000 },
  }),
  fails("an error stack of 100 MB", `const e = new Error('m'); e.stack = ${GIANT}; throw e`, "m", {
    limits: { timeoutMs: 4_000 },
  }),
  fails(
    "a stack of a million lines",
    "const e = new Error('m'); e.stack = '    at source.js:1:1\\n'.repeat(1e6); throw e",
    "m",
    { limits: { timeoutMs: 4_000 } },
  ),
  fails(
    "a stack made for the position pattern",
    "const e = new Error('m'); e.stack = 'source.js:'.repeat(1600); throw e",
    "m",
  ),
  fails(
    "positions beyond all numbers",
    "const e = new Error('m'); e.stack = 'at source.js:' + '9'.repeat(400) + ':' + '9'.repeat(400); throw e",
    "m",
  ),
  fails("an error whose cause is itself", "const e = new Error('m'); e.cause = e; throw e", "m"),
  fails(
    "an aggregate of a million errors",
    "throw new AggregateError(new Array(1e6).fill(new Error('x')), 'm')",
    "m",
    { limits: { timeoutMs: 4_000 } },
  ),
  fails(
    "an uncaught error of 100 MB in a timer",
    `setTimeout(() => { throw new Error(${GIANT}) }); await new Promise(() => {})`,
    /RAM exceeded/,
    { limits: { timeoutMs: 4_000 } },
  ),
  fails(
    "an unhandled rejection of 100 MB",
    `Promise.reject(new Error(${GIANT})); await new Promise((r) => setTimeout(r, 20))`,
    /RAM exceeded/,
    { limits: { timeoutMs: 4_000 } },
  ),
  fails(
    "ten thousand unhandled rejections",
    "for (let i = 0; i < 1e4; i++) Promise.reject(i); return new Uint8Array(1)",
    /RAM exceeded/,
    { limits: { timeoutMs: 4_000 } },
  ),
  fails(
    "an unhandled rejection with nothing",
    "Promise.reject(); await new Promise((r) => setTimeout(r, 20))",
    /RAM exceeded/,
  ),
  fails(
    "an unhandled rejection with a symbol",
    "Promise.reject(Symbol('x')); await new Promise((r) => setTimeout(r, 20))",
    /RAM exceeded/,
  ),
  fails(
    "an unhandled rejection with a revoked proxy",
    "const p = Proxy.revocable({}, {}); p.revoke(); Promise.reject(p.proxy); await new Promise((r) => setTimeout(r, 20))",
    /RAM exceeded/,
  ),
  fails(
    "an unhandled rejection with a function",
    "Promise.reject(() => {}); await new Promise((r) => setTimeout(r, 20))",
    /RAM exceeded/,
  ),
  fails(
    "an unhandled error named as a timeout",
    "Promise.reject(new Error('Script execution timed out.')); await new Promise((r) => setTimeout(r, 20))",
    /RAM exceeded|runtime exceeded/,
  ),
  fails("a thrown symbol", "throw Symbol('x')", "invalid value thrown of type symbol"),
  fails("a thrown nothing", "throw undefined", "invalid value thrown of type undefined"),
  fails("a thrown null", "throw null", "invalid value thrown of type object"),
  fails("a thrown function", "throw () => {}", "invalid value thrown of type function"),
  fails("a thrown big integer", "throw 10n ** 1000n", "invalid value thrown of type bigint"),
  fails(
    "a thrown revoked proxy",
    "const p = Proxy.revocable({}, {}); p.revoke(); throw p.proxy",
    /RAM exceeded/,
  ),
  fails(
    "a thrown proxy of an error",
    "throw new Proxy(new Error('inner'), { get() { throw 1 } })",
    /RAM exceeded/,
  ),
  fails(
    "an error whose message throws",
    "throw Object.defineProperty(new Error(), 'message', { get() { throw new Error('no') } })",
    /RAM exceeded/,
  ),
  fails("an error whose message is a symbol", "const e = new Error(); e.message = Symbol('s'); throw e", ""),
  fails(
    "an error whose message is nothing",
    "const e = new Error(); e.message = null; throw e",
    "invalid value returned",
  ),
  fails(
    "an error of another prototype",
    "throw Object.setPrototypeOf(new Error('x'), null)",
    "invalid value thrown of type object",
  ),
  fails(
    "an object that poses as an error",
    "throw { __proto__: Error.prototype, message: 'posed', stack: 7 }",
    "posed",
  ),
  fails("an error text of lone surrogates", "throw new Error('\\ud800\\udfff\\udc00')", /./u),
  fails("a result of 100 MB", "return new Uint8Array(1e8)", "response >256 bytes", {
    limits: { timeoutMs: 4_000 },
  }),
  fails("a result one byte too long", "return new Uint8Array(257)", "response >256 bytes"),
  exhausts(
    "a thousand host calls at once",
    "await Promise.all(Array.from({ length: 1e3 }, () => import('npm:x')))",
    { kinds: ["sandbox", "thrown"], error: /RAM exceeded|not available/ },
  ),
  exhausts("host calls without end", "for (;;) await import('npm:x').catch(() => {})", {
    limits: { timeoutMs: 1_500 },
    kinds: ["sandbox", "timeout"],
  }),
  exhausts("a module name of 100 MB", `await import(${GIANT})`, {
    kinds: ["thrown", "sandbox", "memory"],
    error: /at most 1024 are taken|RAM exceeded/,
  }),
  fails("a module name that throws", "await import({ toString() { throw new RangeError('name') } })", "name"),
];
