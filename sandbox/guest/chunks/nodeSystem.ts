import type { Internals } from "../internals.ts";
import { createSystem } from "../node/system.ts";

/** Node's modules of the system, a member each. */
export default function nodeSystemChunk(internals: Internals): Readonly<Record<string, unknown>> {
  return createSystem(internals);
}
