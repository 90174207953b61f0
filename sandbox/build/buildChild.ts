import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serialize } from "node:v8";
import { zstdCompressSync } from "node:zlib";
import type { Plugin } from "esbuild";

import { partsFile, type ChildParts } from "../host/childParts.ts";
import { hardenScript } from "./harden.ts";
import { publishFile } from "./publishFile.ts";
import { wordStreams } from "./streamTexts.ts";

const SANDBOX_DIR = fileURLToPath(new URL("..", import.meta.url));

/** The npm package ships this file and its parts beside it prebuilt, without their sources. */
const PACKAGED = join(SANDBOX_DIR, "child.cjs");

/**
 * Returns the path of the sandbox process's script and builds it with esbuild if `sandbox/` has changed. The script holds the
 * child entry; the guest code and the TypeScript compilers' programs are a file beside it ({@link ChildParts}). They are cached under
 * `node_modules/.cache/tyche` by the hash of their inputs: a few ms on a hit, about 500 ms on a miss.
 */
export async function buildChild(): Promise<string> {
  if (existsSync(PACKAGED) && existsSync(partsFile(PACKAGED))) return PACKAGED;
  const require = createRequire(import.meta.url);
  const modules = join(require.resolve("isolated-vm/package.json"), "..", "..");
  const folder = join(modules, ".cache", "tyche");
  const path = join(folder, `sandbox-${hashInputs()}.cjs`);
  if (existsSync(path)) return path;
  const [code, parts] = await Promise.all([bundleChild(), buildParts()]);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  publish(partsFile(path), serialize(parts));
  publish(path, code);
  for (const name of readdirSync(folder)) {
    if (
      /^sandbox-\w+\.(?:cjs|parts|zst)$/.test(name) &&
      !path.includes(name.replace(/\.\w+$/, "")) &&
      isOld(folder, name)
    )
      rmSync(join(folder, name), { force: true });
  }
  return path;
}

function publish(path: string, content: string | Buffer): void {
  publishFile(path, (draft) => writeFileSync(draft, content, { mode: 0o644 }));
}

/** Hashes the bundle's inputs: our files and the versions of the bundled packages. */
function hashInputs(): string {
  const hash = createHash("sha256");
  for (const file of listSources(SANDBOX_DIR))
    hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  for (const name of [
    "@exodus/bytes",
    "@swc/wasm",
    "@swc/wasm-typescript",
    "acorn",
    "buffer",
    "esbuild",
    "punycode",
    "readable-stream",
    "web-streams-polyfill",
  ])
    hash.update(readFileSync(findPackageJSON(name, import.meta.url) as string));
  return hash.digest("hex").slice(0, 32);
}

function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort()
    .map((name) => join(folder, name));
}

const COMMON = { bundle: true, write: false, target: "es2024", logLevel: "silent" } as const;

async function bundleChild(): Promise<string> {
  const esbuild = await import("esbuild");
  const built = await esbuild.build({
    ...COMMON,
    // V8 keeps a script of ASCII in half of the memory and reads it sooner.
    charset: "ascii",
    minifyWhitespace: true,
    entryPoints: [join(SANDBOX_DIR, "host", "child", "main.ts")],
    format: "cjs",
    platform: "node",
    plugins: [compilerInstances],
  });
  return built.outputFiles[0]?.text ?? "";
}

