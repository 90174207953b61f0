import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxPool, type RunRequest, type SandboxPool } from "../../sandbox/index.ts";

let pool: SandboxPool;
beforeAll(async () => {
  pool = createSandboxPool();
  await pool.ready();
});
afterAll(() => pool.close());

const run = (source: string, more: Partial<RunRequest> = {}) => pool.run({ source, ...more });
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("runs a source and returns its bytes", async () => {
  const result = await run("return Functions.encodeUint256(7)");
  expect(result).toMatchObject({ ok: true, console: "", consoleTruncated: false, httpRequests: 0 });
  expect(result.ok && Buffer.from(result.bytes).toString("hex")).toBe(`${"0".repeat(63)}7`);
});

test("args, bytesArgs and secrets arrive; absent ones are empty objects", async () => {
  const show = "return Functions.encodeString(JSON.stringify([args, bytesArgs, secrets]))";
  const given = await run(show, { args: ["é", ""], bytesArgs: ["0x01"], secrets: { key: "😀" } });
  expect(given.ok && text(given.bytes)).toBe('[["é",""],["0x01"],{"key":"😀"}]');
  const absent = await run(show);
  expect(absent.ok && text(absent.bytes)).toBe("[{},{},{}]");
});

test.each([
  ["return Functions.encodeUint256(Math.max(1, new Date(0).getTime()))", []],
  ["new Intl.DateTimeFormat('en').format(0); return await fetch('data:,x').then((r) => r.arrayBuffer())", []],
  ["setTimeout(() => {}, 0); await import('node:buffer'); return new Uint8Array(1)", []],
  ["return Functions.encodeUint256(Date.now())", ["time"]],
  ["return Functions.encodeString(Date())", ["time"]],
  ["return Functions.encodeString(String(new (new Date(0).constructor)()))", ["time"]],
  ["return Functions.encodeString(new Intl.DateTimeFormat('en').format())", ["time"]],
  ["return Functions.encodeString(String(performance.now()))", ["time"]],
  ["await new Promise((done) => setTimeout(done, 1)); return new Uint8Array(1)", ["time"]],
  ["return Functions.encodeString(String(Math.random()))", ["randomness"]],
  [
    "return Functions.encodeString((await import('node:vm')).runInNewContext('`${Math.random()}`'))",
    ["randomness"],
  ],
  ["return crypto.getRandomValues(new Uint8Array(4))", ["randomness"]],
  ["return (await import('node:crypto')).randomBytes(4)", ["randomness"]],
  [
    "await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign']); return new Uint8Array(1)",
    ["randomness"],
  ],
  [
    `const key = { kty: 'EC', crv: 'P-256', x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU', y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0', d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI' };
     const ecdsa = await crypto.subtle.importKey('jwk', key, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
     return crypto.subtle.sign({ name: { toString: () => 'ECDSA' }, hash: 'SHA-256' }, ecdsa, new Uint8Array(1))`,
    ["randomness"],
  ],
  ["await fetch('https://example.com').catch(() => {}); return new Uint8Array(1)", ["http"]],
  ["await Functions.makeHttpRequest({ url: 'https://example.com' }); return new Uint8Array(1)", ["http"]],
  [
    "await Functions.makeHttpRequest({ url: args[0] }); return Functions.encodeUint256(Date.now())",
    ["http", "time"],
  ],
  [
    "await Functions.makeHttpRequest({ url: 'https://example.com' }); await new Promise((done) => setTimeout(done, 1)); return new Uint8Array(1)",
    ["http", "time"],
  ],
  ["await import('npm:ethers').catch(() => {}); return new Uint8Array(1)", ["imports"]],
])("an observed run reports what can't be repeated: %s", async (source, touched) => {
  expect(await run(source, { observe: true })).toMatchObject({ ok: true, touched });
});

