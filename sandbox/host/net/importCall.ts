import { HostCallRefusal } from "../hostCall.ts";
import type { HostCall } from "../hostCall.ts";
import type { ModuleLoader } from "./modules/moduleLoader.ts";

/**
 * Makes a module loader what `import()` in sources asks, within the run's limits: at most `maxImports` modules,
 * each bundle at most `maxImportBytes`. A module that can't be had rejects with Deno's `TypeError`.
 */
export function createImportCall(loader: ModuleLoader): HostCall {
  return async (message, { limits, usage, signal }) => {
    const { specifier, type } = parseImportRequest(message);
    usage.imports += 1;
    if (usage.imports > limits.maxImports) throw refusal(`Exceeded maximum of ${limits.maxImports} imports`);
    const outcome = await untilAborted(loader.load(specifier, type === "" ? undefined : type), signal);
    if (!outcome.ok) {
      usage.hint = outcome.failure.hint ?? usage.hint;
      throw refusal(outcome.failure.message);
    }
    if (outcome.code.length > limits.maxImportBytes) {
      throw refusal(
        `Import '${specifier}' failed: ${outcome.code.length} bytes, at most ${limits.maxImportBytes} are taken`,
      );
    }
    // Bundles are ASCII.
    return Buffer.from(outcome.code, "latin1");
  };
}

function refusal(message: string): HostCallRefusal {
  return new HostCallRefusal(message, "TypeError", "ERR_MODULE_NOT_FOUND");
}

function parseImportRequest(message: Uint8Array): { readonly specifier: string; readonly type: string } {
  let request: unknown;
  try {
    request = JSON.parse(Buffer.from(message).toString());
  } catch {
    throw new HostCallRefusal("malformed host call");
  }
  const { specifier, type } = (request ?? {}) as { specifier?: unknown; type?: unknown };
  if (typeof specifier !== "string" || typeof type !== "string")
    throw new HostCallRefusal("malformed host call");
  return { specifier, type };
}

/** The module goes on being prepared when the run ends: the next run finds it. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const onAbort = (): void => ended.reject(new HostCallRefusal("The run has ended"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, ended.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
