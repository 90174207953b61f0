import { DEFAULT_PRESETS_FOLDER } from "../../src/requests/accept/presetFolder.ts";
import { readPresetFolder } from "../../src/app/tools/presetTools.ts";
import { createExampleService } from "./exampleService.ts";
import { startHarness, type Harness } from "./harness.ts";

/** Starts the HTTP layer in front of an example service that has the built-in presets, so that `/openapi.json` describes them. */
export async function startPresetHarness(): Promise<Harness> {
  const presets = (await readPresetFolder(DEFAULT_PRESETS_FOLDER)).map(({ preset }) => preset!);
  const service = createExampleService();
  const live = presets.map(({ definition, ...preset }) => ({
    ...preset,
    examples: [...definition.examples],
  }));
  Object.assign(service, { presets: () => live });
  return await startHarness({ more: { service } });
}
