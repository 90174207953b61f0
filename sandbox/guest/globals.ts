/**
 * Globals compiled on first access: file in `sandbox/guest/chunks` (without `.ts`) → names it exports. A source that
 * uses none of them pays nothing. Kept as text: a table of 200 names would have to be built for every run.
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

/** Globals created with the global object itself, or modified along with it. */
export const windowGlobals: string =
  "console WebAssembly Window self global location onbeforeunload onerror onload onunhandledrejection onunload name closed close setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask addEventListener removeEventListener dispatchEvent";

/** The globals that `Object.keys(globalThis)` lists. */
export const enumerableGlobals: string =
  "Buffer Deno EventSource alert atob btoa caches clearImmediate clearInterval clearTimeout close closed confirm createImageBitmap crypto fetch global localStorage name navigator onbeforeunload onerror onload onunhandledrejection onunload performance process prompt queueMicrotask reportError self sessionStorage setImmediate setInterval setTimeout structuredClone";

/** Chunk that exports `console`, loaded once a call needs more than joining strings; `""` if there is none. */
export const consoleChunk: string = "console";
