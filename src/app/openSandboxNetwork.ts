import { createSandboxNetwork, SandboxOptionError } from "../../sandbox/index.ts";
import type { SandboxNetwork } from "../../sandbox/index.ts";
import type { DataDirectory } from "../store/dataDirectory.ts";
import type { Config } from "./config/configSchema.ts";
import { StartError } from "./startError.ts";

/** Opens what sources reach. Throws {@link StartError} with the variable that lists a host or module which can't be allowed. */
export function openSandboxNetwork(
  { allowHosts, allowModules }: Config["sandbox"],
  directory: DataDirectory,
): SandboxNetwork {
  try {
    return createSandboxNetwork({ allowHosts, allowModules, dataDir: directory.path });
  } catch (error) {
    if (!(error instanceof SandboxOptionError)) throw error;
    // Whoever starts the service wrote it into the environment.
    const { option, entry, expected } = error.details;
    const variable = option === "allowHosts" ? "TYCHE_ALLOW_HOSTS" : "TYCHE_ALLOW_MODULES";
    throw new StartError(`${variable}: ${JSON.stringify(entry)} can't be used: ${expected}`, error);
  }
}
