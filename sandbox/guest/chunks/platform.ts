import { showValuesWith } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { createDeno } from "../platform/deno.ts";
import { createImageData } from "../platform/imageData.ts";
import { createPerformance } from "../platform/performance.ts";
import { createProcess } from "../platform/process.ts";
import { createSockets } from "../platform/sockets.ts";
import { string } from "../convert.ts";
import {
  exposeInterface,
  illegalConstructor,
  illegalInvocation,
  printGetters,
  printWith,
  requireArguments,
  requireCount,
} from "../webIdl.ts";

/** Classes that exist on the nodes but make no sense in a function: they can be named but not constructed. */
const ABSENT =
  "DOMMatrix DOMMatrixReadOnly DOMPoint DOMPointReadOnly DOMQuad DOMRect DOMRectReadOnly ImageBitmap OffscreenCanvas ImageBitmapRenderingContext GPU GPUAdapter GPUAdapterInfo GPUBuffer GPUBufferUsage GPUCanvasContext GPUColorWrite GPUCommandBuffer GPUCommandEncoder GPUCompilationInfo GPUCompilationMessage GPUComputePassEncoder GPUComputePipeline GPUDevice GPUDeviceLostInfo GPUError GPUBindGroup GPUBindGroupLayout GPUInternalError GPUPipelineError GPUUncapturedErrorEvent GPUPipelineLayout GPUQueue GPUQuerySet GPUMapMode GPUOutOfMemoryError GPURenderBundle GPURenderBundleEncoder GPURenderPassEncoder GPURenderPipeline GPUSampler GPUShaderModule GPUShaderStage GPUSupportedFeatures GPUSupportedLimits GPUTexture GPUTextureView GPUTextureUsage GPUValidationError Lock LockManager Location CacheStorage Cache".split(
    " ",
  );

/** Whoever has it may construct what sources may not. */
const SECRET = {};

/** Members of those classes, as far as a source may meet them. */
const MEMBERS: Readonly<Record<string, string>> = {
  Cache: "put match delete keys",
  CacheStorage: "open has delete keys match",
  LockManager: "request query",
};

