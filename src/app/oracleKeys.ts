import { isEmbedded } from "./config/embeddedNetworkSchema.ts";
import type { Hex } from "viem";
import type { OracleIdentities, OracleIdentity } from "../networks/external/oracleIdentity.ts";
import { openDataDirectory } from "../store/dataDirectory.ts";
import type { OutsideSecret } from "../lib/outsideSecret.ts";
import type { Config } from "./config/configSchema.ts";
import { profileOfExternal } from "./externalNetworks.ts";
import { deriveOracleKeys, type OracleKeys } from "./networkKeys.ts";
import { StartError } from "./startError.ts";

/** Returns what an oracle shows of its keys. */
export function identityOfOracle(chainId: number, keys: OracleKeys): OracleIdentity {
  const { provingKey, vrfAccount, signers, transmitters } = keys;
  const { x, y } = provingKey.publicKey;
  const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
  return {
    chainId,
    vrf: {
      publicKey: [word(x), word(y)],
      keyHash: provingKey.keyHash,
      feeReceiver: vrfAccount.address,
    },
    functions: {
      signers: signers.map(({ address }) => address),
      transmitters: transmitters.map(({ address }) => address),
    },
  };
}

/**
 * Returns the public identity of the oracle whose keys are in a data directory, which is made where there is none.
 *
 * @param options.chainIds chains to return it for, besides those of the configuration that have nodes of their own.
 * @throws {StartError} when there is no such chain.
 */
export function readOracleKeys(options: {
  readonly dataDir: string;
  readonly masterKey: OutsideSecret | undefined;
  readonly config: Config;
  readonly chainIds: readonly number[];
}): OracleIdentities {
  const configured = Object.entries(options.config.networks).flatMap(([name, network]) =>
    isEmbedded(network) ? [] : [profileOfExternal(name, network).chainId],
  );
  const chainIds = [...new Set([...configured, ...options.chainIds])];
  if (chainIds.length === 0)
    throw new StartError("name a chain with --chain-id, or one with rpcUrls in the configuration");
  const directory = openDataDirectory(options.dataDir, { exclusive: false, masterKey: options.masterKey });
  const oracles = chainIds.map((id) => identityOfOracle(id, deriveOracleKeys(directory.masterKey, id)));
  directory.close();
  return { version: 1, oracles };
}
