import { askContract, readOf } from "../../chainlink/contractRead.ts";
import type { BeaconTerms } from "../../beacon/drand.ts";
import { isAddressEqual, keccak256, stringToHex, type Hex } from "viem";
import { presetConsumerAbi } from "../../chainlink/contracts/abi.ts";
import { isPresetConsumer } from "../../chainlink/presetConsumerReads.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Fees } from "../../evm/fees.ts";
import { readPipelining } from "../../evm/pipelining.ts";
import { TycheError } from "../../lib/errors.ts";
import type { NetworkSource, NetworkTerms } from "../network.ts";
import type { NetworkProfile } from "../profiles.ts";
import { hasChainlinkVrf, type ContractsFile } from "./contractsFile.ts";
import { vrfOperatorsOf, type OracleIdentity } from "./oracleIdentity.ts";
import {
  assertChainId,
  connectExternal,
  readGenesis,
  REREAD_INTERVAL_MS,
  WrongChainError,
} from "./externalNode.ts";

/** Interval between polls for a new head when the node doesn't push heads. */
const POLL_INTERVAL_MS = 500;
/** A node behind a URL may lag; one that stays shorter for this long has been rolled back. */
const ROLLED_BACK_AFTER_MS = 15_000;

export interface ExternalSourceOptions {
  readonly profile: NetworkProfile;
  readonly rpcUrls: readonly string[];
  readonly contracts: ContractsFile;
  readonly fees: Fees;
  /** Allowance of each of a dapp's two subscriptions, in juels. */
  readonly allowanceJuels: bigint;
  /** Coin for a dapp's VRF subscription; absent when words are paid for in LINK. */
  readonly coinAllowanceWei?: bigint | undefined;
  /** What a dapp's subscriptions may be topped up with on a UTC day, in juels and wei. */
  readonly dailyBudget: NetworkTerms["dailyBudget"];
  /** The rounds of drand that presets may wait for. */
  readonly beacon?: BeaconTerms | undefined;
  /** Key hashes whose words presets join; absent when presets use a single key's. */
  readonly presetKeyHashes?: readonly Hex[] | undefined;
  /** Loads the operator's key, or connects to the signer that holds it. */
  readonly loadOperator: () => Promise<Account>;
}

/** Describes a network on a chain that others run: nodes by URL, contracts by file. */
export function createExternalSource(options: ExternalSourceOptions): NetworkSource {
  const { profile, contracts: file } = options;
  const { name: network, chainId } = profile;
  return {
    profile: { ...profile, functions: { ...profile.functions, donId: file.donId } },
    isEmbedded: false,
    terms: {
      minConfirmations: file.minConfirmations,
      finalityDepth: profile.finalityDepth,
      hasFinalizedTag: profile.hasFinalizedTag,
      allowanceJuels: options.allowanceJuels,
      coinAllowanceWei: options.coinAllowanceWei,
      dailyBudget: options.dailyBudget,
      pollIntervalMs: POLL_INTERVAL_MS,
      rolledBackAfterMs: ROLLED_BACK_AFTER_MS,
      rereadIntervalMs: REREAD_INTERVAL_MS,
      chainlinkCoordinator: hasChainlinkVrf(file) ? file.contracts.vrfCoordinator : undefined,
      hasEthereumBlocks: profile.hasEthereumBlocks,
      beacon: options.beacon,
    },
    keyHash: file.keyHash,
    ...(hasChainlinkVrf(file)
      ? {}
      : {
          vrfOperators: vrfOperatorsOf(file.oracle).map(({ keyHash, feeReceiver: address }) => ({
            keyHash,
            address,
          })),
        }),
    presetKeyHashes: options.presetKeyHashes,
    ...(profile.explorerUrl === undefined ? {} : { explorerUrl: profile.explorerUrl }),
    titles: namesIn(file.oracle),
    async open(known) {
      const client = connectExternal(options.rpcUrls, chainId);
      try {
        await assertChainId(client, { network, chainId });
        await assertDeployed(client, file);
        const operator = await options.loadOperator();
        await assertOperator(client, file, operator.address);
        const { blockMs, ...pipelining } = await readPipelining(client);
        const { contracts, keyHash, blockNumber, donId } = file;
        const identity = identityOf(chainId, file);
        return {
          client,
          deployment: { contracts, blockNumber, keyHash, chainId, title: profile.title, donId },
          identity,
          isNew: known?.identity !== identity,
          operator,
          fees: options.fees,
          pipelining,
          blockMs,
          findings: [],
          warnings: async () =>
            client
              .nodes()
              .flatMap(({ node, state, why }) =>
                state === "healthy" || state === "unchecked"
                  ? []
                  : [`node ${node} is ${state}: ${why ?? "it is behind the others"}`],
              ),
          close: () => client.close(),
        };
      } catch (error) {
        await client.close();
        throw error;
      }
    },
  };
}

