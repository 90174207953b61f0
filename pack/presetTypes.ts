/** Writes `src/client/presets.ts`: the types of the presets that Tyche brings, as `tyche client generate` does for a service's. Usage: `npm run types` */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describePresets } from "../src/client/describePresets.ts";
import { loadPresets } from "../src/presets/presetNames.ts";

const ROOT = path.resolve(import.meta.dirname, "..");

/** Returns the source of the types. */
export async function describeOwnPresets(): Promise<string> {
  const presets = await loadPresets([path.join(ROOT, "plugins")]);
  return describePresets(presets, "./types.ts");
}

if (import.meta.main) writeFileSync(path.join(ROOT, "src/client/presets.ts"), await describeOwnPresets());
