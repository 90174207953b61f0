import type { CurveEngine } from "./curve.ts";
import { createNativeEngine } from "./nativeEngine.ts";
import { createWasmEngine } from "./wasmEngine.ts";

let engine: CurveEngine | undefined;

/** Returns the fastest curve engine this platform has: native libsecp256k1, or else WebAssembly. Chosen once. */
export function curveEngine(): CurveEngine {
  return (engine ??= createNativeEngine() ?? createWasmEngine());
}
