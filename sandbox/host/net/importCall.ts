import { HostCallRefusal, type HostCall } from "../hostCall.ts";
import { parseImportRequest, refusalOfImport } from "./importRequest.ts";
import type { ModuleLoader } from "./modules/moduleLoader.ts";

/**
 * Most that one run's modules may total, as a multiple of the longest: a child that asks but does not read fills this
 * process's memory.
 */
const MAX_TOTAL_LENGTHS = 2;

/**
 * Creates the host call of `import()` in sources, within the run's limits: at most `maxImports` modules, each bundle at
 * most `maxImportBytes` and twice that in total. A module that can't be loaded rejects with Deno's `TypeError`.
 */
export function createImportCall(loader: ModuleLoader): HostCall {
  return async (message, { limits, usage, signal, guard }) => {
    const request = parseImportRequest(message);
    const { specifier, type } = request;
    const reason = refusalOfImport(request);
    if (reason !== null) throw refusal(reason);
    const forbidden = guard?.refuseImport(specifier);
    if (forbidden !== undefined) throw refusal(`Import failed: ${forbidden}`);
    usage.imports += 1;
    if (usage.imports > limits.maxImports) throw refusal(`Exceeded maximum of ${limits.maxImports} imports`);
    usage.waitsFor = `${specifier} to be downloaded; the download continues, and a later run finds it`;
    const outcome = await untilAborted(loader.load(specifier, type === "" ? undefined : type), signal);
    usage.waitsFor = undefined;
    if (!outcome.ok) {
      usage.hint = outcome.failure.hint ?? usage.hint;
      throw refusal(outcome.failure.message);
    }
    if (outcome.code.length > limits.maxImportBytes) {
      throw refusal(
        `Import '${specifier}' failed: ${outcome.code.length} bytes, at most ${limits.maxImportBytes} are taken`,
      );
    }
    usage.importedBytes += outcome.code.length;
    if (usage.importedBytes > MAX_TOTAL_LENGTHS * limits.maxImportBytes)
      throw refusal(`Exceeded maximum of ${MAX_TOTAL_LENGTHS * limits.maxImportBytes} bytes of imports`);
    // Bundles are ASCII; the text is the cache's own, not a copy.
    return outcome.code;
  };
}

function refusal(message: string): HostCallRefusal {
  return new HostCallRefusal(message, "TypeError", "ERR_MODULE_NOT_FOUND");
}

/** Stops waiting when the run ends; the module is still prepared, and the next run finds it. */
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
