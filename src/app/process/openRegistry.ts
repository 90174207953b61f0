import type { Logger } from "pino";
import type { SandboxPool } from "../../../sandbox/index.ts";
import { createLayeredRegistry } from "../../presets/layeredRegistry.ts";
import type { PresetRegistry } from "../../presets/presetRegistry.ts";
import { listPresetFolders } from "../../requests/accept/presetFolder.ts";
import type { PresetSource } from "../../requests/dispatch/sources.ts";
import type { ServedNetwork } from "../network/servedNetwork.ts";

/** Presets all belong to the operator: their examples run in contexts of one isolate, which a child process creates once. */
const PRESET_CHECKS = "presets";

/**
 * Opens the presets of a folder, or without one the shipped presets and those of the working directory. Logs each change, and stores the
 * source of a new or changed preset on every network that serves.
 */
export async function openRegistry(options: {
  readonly pluginsDir: string | undefined;
  readonly pool: Pick<SandboxPool, "run">;
  readonly networks: readonly ServedNetwork[];
  readonly log: Logger;
}): Promise<PresetRegistry> {
  const { pluginsDir, pool, networks, log } = options;
  const storeSource = (network: ServedNetwork, source: PresetSource): void => {
    network
      .intake()
      ?.storeSource(source)
      .catch((error: unknown) =>
        log.error({ err: error, network: network.profile.name }, "a preset's source could not be stored"),
      );
  };
  /** Names of presets that are not served. */
  const broken = new Set<string>();
  const registry = await createLayeredRegistry({
    folders: pluginsDir === undefined ? listPresetFolders() : [pluginsDir],
    run: async (request) => await pool.run({ ...request, group: PRESET_CHECKS }),
    onChange(change) {
      if (change.kind === "live") {
        const { name } = change.preset;
        // Whoever saw that it was broken wants to see that it is mended.
        if (broken.delete(name)) log.warn({ preset: name }, "preset served again");
        else log.info({ preset: name }, "preset live");
        for (const network of networks) storeSource(network, change.preset);
      } else {
        if (change.kind === "broken") broken.add(change.name);
        else broken.delete(change.name);
        log.warn(
          { preset: change.name, ...("problems" in change ? { problems: change.problems } : {}) },
          `preset ${change.kind}`,
        );
      }
    },
  });
  for (const problem of registry.problems()) {
    broken.add(problem.preset);
    log.warn({ problem }, "preset not served");
  }
  return registry;
}