test.each([
  ["createDiffieHellman(64).getPrime()", ["randomness"]],
  ["generatePrimeSync(32)", ["randomness"]],
  ["createECDH('secp256k1').generateKeys()", ["randomness"]],
  ["generateKeyPairSync('ed25519')", ["randomness"]],
  ["publicEncrypt(args[0], new Uint8Array(1))", ["randomness"]],
  [
    "createPrivateKey(args[0]).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'a' })",
    ["randomness"],
  ],
  ["createPrivateKey(args[0]).export({ type: 'pkcs8', format: 'pem' })", []],
  ["privateDecrypt({ key: args[0], padding: 3 }, new Uint8Array(128))", []],
  ["createECDH('secp256k1').setPrivateKey('11'.repeat(32), 'hex')", []],
])("an observed run tells what node:crypto draws from what it computes: %s", async (call, touched) => {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 1024,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const source = `(await import('node:crypto')).${call}; return new Uint8Array(1)`;
  expect(await run(source, { args: [privateKey], observe: true })).toMatchObject({ ok: true, touched });
});

test("a time limit of node:vm that ends the loading of a module hides no later use of time", async () => {
  const source = `const vm = await import('node:vm'); globalThis.require = (await import('node:module')).createRequire('/');
    let struck = 0;
    for (const name of ['crypto', 'zlib', 'http', 'util', 'stream', 'readline', 'assert', 'url', 'fs', 'dns'])
      try { vm.runInThisContext(\`require('\${name}')\`, { timeout: 1 }) } catch { struck += 1 }
    Date.now();
    return Uint8Array.of(struck)`;
  const ended = await run(source, { observe: true });
  expect(ended).toMatchObject({ ok: true, touched: ["time"] });
  expect(ended.ok && ended.bytes[0]).toBeGreaterThan(0);
});

test("an error carries the position in the caller's own text", async () => {
  expect(await run("let x = 1;\nlet y = null;\n   y.foo()")).toMatchObject({
    ok: false,
    error: { kind: "thrown", message: "Cannot read properties of null (reading 'foo')", line: 3, column: 6 },
  });
});

test("a syntax error says what the nodes say, and where", async () => {
  expect(await run("\n  retrn 5 +")).toMatchObject({
    ok: false,
    error: { kind: "syntax", message: "syntax error, RAM exceeded, or other error", line: 2, column: 9 },
  });
});

test("TypeScript is compiled", async () => {
  const result = await run("const x: number = 5; return Functions.encodeUint256(x as number)");
  expect(result.ok && result.bytes[31]).toBe(5);
});

test.each([
  ["is too deep for the compiler", `let x: number;\n${"(".repeat(30_000)}`],
  [
    "has an enum larger than the compiler's memory",
    `enum A { a0 = "${"x".repeat(100)}", ${Array.from({ length: 40 }, (_, at) => `a${at + 1} = a${at} + a${at}`).join(", ")} }`,
  ],
])("a source that %s doesn't spoil the next one in TypeScript", async (_name, source) => {
  expect(await run(source)).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/^syntax error, RAM exceeded|^script runtime/) as string },
  });
  const next = await run(
    "enum E { A = 6 } namespace N { export const a: number = E.A } return new Uint8Array([N.a])",
  );
  expect(next.ok && next.bytes).toEqual(new Uint8Array([6]));
});

test("TypeScript of more than 30,720 bytes isn't compiled", async () => {
  const start = "let é: number = 6; return new Uint8Array([é]) //";
  const longest = start + "x".repeat(30_720 - Buffer.byteLength(start));
  const kept = await run(longest);
  expect(kept.ok && kept.bytes).toEqual(new Uint8Array([6]));
  expect(await run(`${longest}x`)).toMatchObject({
    ok: false,
    error: {
      kind: "syntax",
      line: 1,
      column: 6,
      detail:
        "unexpected `:`. TypeScript of more than 30,720 bytes isn't compiled: shorten the source, or write it in JavaScript",
    },
  });
  const script = `${longest}x`.replace(": number", "");
  expect(await run(script)).toMatchObject({ ok: true });
  expect(await run(`${script}\n'`)).toMatchObject({ error: { detail: "this string is not closed" } });
});

test("timers and await work, and console output is captured", async () => {
  const result = await run(
    "console.log('a', 1); await new Promise(r => setTimeout(r, 5)); console.error('b'); return new ArrayBuffer(2)",
  );
  expect(result).toMatchObject({ ok: true, console: "a 1\nb\n" });
});

