import { showValuesWith } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { createDeno } from "../platform/deno.ts";
import { createPerformance } from "../platform/performance.ts";
import { createProcess } from "../platform/process.ts";
import { string } from "../convert.ts";
import { exposeInterface, printGetters, requireArguments } from "../webIdl.ts";

/** Classes that exist on the nodes but make no sense in a function: they can be named but not constructed. */
const ABSENT =
  "DOMMatrix DOMMatrixReadOnly DOMPoint DOMPointReadOnly DOMQuad DOMRect DOMRectReadOnly ImageData ImageBitmap OffscreenCanvas ImageBitmapRenderingContext GPU GPUAdapter GPUAdapterInfo GPUBuffer GPUBufferUsage GPUCanvasContext GPUColorWrite GPUCommandBuffer GPUCommandEncoder GPUCompilationInfo GPUCompilationMessage GPUComputePassEncoder GPUComputePipeline GPUDevice GPUDeviceLostInfo GPUError GPUBindGroup GPUBindGroupLayout GPUInternalError GPUPipelineError GPUUncapturedErrorEvent GPUPipelineLayout GPUQueue GPUQuerySet GPUMapMode GPUOutOfMemoryError GPURenderBundle GPURenderBundleEncoder GPURenderPassEncoder GPURenderPipeline GPUSampler GPUShaderModule GPUShaderStage GPUSupportedFeatures GPUSupportedLimits GPUTexture GPUTextureView GPUTextureUsage GPUValidationError Lock LockManager Location NavigatorUAData CacheStorage Cache".split(
    " ",
  );

/** The remaining members of Deno's global object. */
export default function platformChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load, setTimeout, exception } = internals;
  showValuesWith(load);
  const events = load("events") as {
    readonly EventTarget: new () => { dispatchEvent(event: object): boolean };
    readonly Event: new (type: string) => object;
    readonly CloseEvent: new (type: string, init: object) => object;
    readonly handlerAttribute: (prototype: object, type: string) => void;
  };
  const illegal = (name: string): unknown =>
    ({
      [name]: class {
        constructor() {
          throw new TypeError("Illegal constructor");
        }
      },
    })[name];
  const absent = Object.fromEntries(ABSENT.map((name) => [name, illegal(name)]));

  class NavigatorUAData {
    get brands(): object[] {
      return [{ brand: "Deno", version: "2" }];
    }
    get mobile(): boolean {
      return false;
    }
    get platform(): string {
      return "Linux";
    }
    toJSON(): object {
      const { brands, mobile, platform } = this;
      return { brands, mobile, platform };
    }
  }
  printGetters(NavigatorUAData, ["brands", "mobile", "platform"]);
  const userAgentData = new NavigatorUAData();
  class Navigator {
    get hardwareConcurrency(): number {
      return 1;
    }
    get userAgent(): string {
      return "Deno/2.9.6";
    }
    get language(): string {
      return "en-US";
    }
    get languages(): string[] {
      return ["en-US"];
    }
    get platform(): string {
      return "Linux x86_64";
    }
    get userAgentData(): object {
      return userAgentData;
    }
  }
  printGetters(
    Navigator,
    "hardwareConcurrency userAgent language languages platform userAgentData".split(" "),
  );

  class Worker {
    constructor() {
      throw exception("Classic workers are not supported.", "NotSupportedError");
    }
  }

  /** A connection that always fails: sources reach the network only through requests. */
  class Unconnected extends events.EventTarget {
    readonly #url: string;
    #state = 0;
    constructor(url: unknown) {
      super();
      const { URL } = load("url") as { URL: new (url: string) => { href: string } };
      this.#url = new URL(string(url)).href;
      setTimeout(() => {
        this.#state = 3;
        this.dispatchEvent(new events.Event("error"));
        this.dispatchEvent(new events.CloseEvent("close", { code: 1006, reason: "" }));
      }, 0);
    }
    get url(): string {
      return this.#url;
    }
    get readyState(): number {
      return this.#state;
    }
    send(): void {
      throw exception("'readyState' not OPEN", "InvalidStateError");
    }
    close(): void {
      this.#state = 3;
    }
  }
  class WebSocket extends Unconnected {}
  class EventSource extends Unconnected {}
  for (const type of [WebSocket, EventSource]) {
    for (const name of ["open", "message", "error", "close"]) events.handlerAttribute(type.prototype, name);
  }

  class Storage {
    #items = new Map<string, string>();
    get length(): number {
      return this.#items.size;
    }
    key(at: unknown): string | null {
      return [...this.#items.keys()][Number(at)] ?? null;
    }
    getItem(key: unknown): string | null {
      return this.#items.get(string(key)) ?? null;
    }
    setItem(key: unknown, value: unknown): void {
      this.#items.set(string(key), string(value));
    }
    removeItem(key: unknown): void {
      this.#items.delete(string(key));
    }
    clear(): void {
      this.#items.clear();
    }
  }
  /** Creates a storage whose items are properties too. */
  function createStorage(): object {
    const storage = new Storage();
    const isOwn = (key: PropertyKey): key is string => typeof key === "string" && !(key in Storage.prototype);
    return new Proxy(storage, {
      get: (_, key) => {
        if (isOwn(key)) return storage.getItem(key) ?? undefined;
        const member: unknown = Reflect.get(storage, key, storage);
        return typeof member === "function" ? member.bind(storage) : member;
      },
      set: (_, key, value) => {
        if (isOwn(key)) storage.setItem(key, value);
        return true;
      },
      has: (_, key) => key in Storage.prototype || (isOwn(key) && storage.getItem(key) !== null),
      deleteProperty: (_, key) => {
        if (isOwn(key)) storage.removeItem(key);
        return true;
      },
      ownKeys: () => Array.from({ length: storage.length }, (_, at) => storage.key(at) as string),
      getOwnPropertyDescriptor: (_, key) =>
        isOwn(key) && storage.getItem(key) !== null
          ? { value: storage.getItem(key), writable: true, enumerable: true, configurable: true }
          : undefined,
    });
  }
  for (const type of [Worker, WebSocket, EventSource, Storage]) exposeInterface(type);
  const performance = createPerformance(internals);
  const unsupported = (name: string) => (): Promise<never> =>
    Promise.reject(exception(`${name} is not available here`, "NotSupportedError"));
  let process: object | undefined;
  return {
    ...absent,
    ...performance,
    Deno: createDeno(internals),
    get process() {
      return (process ??= createProcess(internals));
    },
    Navigator,
    navigator: new Navigator(),
    Worker,
    WebSocket,
    EventSource,
    Storage,
    localStorage: createStorage(),
    sessionStorage: createStorage(),
    caches: {
      open: unsupported("Cache storage"),
      has: unsupported("Cache storage"),
      delete: unsupported("Cache storage"),
    },
    createImageBitmap: unsupported("createImageBitmap"),
    alert: (..._message: unknown[]): void => {},
    confirm: (..._message: unknown[]): boolean => false,
    prompt: (..._message: unknown[]): null => null,
    reportError(error: unknown): void {
      requireArguments(arguments.length, 1, "Failed to execute 'reportError'");
      if ((load("events")["isHandled"] as (error: unknown) => boolean)(error)) return;
      internals.exit(1);
      throw error;
    },
  };
}