async function buildParts(): Promise<ChildParts> {
  const esbuild = await import("esbuild");
  const guestDir = join(SANDBOX_DIR, "guest");
  /** Builds a script whose value is the file's default export; it is strict and leaves nothing on the global object. */
  const script = async (entry: string): Promise<string> => {
    const built = await esbuild.build({
      ...COMMON,
      charset: "utf8",
      // An entry without exports: the code that esbuild makes for those would read whatever a source has put on Object.prototype.
      stdin: {
        contents: `import value from ${JSON.stringify(entry)}; result = value;`,
        resolveDir: guestDir,
      },
      inject: [join(guestDir, "descriptors.ts")],
      plugins: [streamParts(guestDir), streamPolyfill, ownBytes],
      define: {
        "Object.defineProperty": "defineProperty",
        "Object.defineProperties": "defineProperties",
        "Object.create": "createObject",
      },
      format: "iife",
      platform: "neutral",
      mainFields: ["module", "main"],
      minifySyntax: true,
      minifyWhitespace: true,
    });
    // The bundler puts an underscore before the name of a class that refers to itself, which a source would see.
    let text = built.outputFiles[0]?.text ?? "";
    for (const [, name = ""] of text.matchAll(/\bclass _([A-Z]\w*)/g))
      text = text.replace(new RegExp(`(?<![.#\\w$])_${name}\\b`, "g"), name);
    return `(() => { "use strict"; let result;\n${text}\nreturn result; })()`;
  };
  const chunkDir = join(guestDir, "chunks");
  const chunks: Record<string, string> = {};
  for (const name of existsSync(chunkDir) ? readdirSync(chunkDir).sort() : []) {
    if (name.endsWith(".ts")) chunks[basename(name, ".ts")] = await script(join(chunkDir, name));
  }
  const require = createRequire(import.meta.url);
  const [, inlined = ""] =
    TYPES_START.exec(readFileSync(require.resolve("@swc/wasm-typescript"), "utf8")) ?? [];
  return {
    bootstrap: await script(join(guestDir, "bootstrap.ts")),
    chunks,
    hardened: Object.fromEntries(Object.entries(chunks).map(([name, code]) => [name, hardenScript(code)])),
    compilers: {
      types: compressCompiler(Buffer.from(inlined, "base64"), MAX_TYPES_PAGES),
      decorators: compressCompiler(
        readFileSync(require.resolve("@swc/wasm/wasm_bg.wasm")),
        MAX_DECORATORS_PAGES,
      ),
    },
  };
}

const READ_EVENTS = "data: undefined, end: undefined, readable: undefined";
const FIRST_EVENTS = "close: undefined, error: undefined";
const WRITE_EVENTS = "prefinish: undefined, finish: undefined, drain: undefined";

/** The library's flags of streams that are read, in its order, and the numbers of their bits in Node 24. */
const READ_FLAGS = Object.entries({
  ObjectMode: 0,
  Ended: 9,
  EndEmitted: 10,
  Reading: 11,
  Constructed: 8,
  Sync: 12,
  NeedReadable: 13,
  EmittedReadable: 14,
  ReadableListening: 15,
  ResumeScheduled: 16,
  ErrorEmitted: 1,
  EmitClose: 2,
  AutoDestroy: 3,
  Destroyed: 4,
  Closed: 5,
  CloseEmitted: 6,
  MultiAwaitDrain: 17,
  ReadingMore: 18,
  DataEmitted: 19,
});

/**
 * What Node 24 has that readable-stream, which is Node 18's code, lacks, by file: when which callback is called and which event follows, the
 * error of a pipeline that a signal ends, and the order of a stream's properties and of the events it may have.
 */
