import type { Internals } from "../internals.ts";
import { createSystem } from "../node/system.ts";

/** Node's system modules, one per member. */
export default function nodeSystemChunk(internals: Internals): Readonly<Record<string, unknown>> {
  return createSystem(internals);
}