/** @throws {WrongChainError} when the chain is not the one that the contracts were deployed on. */
export async function assertDeployed(
  client: Pick<ChainClient, "getHead" | "getCode">,
  { network, genesis, contracts }: Pick<ContractsFile, "network" | "genesis" | "contracts">,
): Promise<void> {
  if ((await readGenesis(client)) !== genesis)
    throw new WrongChainError(
      `the contracts of ${network} are on another chain with the same id: the hash of its block 0 is not ${genesis}`,
    );
  const code = await client.getCode(contracts.presetConsumer);
  if (isPresetConsumer(code)) return;
  throw new WrongChainError(
    `${contracts.presetConsumer}, the PresetConsumer of ${network}, ${code === "0x" ? "holds no code" : "is of another version of Tyche"}; deploy the contracts with \`tyche network deploy ${network}\``,
  );
}

/**
 * @throws {TycheError} `chain_unavailable` when the contracts accept requests only from another account: every transaction with requests would
 * revert.
 */
export async function assertOperator(
  client: Pick<ChainClient, "call">,
  { network, contracts }: Pick<ContractsFile, "network" | "contracts">,
  operator: Hex,
): Promise<void> {
  const read = readOf(presetConsumerAbi, "OPERATOR", []);
  const expected = await askContract(client, contracts.presetConsumer, read);
  if (!isAddressEqual(expected, operator))
    throw new TycheError(
      `networks.${network}.operatorKey is the key of ${operator}, but the contracts accept requests only from ${expected}; name that account's key`,
      { code: "chain_unavailable", blame: "caller" },
    );
}

/** Names the accounts of an oracle, as those of an embedded chain are named. */
function namesIn({ functions: { signers, transmitters }, ...oracle }: OracleIdentity): Record<Hex, string> {
  return Object.fromEntries([
    ...vrfOperatorsOf(oracle).map(({ feeReceiver }, i) => [
      feeReceiver,
      i === 0 ? "VRF node" : `VRF node ${i + 1}`,
    ]),
    ...signers.map((address, i) => [address, `Oracle node ${i + 1}, signer`]),
    ...transmitters.map((address, i) => [address, `Oracle node ${i + 1}, transmitter`]),
  ]);
}

/**
 * Identifies the chain together with the contracts on it: contracts that are deployed anew start a new journal. Private chains that begin
 * with the same block and deployer hold equal contracts, and differ in the chain id alone.
 */
export function identityOf(
  chainId: number,
  { genesis, contracts }: Pick<ContractsFile, "genesis" | "contracts">,
): string {
  const { vrfCoordinator, functionsRouter, subscriptionOwner, presetConsumer } = contracts;
  const parts = [genesis, vrfCoordinator, functionsRouter, subscriptionOwner, presetConsumer];
  return `${chainId}:${keccak256(stringToHex(parts.join(" ").toLowerCase()))}`;
}
