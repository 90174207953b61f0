import { createSandboxNetwork, SandboxOptionError, type SandboxNetwork } from "../../../sandbox/index.ts";
import type { DataDirectory } from "../../store/dataDirectory.ts";
import type { Config } from "../../config/configSchema.ts";
import { StartError } from "../startError.ts";

/**
 * Opens the network that sources can reach. Throws {@link StartError}, naming the variable, for a listed host or module that
 * can't be allowed.
 */
export function openSandboxNetwork(
  { allowHosts, allowModules }: Config["sandbox"],
  directory: DataDirectory,
): SandboxNetwork {
  try {
    return createSandboxNetwork({ allowHosts, allowModules, dataDir: directory.path });
  } catch (error) {
    if (!(error instanceof SandboxOptionError)) throw error;
    // The entry comes from the environment, so the error names the variable.
    const { option, entry, expected } = error.details;
    const variable = option === "allowHosts" ? "TYCHE_ALLOW_HOSTS" : "TYCHE_ALLOW_MODULES";
    throw new StartError(`${variable}: ${JSON.stringify(entry)} can't be used: ${expected}`, error);
  }
}