const STREAM_CHANGES: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  compose: [
    [
      "onfinish = null\n    if (onclose === null) {",
      "onfinish = null; if (isNodeStream(tail)) destroyer(tail, err);\n if (onclose === null) {",
    ],
    [
      "onclose = callback\n      if (isNodeStream(tail)) {\n        destroyer(tail, err)\n      }",
      "onclose = callback",
    ],
  ],
  destroy: [["process.nextTick(emitConstructNT, stream)", "stream.emit(kConstruct)"]],
  duplexify: [
    ["destroy } = fromAsyncGen(body)", "$&; if (isDuplexNodeStream(value)) return value;"],
    [
      "readable = false\n      if (err) {\n        destroyer(r, err)",
      "readable = false\n if (err) {\n destroyer(w, err)",
    ],
  ],
  "end-of-stream": [
    ["isReadableStream,\n", "$&  isTransformStream,\n"],
    [
      "if (!isNodeStream(stream)) {",
      "if (isTransformStream(stream) && isReadableStream(stream.readable)) return eosWeb(stream.readable, options, callback);\n $&",
    ],
    ["(writableFinished || isWritable(stream) === false)\n", "$& && !wState?.pendingcb\n"],
    ["resolverFn, resolverFn)\n  return nop", "resolverFn, resolverFn)\n return () => { callback = nop; }"],
  ],
  pipeline: [
    ["finishImpl(new AbortError())", "finishImpl(new AbortError(undefined, { cause: outerSignal?.reason }))"],
    ["function finish(err) {", "function finishWithError(err) { finishImpl(err, false); }\n $&"],
    [
      "finish(err)\n        }\n      }\n      stream.on('error'",
      "finishWithError(err)\n }\n }\n stream.on('error'",
    ],
    [
      "if (end) {\n        const { destroy",
      "const [, next] = streams.slice(i);\n // Deno lacks the class of this error.\n let k;\n if (next?.closed || next?.destroyed) throw new k();\n $&",
    ],
    ["pipe(ret, stream, finish, {", "pipe(ret, stream, finish, finishWithError, {"],
    ["function pipe(src, dst, finish, {", "function pipe(src, dst, finish, finishWithError, {"],
    ["finish(new ERR_STREAM_PREMATURE_CLOSE())", "finishWithError(new ERR_STREAM_PREMATURE_CLOSE())"],
  ],
  readable: [
    ["Symbol('kPaused')", "Symbol.for('nodejs.stream.paused')"],
    ["Stream._isUint8Array(chunk)", "Stream._isArrayBufferView(chunk)"],
    // A piece of a wrong kind, or after the end: no more are wanted.
    [
      "errorOrDestroy(stream, err)\n  } else if (chunk === null)",
      "errorOrDestroy(stream, err)\n return false\n } else if (chunk === null)",
    ],
    ["errorOrDestroy(stream, new ERR_STREAM_PUSH_AFTER_EOF())", "$&\n return false"],
    // Of a stream of bytes, one piece at a time is read.
    ["if (state.flowing && state.length)", "if ((state.flowing || !state.decoder) && state.length)"],
    [
      "state.needReadable = state.length <= state.highWaterMark",
      "if (state.length <= state.highWaterMark) state.needReadable = true",
    ],
    [
      "state.needReadable = !state.flowing && !state.ended && state.length <= state.highWaterMark",
      "if (!state.flowing && !state.ended && state.length <= state.highWaterMark) state.needReadable = true",
    ],
    [
      "state.readableListening = this.listenerCount('readable') > 0",
      "if (this.listenerCount('readable') > 0) state.readableListening = true",
    ],
    ["  if (content !== '') buffer.push", "  if (this._readableState.ended) content += decoder.end();\n $&"],
    ["if (!state.flowing) {\n    debug('resume')", "if (state.destroyed) return this;\n $&"],
    ["debug('call pause flowing=%j'", "if (this._readableState.destroyed) return this;\n $&"],
    // As Deno's compiler names what can't be piped to.
    ["dest.on('unpipe', onunpipe)", "const e = dest; if (typeof e.on !== 'function') e.on(); $&"],
    ["this.buffer = new BufferList()", "$&; this.bufferIndex = 0"],
    ...READ_FLAGS.map(([name, bit], at) => [`k${name} = 1 << ${at}\n`, `k${name} = 1 << ${bit}\n`] as const),
    [
      "this._readableState = new ReadableState(options, this, isDuplex)",
      `this._events ??= { ${FIRST_EVENTS}, ${READ_EVENTS} }; $&`,
    ],
  ],
  transform: [
    ["if (\n      wState.ended ||", "if (rState.ended) process.nextTick(callback)\n else $&"],
    ["require('../../ours/primordials')", "$&; const process = require('../shims/process')"],
  ],
  writable: [
    ["onfinishCallbacks[i]()", "onfinishCallbacks[i](null)"],
    ["state.pendingcb--\n    cb()", "state.pendingcb--\n    cb(null)"],
    [
      "  finishMaybe(stream, state)\n}\n\n// If there's something in the buffer waiting, then invoke",
      "  if (state.ending) finishMaybe(stream, state, true)\n}\n\n// invoke",
    ],
    ["this[kOnFinished] = []", "Object.defineProperty(this, kOnFinished, { value: [] })"],
    ["state.buffered = []", "state.buffered = null"],
    ["state.buffered.push(", "(state.buffered = state.buffered).push("],
    // Whether more is wanted is decided once the piece is written.
    ["const ret = state.length < state.highWaterMark\n", "\n"],
    ["if (!ret) state.needDrain = true\n", "\n"],
    [
      "return ret && !state.errored",
      "const ret = state.length < state.highWaterMark || state.length === 0; if (!ret) state.needDrain = true;\n $&",
    ],
    [
      "if (state.afterWriteTickInfo !== null",
      `if (cb === nop) {
        if (!state.afterWritePending && (state.objectMode || (state.needDrain && state.length === 0))) {
          process.nextTick(afterWrite, stream, state, 1, cb);
          state.afterWritePending = true;
        } else {
          state.pendingcb--;
          if (state.ending) finishMaybe(stream, state, true);
        }
      } else $&`,
    ],
    ["function afterWrite(stream, state, count, cb) {", "$& state.afterWritePending = false;"],
    ["if (called) {", "if (state.prefinished) {"],
    [
      "    if (err || state.finished) {\n      process.nextTick(cb, err)",
      "    if (err || state.errored || state.finished) {\n      process.nextTick(cb, err || state.errored)",
    ],
    ["Stream._isUint8Array(chunk)", "Stream._isArrayBufferView(chunk)"],
    [
      "function _write(stream, chunk, encoding, cb) {",
      "$& if (chunk === null) throw new ERR_STREAM_NULL_VALUES();",
    ],
    // Of objects, no encoding is passed on but the one that is given.
    ["encoding = state.defaultEncoding", "encoding = state.objectMode ? null : state.defaultEncoding"],
    [
      "if (!encoding) encoding = state.defaultEncoding\n    else if (encoding",
      "if (state.objectMode) {} else if (!encoding) encoding = state.defaultEncoding\n else if (encoding",
    ],
    [
      "if (typeof chunk === 'string') {",
      "$& if (encoding === 'buffer') throw new ERR_UNKNOWN_ENCODING(encoding);",
    ],
    [
      "this._writableState = new WritableState(options, this, isDuplex)",
      `this._events ??= { ${FIRST_EVENTS}, ${WRITE_EVENTS} }; $&`,
    ],
  ],
  duplex: [
    [
      "Readable.call(this, options)",
      `this._events ??= { ${FIRST_EVENTS}, ${WRITE_EVENTS}, ${READ_EVENTS} };
      this._readableState = undefined; this._writableState = undefined; this.allowHalfOpen = true; $&`,
    ],
  ],
};

