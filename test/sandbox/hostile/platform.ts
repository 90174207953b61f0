import { exhausts, fails, returns, timesOut, type HostileCase } from "./case.ts";

const EITHER = {
  error:
    /script runtime exceeded|RAM exceeded|[Ii]nvalid|[Oo]ut of|allocation failed|exceed|too large|too long|larger|must be|Maximum|blocked resource|too many/,
  kinds: ["timeout", "memory", "thrown", "sandbox", "result"] as const,
};
const DONE = "return Functions.encodeString('done')";
const SECRET =
  "const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']); const slow = () => crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 2 ** 31 - 1 }, key, 256);";

/** Sources that turn the web platform's own functions against it, some of them native code outside the isolate. */
export const platform: readonly HostileCase[] = [
  timesOut("deriving a key for hours", `${SECRET} await slow(); ${DONE}`),
  returns(
    "deriving keys for hours, without waiting",
    `${SECRET} for (let i = 0; i < 8; i++) slow(); ${DONE}`,
    "done",
  ),
  returns(
    "making a key of 16,384 bits without waiting",
    `crypto.subtle.generateKey({ name: 'RSA-PSS', modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['sign', 'verify']); ${DONE}`,
    "done",
  ),
  timesOut(
    "hashing without end",
    "const b = new Uint8Array(1e6); for (;;) await crypto.subtle.digest('SHA-512', b)",
    EITHER,
  ),
  timesOut(
    "hashing all at once",
    "const b = new Uint8Array(1e6); await Promise.all(Array.from({ length: 1e4 }, () => crypto.subtle.digest('SHA-512', b))); for (;;) {}",
    EITHER,
  ),
  timesOut(
    "synchronous keys for hours",
    "const c = await import('node:crypto'); c.pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512'); for (;;) {}",
    EITHER,
  ),
  timesOut(
    "scrypt with the largest cost",
    "const c = await import('node:crypto'); c.scryptSync('a', 'b', 64, { N: 2 ** 20, r: 8, p: 100, maxmem: 2 ** 40 }); for (;;) {}",
    EITHER,
  ),
  timesOut(
    "synchronous hashes without end",
    "const c = await import('node:crypto'); const b = new Uint8Array(1e6); for (;;) c.createHash('sha512').update(b).digest()",
    EITHER,
  ),
  timesOut(
    "random numbers without end",
    "const b = new Uint8Array(65536); for (;;) crypto.getRandomValues(b)",
    EITHER,
  ),
  fails("too many random numbers", "crypto.getRandomValues(new Uint8Array(1e6))", /./),
  exhausts(
    "keys without end",
    "for (;;) await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])",
    { ...EITHER, limits: { timeoutMs: 1_000 } },
  ),
  timesOut("addresses without end", "for (let i = 0; ; i++) new URL('http://example.com/' + i)", EITHER),
  exhausts("an address of 100 MB", "return new URL('http://a/' + 'x'.repeat(1e8)).href.x.y", {
    ...EITHER,
    error: /./,
  }),
  exhausts("a host name of a megabyte", "return new URL('http://' + 'é.'.repeat(5e5) + 'com/').href.x.y", {
    ...EITHER,
    error: /./,
  }),
  exhausts("a million parameters", "return new URLSearchParams('a=b&'.repeat(1e6)).toString().x.y", {
    ...EITHER,
    error: /./,
  }),
  exhausts(
    "a pattern made to backtrack",
    "new URLPattern({ pathname: '/(a+)+b' }).test('http://x/' + 'a'.repeat(60)); for (;;) {}",
    { ...EITHER, error: /./, limits: { timeoutMs: 400 } },
  ),
  exhausts("decoding 100 MB", "atob('A'.repeat(1e8)).x.y", { ...EITHER, error: /./ }),
  exhausts("encoding 100 MB", "new TextEncoder().encode('é'.repeat(6e7)).x.y", { ...EITHER, error: /./ }),
  exhausts("decoding text of 100 MB", "new TextDecoder('utf-16le').decode(new Uint8Array(1e8)).x.y", {
    ...EITHER,
    error: /./,
  }),
  exhausts("a buffer of 2 GB", "return Buffer.alloc(2 ** 31)", EITHER),
  exhausts("buffers without end", "const a = []; for (;;) a.push(Buffer.alloc(1e6, 1))", EITHER),
  exhausts("a buffer filled from a long text", "Buffer.from('x'.repeat(2e8)).toString('base64').x.y", {
    ...EITHER,
    error: /./,
  }),
  fails(
    "a deep clone",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; structuredClone(o); throw new Error('cloned')",
    /./,
  ),
  exhausts("a wide clone", "structuredClone(Array.from({ length: 3e6 }, () => ({})))", {
    ...EITHER,
    error: /./,
  }),
  timesOut(
    "clones of clones",
    "const o = { a: [1, 2, { b: new Map([[1, new Set([2])]]) }] }; for (;;) structuredClone(o)",
  ),
  fails("a clone with getters", "structuredClone({ get a() { throw new Error('got') } })", "got"),
  timesOut(
    "messages back and forth",
    "const { port1, port2 } = new MessageChannel(); port1.onmessage = () => port1.postMessage(1); port2.onmessage = () => port2.postMessage(1); port1.postMessage(1); await new Promise(() => {})",
  ),
  exhausts(
    "messages without end",
    "const { port1 } = new MessageChannel(); for (;;) port1.postMessage(new Array(100))",
    { ...EITHER, limits: { timeoutMs: 1_000 } },
  ),
  timesOut(
    "events that dispatch themselves later",
    "const t = new EventTarget(); t.addEventListener('a', () => queueMicrotask(() => t.dispatchEvent(new Event('a')))); t.dispatchEvent(new Event('a')); await new Promise(() => {})",
  ),
  fails(
    "events that dispatch themselves",
    "const t = new EventTarget(); let n = 0; t.addEventListener('a', () => { n++; t.dispatchEvent(new Event('a')) }); t.dispatchEvent(new Event('a')); throw new Error('end ' + (n > 10))",
    /./,
  ),
  exhausts(
    "listeners without end",
    "const t = new EventTarget(); for (;;) t.addEventListener('a', () => {})",
    { ...EITHER, limits: { timeoutMs: 1_000 } },
  ),
  exhausts(
    "a stream without end",
    "await new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e5)) } })).arrayBuffer()",
    EITHER,
  ),
  timesOut("a stream that never says anything", "await new Response(new ReadableStream({})).text()"),
  exhausts("a blob of blobs", "let b = new Blob(['x'.repeat(1e6)]); for (;;) b = new Blob([b, b])", EITHER),
  exhausts(
    "a form without end",
    "const f = new FormData(); for (let i = 0; ; i++) f.append('k' + i, 'v')",
    EITHER,
  ),
  exhausts("headers without end", "const h = new Headers(); for (let i = 0; ; i++) h.append('k' + i, 'v')", {
    ...EITHER,
    limits: { timeoutMs: 1_000 },
  }),
  fails("a header with line ends", "new Headers({ a: 'b\\r\\nc: d' })", /./),
  exhausts(
    "packing zeros again and again",
    "let s = new Blob([new Uint8Array(3e7)]).stream(); for (let i = 0; i < 50; i++) s = s.pipeThrough(new CompressionStream('gzip')); await new Response(s).arrayBuffer(); for (;;) {}",
    { ...EITHER, limits: { timeoutMs: 1_000 } },
  ),
  exhausts(
    "a bomb of packed zeros",
    "const zip = await new Response(new Blob([new Uint8Array(5e7)]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer(); const all = []; for (;;) all.push(await new Response(new Blob([zip]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())",
    { ...EITHER, limits: { timeoutMs: 2_000 } },
  ),
  returns(
    "ways to flush that no conversion has",
    `const z = await import('node:zlib'); for (const make of [z.createDeflate, z.createInflate, z.createBrotliCompress, z.createBrotliDecompress, z.createZstdCompress, z.createZstdDecompress]) for (const way of [-1, 2.5, 3, 4, 5, 99, 2 ** 32, NaN]) { const s = make(); s.on('error', () => {}); try { await new Promise((go) => { s.once('close', go); s.flush(way, go); }) } catch {} s.destroy() } ${DONE}`,
    "done",
  ),
  fails(
    "unpacking garbage",
    "await new Response(new Blob([new Uint8Array(100).fill(7)]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()",
    /./,
  ),
  returns(
    "a console table of a million cells",
    `console.table(Array.from({ length: 1e4 }, () => new Array(100).fill(1))); ${DONE}`,
    "done",
    { limits: { timeoutMs: 8_000 }, error: /script runtime exceeded|RAM exceeded/ },
  ),
  returns(
    "a console line of a deep object",
    `let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; console.log(o); ${DONE}`,
    "done",
  ),
  returns(
    "a console line of a wide object",
    `console.log(new Array(1e6).fill({ a: 1 }), Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [i, i]))); ${DONE}`,
    "done",
    { limits: { timeoutMs: 4_000 } },
  ),
  returns(
    "a console line of a circle",
    `const o = {}; o.o = [o, new Map([[o, o]])]; console.log(o, '%o %O %j', o); ${DONE}`,
    "done",
  ),
  returns(
    "a console line of hostile objects",
    `const p = Proxy.revocable({}, {}); p.revoke(); console.log(p.proxy, new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } }), { get a() { throw 3 } }, Object.create(null), { [Symbol.toStringTag]: 7 }, { constructor: { name: {} } }); ${DONE}`,
    "done",
    { error: /./, kinds: ["thrown"] },
  ),
  timesOut(
    "a console line that inspects without end",
    "console.log({ [Symbol.for('Deno.customInspect')]() { for (;;) {} }, [Symbol.for('nodejs.util.inspect.custom')]() { for (;;) {} } }); for (;;) {}",
  ),
  timesOut("console groups without end", "for (;;) console.group('a')", EITHER),
  timesOut(
    "timers of the console without end",
    "for (let i = 0; ; i++) { console.time('t' + i); console.count('c' + i) }",
    EITHER,
  ),
  timesOut("marks without end", "for (let i = 0; ; i++) performance.mark('m' + i)", EITHER),
  exhausts("storage without end", "for (let i = 0; ; i++) localStorage.setItem('k' + i, 'x'.repeat(1e5))", {
    ...EITHER,
    error: /./,
  }),
  timesOut("abort signals without end", "for (;;) AbortSignal.timeout(1e6)", EITHER),
  exhausts(
    "a chain of abort signals",
    "let s = new AbortController().signal; for (;;) s = AbortSignal.any([s])",
    { ...EITHER, limits: { timeoutMs: 1_000 } },
  ),
  fails(
    "ten thousand requests at once",
    "await Promise.all(Array.from({ length: 1e4 }, (_, i) => fetch('http://127.0.0.1:1/' + i)))",
    /./,
  ),
  exhausts("requests without end", "for (;;) await fetch('http://127.0.0.1:1/').catch(() => {})", {
    limits: { timeoutMs: 1_500 },
    kinds: ["timeout", "sandbox"],
  }),
  exhausts(
    "requests through the library without end",
    "for (;;) await Functions.makeHttpRequest({ url: 'http://127.0.0.1:1/' })",
    { limits: { timeoutMs: 1_500 }, kinds: ["timeout", "sandbox"] },
  ),
  fails(
    "a request body of 100 MB",
    "await fetch('http://127.0.0.1:1/', { method: 'POST', body: new Uint8Array(1e8) }); throw new Error('sent')",
    /./,
    { kinds: ["thrown", "memory", "sandbox"] },
  ),
  fails(
    "a request with hostile options",
    "await fetch('http://127.0.0.1:1/', new Proxy({}, { get() { throw new Error('option') } }))",
    /./,
  ),
  fails(
    "TypeScript that takes the compiler seconds",
    "(await import('node:module')).stripTypeScriptTypes('[[[1]]],'.repeat(4e6))",
    /^TypeScript of more than 30,720 bytes isn't compiled$/,
  ),
  fails(
    "TypeScript that overflows the compiler's stack",
    "(await import('node:module')).stripTypeScriptTypes('('.repeat(30_000))",
    /^The code is too deep or too large$/,
  ),
  fails("an unknown native", "await import('node:_native'); throw new Error('none')", /./),
  fails(
    "an inspector module",
    "const i = await import('node:inspector'); i.open(0); throw new Error('opened')",
    /^(?!opened)/,
  ),
  fails(
    "a server",
    "const s = (await import('node:http')).createServer(); s.listen(0); throw new Error('listening')",
    /^(?!listening)/,
  ),
  fails(
    "a socket",
    "const n = await import('node:net'); n.connect(1, '127.0.0.1'); throw new Error('connected')",
    /^(?!connected)/,
  ),
  fails("a Deno listener", "Deno.listen({ port: 0 }); throw new Error('listening')", /^(?!listening)/),
  fails("a Deno library", "Deno.dlopen('libc.so.6', {}); throw new Error('opened')", /^(?!opened)/),
  fails(
    "a Deno file",
    "await Deno.writeTextFile('/tmp/tyche-deno', 'x'); throw new Error('written')",
    /^(?!written)/,
  ),
];
