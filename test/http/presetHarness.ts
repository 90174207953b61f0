import { DEFAULT_PRESETS_FOLDER } from "../../src/requests/presetFolder.ts";
import { readPresets } from "../../src/requests/presetTools.ts";
import { createExampleService } from "./exampleService.ts";
import { startHarness, type Harness } from "./harness.ts";

/** Starts the HTTP layer before an example service that has the built-in presets, so that `/openapi.json` describes them. */
export async function startPresetHarness(): Promise<Harness> {
  const presets = (await readPresets(DEFAULT_PRESETS_FOLDER)).map(({ preset }) => preset!);
  const service = createExampleService();
  const live = presets.map(({ definition, ...preset }) => ({
    ...preset,
    examples: [...definition.examples],
  }));
  Object.assign(service, { presets: () => live });
  return await startHarness({ more: { service } });
}