test("a loop ends in time, in the first turn and in a later one, and keeps its output", async () => {
  const error = { kind: "timeout", message: "script runtime exceeded" };
  const limits = { timeoutMs: 200 };
  // It has to come as far as its output.
  expect(await run("console.log('a'); while (true) {}", { limits: { timeoutMs: 2_000 } })).toMatchObject({
    ok: false,
    error,
    console: "a\n",
  });
  expect(await run("await null; while (true) {}", { limits })).toMatchObject({ ok: false, error });
  expect(await run("await new Promise(() => {})", { limits })).toMatchObject({ ok: false, error });
});

test("runs of a group have fresh globals", async () => {
  const source =
    "globalThis.n = (globalThis.n ?? 0) + 1; Array.prototype.x ??= 0; Array.prototype.x++; return Functions.encodeString(`${n} ${[].x}`)";
  const results = await Promise.all(Array.from({ length: 20 }, () => run(source, { group: "g" })));
  expect(new Set(results.map((result) => (result.ok ? text(result.bytes) : result.error.message)))).toEqual(
    new Set(["1 1"]),
  );
});

test("a bad request names its member", async () => {
  await expect(run(5 as never)).rejects.toMatchObject({ code: "invalid_run", details: { path: "source" } });
  await expect(run("", { limits: { timeoutMs: 0 } })).rejects.toMatchObject({
    details: { path: "limits.timeoutMs" },
  });
});

test("a pool of one process starts no other, as a spare or for what waits", async () => {
  const single = createSandboxPool({ concurrency: 1, maxWorkers: 1 });
  const slow = "await new Promise((done) => setTimeout(done, 200)); return new Uint8Array(1)";
  const results = await Promise.all(["a", "b", "a"].map((caller) => single.run({ source: slow, caller })));
  expect([results.map(({ ok }) => ok), single.stats().started]).toEqual([[true, true, true], 1]);
  await single.close();
});

test("a failure of OpenSSL names its own reason, not that of one before it", async () => {
  const parse =
    "try { c.createPrivateKey('none') } catch (error) { return Functions.encodeString(error.message) }";
  const scrypt =
    "try { c.scryptSync('a', 'b', 8, { N: 2 ** 14, maxmem: 1000 }); return new Uint8Array(1) } catch {}";
  const open = "const c = await import('node:crypto');";
  const alone = await run(`${open} ${parse}`);
  const after = await run(`${open} ${scrypt} ${parse}`);
  expect(after.ok && text(after.bytes)).toBe(alone.ok && text(alone.bytes));
});

test("a closed pool refuses, an aborted run rejects", async () => {
  const own = createSandboxPool({ concurrency: 1 });
  const controller = new AbortController();
  const limits = { timeoutMs: 600_000 };
  const aborted = own.run({ source: "while (true) {}", signal: controller.signal, limits });
  await own.run({ source: "return new Uint8Array(1)" });
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: "run_aborted" });
  await own.close();
  await expect(own.run({ source: "" })).rejects.toMatchObject({ code: "sandbox_closed" });
});

test("repeated runs of a group, and others between them, each give their own result", async () => {
  const sources = ["a", "a", "b", "a", "a", "a", "a", "c", "c", "b", "b", "b", "b", "d", "e", "f", "f"];
  const results = await Promise.all(
    sources.map((name, at) =>
      pool.run({
        source: "globalThis.count = (globalThis.count ?? 0) + 1; return Functions.encodeString(args + count)",
        args: [name],
        limits: at % 4 === 3 ? { maxResponseBytes: 2 } : {},
        group: "repeats",
      }),
    ),
  );
  expect(results.map((result) => result.ok && Buffer.from(result.bytes).toString())).toEqual(
    sources.map((name) => `${name}1`),
  );
});

