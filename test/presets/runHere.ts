import type { RunSource } from "../../src/presets/preset.ts";

/**
 * Runs a source in this process, for the checks of the presets layer, which need some way to run it. Only for sources that these tests
 * wrote; the plugins' own tests run in the sandbox.
 */
export const runHere: RunSource = async ({ source, args, bytesArgs, limits }) => {
  try {
    const run = new AsyncFunction("args", "bytesArgs", "Functions", source);
    const bytes: Uint8Array = await run(args, bytesArgs, functions);
    if (bytes.length <= limits.maxResponseBytes) return { ok: true, bytes };
    return { ok: false, error: { message: `response >${limits.maxResponseBytes} bytes` } };
  } catch (error) {
    return { ok: false, error: { message: (error as Error).message, ...findPlace(error as Error) } };
  }
};

const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...values: unknown[]) => Promise<Uint8Array>;

const functions = {
  encodeUint256: (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex"),
  encodeInt256: (value: bigint) =>
    Buffer.from(BigInt.asUintN(256, value).toString(16).padStart(64, "0"), "hex"),
  encodeString: (value: string) => Buffer.from(value),
};

/** Finds the position of an error; V8 puts two lines of its own before the body of a constructed function. */
function findPlace(error: Error): { line?: number; column?: number } {
  const place = /<anonymous>:(\d+):(\d+)\)/.exec(error.stack ?? "");
  return place === null ? {} : { line: Number(place[1]) - 2, column: Number(place[2]) };
}
