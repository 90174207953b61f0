import { concatBytes } from "viem";
import { createAccount, type Account } from "../../evm/account.ts";
import type { StackRoles } from "../../chainlink/stackPlan.ts";
import { deriveKey } from "../../lib/seal.ts";
import { createSecretKeys, type SecretKeys } from "../../secrets/secretKeys.ts";
import { createReportSigner, type ReportSigner } from "../../oracle/signer.ts";
import { createProvingKey, type ProvingKey } from "../../vrf/proof.ts";

/** Number of nodes of the oracle network for functions. */
const NODES = 4;

/** The keys of a VRF node. */
export interface VrfNodeKeys {
  readonly provingKey: ProvingKey;
  /** Sends the proofs. */
  readonly vrfAccount: Account;
}

/** Every key that signs on one network. */
export interface NetworkKeys {
  readonly deployer: Account;
  /** Sends the service's own transactions. */
  readonly operator: Account;
  /** One per VRF node; the first serves the requests that name no key hash. */
  readonly vrf: readonly [VrfNodeKeys, ...VrfNodeKeys[]];
  /** One per node of the functions network. */
  readonly signers: readonly ReportSigner[];
  readonly transmitters: readonly Account[];
  /** 48 bytes, from which the key of the local beacon follows. */
  readonly localBeaconSeed: Uint8Array;
  /** Opens callers' secrets. */
  readonly secretKeys: SecretKeys;
  /** Descriptions of the accounts, by address. */
  readonly titles: Readonly<Record<string, string>>;
}

/**
 * Derives a network's keys, each for one purpose; they are the same at every start.
 *
 * @param vrfKeys number of VRF nodes, each with its own key. Default 1.
 */
export function deriveNetworkKeys(masterKey: Uint8Array, network: string, vrfKeys = 1): NetworkKeys {
  const key = (purpose: string): Uint8Array => deriveKey(masterKey, `${purpose}/${network}`);
  const account = (purpose: string): Account => createAccount(key(purpose));
  const numbered = <T>(make: (i: number) => T, length = NODES): T[] =>
    Array.from({ length }, (_, i) => make(i));
  const deployer = account("deployer");
  const operator = account("operator");
  const signers = numbered((i) => createReportSigner(key(`signer ${i}`)));
  const transmitters = numbered((i) => account(`transmitter ${i}`));
  const vrfNode = (suffix: string): VrfNodeKeys => ({
    provingKey: createProvingKey(key(`vrf${suffix}`)),
    vrfAccount: account(`vrf sender${suffix}`),
  });
  const vrf = [vrfNode(""), ...numbered((i) => vrfNode(` ${i + 2}`), vrfKeys - 1)] as const;
  return {
    deployer,
    operator,
    vrf,
    signers,
    transmitters,
    localBeaconSeed: localBeaconSeed(masterKey, network),
    secretKeys: createSecretKeys({ don: key("secrets of the DON"), threshold: key("secrets threshold") }),
    titles: {
      [deployer.address]: "Deployer",
      [operator.address]: "Operator",
      ...Object.fromEntries(
        vrf.map(({ vrfAccount }, i) => [vrfAccount.address, i === 0 ? "VRF node" : `VRF node ${i + 1}`]),
      ),
      ...Object.fromEntries(signers.map(({ address }, i) => [address, `Oracle node ${i + 1}, signer`])),
      ...Object.fromEntries(
        transmitters.map(({ address }, i) => [address, `Oracle node ${i + 1}, transmitter`]),
      ),
    },
  };
}

/** Returns the 48 bytes from which the key of a network's local beacon follows. */
export function localBeaconSeed(masterKey: Uint8Array, network: string): Uint8Array {
  const keys = ["local beacon", "local beacon 2"].map((one) => deriveKey(masterKey, `${one}/${network}`));
  return concatBytes(keys).slice(0, 48);
}

/** The keys that sign for one network's oracle. */
export type OracleKeys = Pick<NetworkKeys, "vrf" | "signers" | "transmitters" | "secretKeys">;

/**
 * Derives the keys of an oracle that runs in its own process, one set per chain: signed reports don't include the chain's id, so no two
 * chains may share a key.
 */
export function deriveOracleKeys(masterKey: Uint8Array, chainId: number): OracleKeys {
  return deriveNetworkKeys(masterKey, `oracle of chain ${chainId}`);
}

/** Lists who plays which role in a network's contracts, for their deployment. */
export function rolesOf({ operator, vrf, signers, transmitters, secretKeys }: NetworkKeys): StackRoles {
  return {
    operator: operator.address,
    vrf: vrf.map(({ vrfAccount, provingKey: { publicKey } }) => ({
      oracle: vrfAccount.address,
      publicKey: [publicKey.x, publicKey.y],
    })),
    functions: {
      signers: signers.map((signer) => signer.address),
      transmitters: transmitters.map((one) => one.address),
      donPublicKey: secretKeys.donPublicKey,
      thresholdPublicKey: secretKeys.thresholdPublicKey,
    },
  };
}