/** Leaves state behind in every way that a source knows, and work for after its result. */
const LEAVES_STATE = `
const ways = [
  () => { globalThis.left = 1; Object.prototype.left = Array.prototype.left = "p"; Functions.left = Math.left = crypto.subtle.left = 1; },
  () => { console.count("c"); console.count("c"); console.time("t"); console.group("g"); performance.mark("m"); },
  () => { localStorage.setItem("a", "b"); },
  () => { sessionStorage.setItem("a", "b"); },
  () => { process.env.LEFT = "1"; },
  () => { process.exitCode = 3; process.title = "x"; },
  () => { /(left)/.exec("left"); Symbol.for("left"); URL.createObjectURL(new Blob(["x"])); },
  () => { addEventListener("message", () => {}); onerror = () => {}; new BroadcastChannel("x").postMessage("left"); },
  () => { for (let i = 0; i < 50; i += 1) Buffer.allocUnsafe(1000).fill("SECRET"); },
  () => { Date.prototype.getTimezoneOffset = () => 99; Math.random = () => 0; Intl.DateTimeFormat = null; },
  () => { new TextDecoder().decode(new Uint8Array([0xe2]), { stream: true }); },
];
for (const way of ways) try { way(); } catch {}
(await import("data:text/javascript,export const kept = { n: 0 }")).kept.n = 5;
(await import("node:events")).EventEmitter.defaultMaxListeners = 77;
(await import("node:util")).inspect.defaultOptions.depth = 77;
new (await import("node:async_hooks")).AsyncLocalStorage().enterWith("left");
await new Promise((resolve) => setTimeout(resolve, 200));
Error.stackTraceLimit = 0; Error.prepareStackTrace = () => "left";
setTimeout(() => { for (;;); }, 30);
setTimeout(function again() { queueMicrotask(again); }, 30);
setInterval(() => console.log("tick"), 1);
return Functions.encodeString("left");`;
const READS_STATE = `
const seen = [];
const see = async (read) => { try { seen.push(await read()); } catch (error) { seen.push(String(error)); } };
await see(() => Reflect.ownKeys(globalThis).map(String).sort());
await see(() => [{}.left, [].left, Functions.left, Math.left, crypto.subtle.left, performance.getEntries().length]);
await see(() => [localStorage.getItem("a"), sessionStorage.getItem("a"), process.exitCode, process.title]);
await see(() => process.env.LEFT);
await see(() => [RegExp.$1, Error.stackTraceLimit, typeof Error.prepareStackTrace, String(globalThis.onerror)]);
await see(() => Array.from({ length: 50 }, () => Buffer.allocUnsafe(1000)).some((one) => one.some((byte) => byte !== 0)));
await see(() => new Uint8Array(new WebAssembly.Memory({ initial: 10 }).buffer).some((byte) => byte !== 0));
await see(() => [new Date(0).getTimezoneOffset(), typeof Intl.DateTimeFormat, Math.random() !== 0, new TextDecoder().decode()]);
await see(async () => (await import("data:text/javascript,export const kept = { n: 0 }")).kept.n);
await see(async () => (await import("node:events")).EventEmitter.defaultMaxListeners);
await see(async () => (await import("node:util")).inspect.defaultOptions.depth);
await see(async () => String(new (await import("node:async_hooks")).AsyncLocalStorage().getStore()));
await see(() => new Promise((resolve) => { new BroadcastChannel("x").onmessage = resolve; setTimeout(() => resolve("none"), 60); }));
console.count("c"); console.log("plain"); console.timeEnd("t");
return Functions.encodeString(JSON.stringify(seen));`;
test.each([
  ["another caller", {}, {}],
  ["the same group", { group: "g" }, { group: "g" }],
  ["another group", { group: "g" }, { group: "h" }],
  ["a caller without a group", { group: "g" }, {}],
] as const)("finds nothing of an earlier run in the same process: %s", async (_name, leaves, reads) => {
  const limits = { maxResponseBytes: 100_000, timeoutMs: 60_000 };
  // A caller holds one of the two children.
  const used = createSandboxPool({ concurrency: 1, maxWorkers: 2 });
  const runAll = (source: string, more: Partial<RunRequest>) =>
    Promise.all(
      ["a", "b", "a", "b", "a", "b"].map((caller) => used.run({ source, limits, caller, ...more })),
    );
  const [fresh] = await Promise.all([pool.run({ source: READS_STATE, limits }), used.ready()]);
  const seen = (result: typeof fresh) => ({
    text: result.ok ? text(result.bytes) : result.error,
    console: result.console,
  });
  const left = await runAll(LEAVES_STATE, leaves);
  expect(left.map((result) => result.ok && text(result.bytes))).toEqual(left.map(() => "left"));
  const found = await runAll(READS_STATE, reads);
  expect(found.map(seen)).toEqual(found.map(() => seen(fresh)));
  const { started, killed } = used.stats();
  expect({ isReused: started <= 2, killed }).toEqual({ isReused: true, killed: {} });
  await used.close();
});
