import { buildChild } from "./build.ts";
import { createChildLauncher } from "./launch.ts";
import { acceptedByEnvironment } from "./layers.ts";
import { createPool } from "./pool.ts";
import type { SandboxPool, SandboxPoolOptions } from "./poolTypes.ts";

/**
 * Creates a pool and starts its children: one for each quick source at once, and a warm spare.
 * @throws {MissingLayersError} `sandbox_layers_missing` if children can't be contained as promised.
 */
export function createSandboxPool(options: SandboxPoolOptions = {}): SandboxPool {
  const launcher = createChildLauncher({ acceptMissing: options.acceptMissing ?? acceptedByEnvironment() });
  for (const warning of launcher.containment.warnings) options.onWarning?.(warning);
  return createPool(options, { launcher, build: buildChild });
}