/** Gives readable-stream the guest's own modules in place of the packages that it depends on. */
function streamParts(guestDir: string): Plugin {
  const parts = join(guestDir, "node", "streamParts.ts");
  const partOf = (name: string) => ({
    contents: `module.exports = require(${JSON.stringify(parts)}).streamParts[${JSON.stringify(name)}];`,
    resolveDir: guestDir,
  });
  return {
    name: "stream parts",
    setup(build) {
      build.onResolve(
        { filter: /^(?:events|buffer|process|string_decoder|abort-controller)\/?$/ },
        ({ path, importer }) =>
          importer.includes("readable-stream") ? { path: path.replace("/", ""), namespace: "part" } : null,
      );
      build.onLoad({ filter: /readable-stream\/lib\/internal\/streams\/\w+\.js$/ }, ({ path }) => {
        const name = basename(path, ".js");
        if (name === "buffer_list") return partOf("list");
        let contents = readFileSync(path, "utf8");
        for (const [from, to] of STREAM_CHANGES[name] ?? []) {
          if (!contents.includes(from)) throw new Error(`readable-stream's ${name} has changed: ${from}`);
          contents = contents.replace(from, to);
        }
        return { contents };
      });
      build.onLoad({ filter: /./, namespace: "part" }, ({ path }) => partOf(path));
    },
  };
}

/** Keeps `@exodus/bytes` from the source's `Buffer`, `atob`, `TextEncoder` and `TextDecoder`: it takes them for the platform's, but they are made of it. */
const ownBytes: Plugin = {
  name: "own bytes",
  setup(build) {
    const changes: readonly (readonly [from: RegExp, to: string])[] = [
      [
        /const \{ Buffer.*globalThis.*|const Buffer = .*globalThis\.Buffer.*/,
        "const Buffer = undefined, atob = undefined, btoa = undefined",
      ],
      [/let isNative = .*\n.*isNative = \(\) => false.*/, "const isNative = () => false"],
    ];
    build.onLoad(
      { filter: /@exodus\/bytes\/(?:base64|fallback\/_utils|fallback\/platform\.native)\.js$/ },
      ({ path }) => ({
        contents: changes.reduce((text, [from, to]) => text.replace(from, to), readFileSync(path, "utf8")),
      }),
    );
  },
};

/** Most memory of an instance of a compiler, in pages of 64 KiB: a hostile source fills it between two looks at the process's memory. */
const MAX_TYPES_PAGES = 1_024;
const MAX_DECORATORS_PAGES = 1_024;
/** How the compilers create their instance when they are loaded. */
const TYPES_START =
  /const \{ Buffer \} = require\('node:buffer'\);\s+const bytes = Buffer\.from\('([^']+)', 'base64'\);\s+const wasmModule = new WebAssembly\.Module\(bytes\);/;
