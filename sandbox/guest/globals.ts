/**
 * Globals that are compiled on first touch: file in `sandbox/guest/chunks` (without `.ts`) → names it exports.
 * A source that names none pays nothing for them. Kept as text: a table of 200 names would be made for every run.
 */
export const chunkGlobals: Readonly<Record<string, string>> = {
  text: "TextDecoder TextEncoder atob btoa",
  url: "URL URLSearchParams URLPattern",
  events:
    "DOMException QuotaExceededError Event EventTarget CustomEvent ErrorEvent MessageEvent CloseEvent ProgressEvent PromiseRejectionEvent AbortController AbortSignal",
  clone: "structuredClone MessageChannel MessagePort BroadcastChannel",
  streams:
    "ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableByteStreamController WritableStream WritableStreamDefaultWriter WritableStreamDefaultController TransformStream TransformStreamDefaultController ByteLengthQueuingStrategy CountQueuingStrategy TextDecoderStream TextEncoderStream CompressionStream DecompressionStream",
  file: "Blob File FileReader FormData",
  fetch: "Headers Request Response fetch",
  crypto: "Crypto CryptoKey SubtleCrypto crypto",
  buffer: "Buffer",
  platform:
    "Deno process Navigator navigator Performance PerformanceEntry PerformanceMark PerformanceMeasure performance Worker WebSocket EventSource Storage localStorage sessionStorage caches createImageBitmap alert confirm prompt reportError DOMMatrix DOMMatrixReadOnly DOMPoint DOMPointReadOnly DOMQuad DOMRect DOMRectReadOnly ImageData ImageBitmap PerformanceObserver PerformanceObserverEntryList OffscreenCanvas ImageBitmapRenderingContext GPU GPUAdapter GPUAdapterInfo GPUBuffer GPUBufferUsage GPUCanvasContext GPUColorWrite GPUCommandBuffer GPUCommandEncoder GPUCompilationInfo GPUCompilationMessage GPUComputePassEncoder GPUComputePipeline GPUDevice GPUDeviceLostInfo GPUError GPUBindGroup GPUBindGroupLayout GPUInternalError GPUPipelineError GPUUncapturedErrorEvent GPUPipelineLayout GPUQueue GPUQuerySet GPUMapMode GPUOutOfMemoryError GPURenderBundle GPURenderBundleEncoder GPURenderPassEncoder GPURenderPipeline GPUSampler GPUShaderModule GPUShaderStage GPUSupportedFeatures GPUSupportedLimits GPUTexture GPUTextureView GPUTextureUsage GPUValidationError Lock LockManager Location NavigatorUAData CacheStorage Cache",
};

/** Globals that are made with the global object itself, or changed with it. */
export const windowGlobals: string =
  "console WebAssembly Window self global location onbeforeunload onerror onload onunhandledrejection onunload name closed close setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask addEventListener removeEventListener dispatchEvent";

/** Those of the globals that `Object.keys(globalThis)` lists. */
export const enumerableGlobals: string =
  "Buffer Deno EventSource alert atob btoa caches clearImmediate clearInterval clearTimeout close closed confirm createImageBitmap crypto fetch global localStorage name navigator onbeforeunload onerror onload onunhandledrejection onunload performance process prompt queueMicrotask reportError self sessionStorage setImmediate setInterval setTimeout structuredClone";

/** Chunk that exports `console`, used once a call needs more than joining strings; `""` while there is none. */
export const consoleChunk: string = "console";

/**
 * Modules that `import()` finds without asking the host: specifier, e.g. `node:buffer`, → chunk whose exports are
 * the module's, `default` among them, or `chunk#member` where a member of the chunk's exports holds them.
 */
export const nodeModules: Readonly<Record<string, string>> = bothWays({
  assert: "node#assert",
  "assert/strict": "node#assertStrict",
  async_hooks: "node#asyncHooks",
  buffer: "buffer",
  child_process: "nodeSystem#childProcess",
  crypto: "nodeCrypto",
  diagnostics_channel: "nodeSystem#diagnosticsChannel",
  dns: "nodeSystem#dns",
  events: "node#events",
  fs: "nodeSystem#fs",
  "fs/promises": "nodeSystem#fsPromises",
  http: "nodeSystem#http",
  https: "nodeSystem#http",
  module: "nodeSystem#module",
  net: "nodeSystem#net",
  os: "nodeSystem#os",
  path: "node#path",
  "path/posix": "node#path",
  perf_hooks: "node#perfHooks",
  process: "nodeSystem#process",
  punycode: "node#punycode",
  querystring: "node#querystring",
  stream: "node#stream",
  "stream/promises": "node#streamPromises",
  "stream/web": "node#streamWeb",
  string_decoder: "node#stringDecoder",
  timers: "node#timers",
  "timers/promises": "node#timersPromises",
  tls: "nodeSystem#net",
  tty: "nodeSystem#tty",
  url: "node#url",
  util: "node#util",
  "util/types": "node#utilTypes",
  vm: "nodeSystem#vm",
  worker_threads: "nodeSystem#worker",
  zlib: "node#zlib",
});

/** Node's modules have two names, with `node:` and without. */
function bothWays(modules: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(modules).flatMap(([name, chunk]) => [
      [name, chunk],
      [`node:${name}`, chunk],
    ]),
  );
}
