import { isEmbedded } from "../../config/embeddedNetworkSchema.ts";
import type { Hex } from "viem";
import type { OracleIdentities, OracleIdentity } from "../../networks/external/oracleIdentity.ts";
import type { OracleCards } from "../../networks/external/oracleCards.ts";
import { openDataDirectory } from "../../store/dataDirectory.ts";
import type { OutsideSecret } from "../../lib/outsideSecret.ts";
import type { Config } from "../../config/configSchema.ts";
import { profileOfExternal } from "../network/externalNetworks.ts";
import { deriveOracleKeys, type OracleKeys } from "../network/networkKeys.ts";
import {
  deriveNodeKeys,
  deriveVrfKeys,
  findOracleRole,
  saveOracleRole,
  type OracleRole,
} from "./oracleRole.ts";
import { StartError } from "../startError.ts";

/** Returns the public part of an oracle's keys. */
export function identityOfOracle(chainId: number, keys: OracleKeys): OracleIdentity {
  const { signers, transmitters, secretKeys } = keys;
  const [{ provingKey, vrfAccount }] = keys.vrf;
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
      secretKeys: {
        donPublicKey: secretKeys.donPublicKey,
        thresholdPublicKey: secretKeys.thresholdPublicKey,
      },
    },
  };
}

export interface ReadOracleKeysOptions {
  readonly dataDir: string;
  readonly masterKey: OutsideSecret | undefined;
  readonly config: Config;
  /** Additional chains that have nodes of their own, besides those in the configuration. */
  readonly chainIds: readonly number[];
  /** Part of the oracle to which this call assigns the data directory. Default: the part it already has, or all of it. */
  readonly role?: OracleRole | undefined;
}

/**
 * Returns the public identity of the oracle whose keys are in a data directory, which is created if it doesn't exist: its cards if
 * it has a role, otherwise the identity of an oracle with all keys.
 *
 * @throws {StartError} when there is no such chain, or the directory has another role.
 */
export function readOracleKeys(options: ReadOracleKeysOptions): OracleIdentities | OracleCards {
  const configured = Object.entries(options.config.networks).flatMap(([name, network]) =>
    isEmbedded(network) ? [] : [profileOfExternal(name, network).chainId],
  );
  const chainIds = [...new Set([...configured, ...options.chainIds])];
  if (chainIds.length === 0)
    throw new StartError("name a chain with --chain-id, or one with rpcUrls in the configuration");
  const directory = openDataDirectory(options.dataDir, { exclusive: false, masterKey: options.masterKey });
  try {
    const { masterKey } = directory;
    if (options.role !== undefined) saveOracleRole(directory, options.role);
    const role = findOracleRole(directory);
    if (role === undefined)
      return {
        version: 1,
        oracles: chainIds.map((id) => identityOfOracle(id, deriveOracleKeys(masterKey, id))),
      };
    const cards = chainIds.map((id) =>
      role.role === "node"
        ? deriveNodeKeys(masterKey, id).card(id, role.url)
        : deriveVrfKeys(masterKey, id).card(id),
    );
    return { version: 1, cards };
  } finally {
    directory.close();
  }
}