const DECORATORS_START =
  /const path = require\('path'\).*\s+const bytes = require\('fs'\).*\s+const wasmModule = new WebAssembly\.Module\(bytes\);/;

/**
 * Makes `@swc/wasm-typescript` and `@swc/wasm`, which create their only instance when they are loaded, functions that create one at each
 * call. The WebAssembly, which is the function's argument, compressed to a quarter, is compiled at the first call.
 */
const compilerInstances: Plugin = {
  name: "compiler instances",
  setup(build) {
    build.onLoad({ filter: /@swc\/wasm(?:-typescript)?\/wasm\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const start = [TYPES_START, DECORATORS_START].find((pattern) => pattern.test(text));
      if (start === undefined) throw new Error(`${path} doesn't create its instance as expected`);
      const contents = `
        let wasmModule;
        module.exports = (program) => {
          const module = { exports: {} };
          wasmModule ??= new WebAssembly.Module(process.getBuiltinModule("node:zlib").zstdDecompressSync(program));
          ${text.replace(start, "")}
          return module.exports;
        };`;
      return { contents };
    });
  },
};

function compressCompiler(program: Buffer, maxPages: number): Buffer {
  return zstdCompressSync(limitMemory(program, maxPages));
}

/** Gives a WebAssembly module's memory a maximum, in pages of 64 KiB. */
function limitMemory(program: Buffer, maxPages: number): Buffer {
  const readNumber = (at: number): readonly [value: number, end: number] => {
    let value = 0;
    let end = at;
    for (let shift = 0; ; shift += 7) {
      const byte = program[end++] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) return [value, end];
    }
  };
  const toBytes = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...toBytes(value >>> 7)];
  for (let at = 8; at < program.length;) {
    const [size, start] = readNumber(at + 1);
    if (program[at] !== MEMORY_SECTION) {
      at = start + size;
      continue;
    }
    // One memory, without a maximum: `01 00 minimum`.
    const [minPages] = readNumber(start + 2);
    const section = [1, 1, ...toBytes(minPages), ...toBytes(maxPages)];
    return Buffer.concat([
      program.subarray(0, at),
      Buffer.from([MEMORY_SECTION, ...toBytes(section.length), ...section]),
      program.subarray(start + size),
    ]);
  }
  throw new Error("the compiler has no memory of its own");
}
const MEMORY_SECTION = 5;

const WRONG_THIS = /new TypeError\(`[^`]* can only be used on a \w+`\)/g;

/** Words the errors of web-streams-polyfill as Deno does, and hides its fields behind symbols, which it exports as `fields`. */
const streamPolyfill: Plugin = {
  name: "stream polyfill",
  setup(build) {
    build.onLoad({ filter: /web-streams-polyfill.*ponyfill\.m?js$/ }, ({ path }) => {
      let contents = wordStreams(readFileSync(path, "utf8")).replace(
        WRONG_THIS,
        'Object.assign(new TypeError("Illegal invocation"),{code:"ERR_INVALID_THIS"})',
      );
      const names = new Set<string>();
      const symbolOf = (name: string): string => {
        names.add(name);
        return `$${name}`;
      };
      contents = contents
        .replace(/(\?)?\.(_[a-zA-Z]\w{3,})\b/g, (_, maybe: string | undefined, name: string) =>
          maybe === undefined ? `[${symbolOf(name)}]` : `?.[${symbolOf(name)}]`,
        )
        .replace(/(["'])(_[a-zA-Z]\w{3,})\1/g, (_, _quote, name: string) => symbolOf(name))
        .replace(
          /([,{};])(_[a-zA-Z]\w{3,})(?=[:(])/g,
          (_, before: string, name: string) => `${before}[${symbolOf(name)}]`,
        );
      const symbols = [...names].map((name) => `${symbolOf(name)}=Symbol("${name.slice(1)}")`).join(",");
      const fields = [...names].map((name) => `${name.slice(1)}:${symbolOf(name)}`).join(",");
      return { contents: `const ${symbols};export const fields={${fields}};${contents}` };
    });
  },
};

/** Older builds are kept for a day: a process running from another checkout may still start children from them. */
function isOld(folder: string, name: string): boolean {
  const DAY_MS = 86_400_000;
  return Date.now() - statSync(join(folder, name)).mtimeMs > DAY_MS;
}

if (import.meta.main) await buildChild();