/** The remaining members of Deno's global object. */
export default function platformChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load, exception } = internals;
  showValuesWith(load);
  const events = load("events") as {
    readonly EventTarget: new () => { dispatchEvent(event: object): boolean };
    readonly Event: new (type: string) => object;
    readonly CloseEvent: new (type: string, init: object) => object;
    readonly handlerAttribute: (prototype: object, type: string) => void;
  };
  const unsupported = (name: string) => (): Promise<never> =>
    Promise.reject(exception(`${name} is not available here`, "NotSupportedError"));
  const illegal = (name: string): { readonly prototype: object } => {
    const type = {
      [name]: class {
        constructor() {
          throw /^(?:Cache|Lock)/.test(name) ? illegalConstructor() : new TypeError("Illegal constructor");
        }
      },
    }[name] as { readonly prototype: object };
    for (const member of MEMBERS[name]?.split(" ") ?? []) {
      const value = { [member]: unsupported(name) }[member];
      Object.defineProperty(type.prototype, member, { value, writable: true, configurable: true });
    }
    if (/^(?:Cache|Lo|DOM)/.test(name))
      Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
    return type;
  };
  const absent = Object.fromEntries(ABSENT.map((name) => [name, illegal(name)]));

  class NavigatorUAData {
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw illegalConstructor();
    }
    get brands(): object[] {
      return [{ brand: "Deno", version: "2" }];
    }
    get mobile(): boolean {
      return false;
    }
    get platform(): string {
      return "Linux";
    }
    getHighEntropyValues(_hints: unknown): Promise<object> {
      return Promise.resolve(this.toJSON());
    }
    toJSON(): object {
      const { brands, mobile, platform } = this;
      return { brands, mobile, platform };
    }
  }
  printGetters(NavigatorUAData, ["brands", "mobile", "platform"]);
  const values: Readonly<Record<string, unknown>> = {
    gpu: Object.create((absent["GPU"] as { readonly prototype: object }).prototype),
    hardwareConcurrency: 1,
    userAgent: "Deno/2.9.6",
    language: "en-US",
    languages: ["en-US"],
    locks: Object.create((absent["LockManager"] as { readonly prototype: object }).prototype),
    platform: "Linux x86_64",
    userAgentData: new NavigatorUAData(SECRET),
  };
  class Navigator {
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw illegalConstructor();
    }
  }
  for (const name of Object.keys(values))
    Object.defineProperty(Navigator.prototype, name, {
      get() {
        if (!(this instanceof Navigator)) throw illegalInvocation();
        return values[name];
      },
      enumerable: true,
      configurable: true,
    });
  for (const type of [Navigator, NavigatorUAData])
    Object.defineProperty(type, "length", { value: 0, configurable: true });
  printGetters(
    Navigator,
    "hardwareConcurrency userAgent language languages platform userAgentData".split(" "),
  );

  class Worker extends events.EventTarget {
    constructor(...[_specifier]: [unknown?]) {
      super();
      throw exception("Classic workers are not supported.", "NotSupportedError");
    }
    postMessage(_message: unknown): void {}
    terminate(): void {}
  }
  for (const name of ["error", "message", "messageerror"]) events.handlerAttribute(Worker.prototype, name);
  Object.defineProperty(Worker, "length", { value: 1, configurable: true });

  const arity = (given: number, required: number): void =>
    requireCount(given, required, "Failed to execute 'call' on 'Storage'");
  class Storage {
    #items = new Map<string, string>();
    get length(): number {
      return this.#items.size;
    }
    key(at: unknown): string | null {
      arity(arguments.length, 1);
      if (typeof at !== "number") throw new TypeError("expected i32");
      return [...this.#items.keys()][at] ?? null;
    }
    setItem(key: unknown, value: unknown): null {
      arity(arguments.length, 2);
      this.#items.set(string(key), string(value));
      return null;
    }
    getItem(key: unknown): string | null {
      arity(arguments.length, 1);
      return this.#items.get(string(key)) ?? null;
    }
    removeItem(key: unknown): null {
      arity(arguments.length, 1);
      this.#items.delete(string(key));
      return null;
    }
    clear(): null {
      this.#items.clear();
      return null;
    }
  }
  Object.defineProperty(Storage, "length", { value: 1, configurable: true });
  exposeInterface(Storage);
  delete (Storage.prototype as { [Symbol.toStringTag]?: string })[Symbol.toStringTag];
  /** Creates a storage whose items are properties too. */
  function createStorage(): object {
    const storage = new Storage();
    printWith(
      storage,
      (self, inspect, options) => `Storage ${inspect({ ...proxy, length: self.length }, options)}`,
    );
    const isOwn = (key: PropertyKey): key is string => typeof key === "string" && !(key in Storage.prototype);
    const proxy: object = new Proxy(storage, {
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
    return proxy;
  }
  const performance = createPerformance(internals);
  let process: object | undefined;
  let deno: object | undefined;
  return {
    ...absent,
    ...performance,
    get Deno() {
      return (deno ??= createDeno(internals));
    },
    get hasProcess() {
      return process !== undefined;
    },
    get process() {
      return (process ??= createProcess(internals));
    },
    ImageData: createImageData(exception),
    Navigator,
    NavigatorUAData,
    navigator: new Navigator(SECRET),
    Worker,
    ...createSockets(internals, events),
    Storage,
    localStorage: createStorage(),
    sessionStorage: createStorage(),
    caches: Object.create((absent["CacheStorage"] as { readonly prototype: object }).prototype) as object,
    createImageBitmap: function createImageBitmap(..._image: unknown[]): Promise<never> {
      return unsupported("createImageBitmap")();
    },
    alert: function (..._message: unknown[]): void {},
    confirm: function (..._message: unknown[]): boolean {
      return false;
    },
    prompt: function (..._message: unknown[]): null {
      return null;
    },
    reportError: function (error: unknown): void {
      requireArguments(arguments.length, 1, "Failed to execute 'reportError'");
      const { isHandled } = load("events") as { isHandled: (error: unknown, isReported: boolean) => boolean };
      if (!isHandled(error, true)) internals.exit(1, error);
    },
  };
}
