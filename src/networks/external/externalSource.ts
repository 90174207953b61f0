import {
  decodeFunctionResult,
  encodeFunctionData,
  isAddressEqual,
  keccak256,
  stringToHex,
  type Hex,
} from "viem";
import { presetConsumerAbi } from "../../chainlink/contracts/abi.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Fees } from "../../evm/fees.ts";
import { readPipelining } from "../../evm/pipelining.ts";
import { TycheError } from "../../lib/errors.ts";
import type { NetworkSource } from "../network.ts";
import { MAX_RESPONSE_BYTES, type NetworkProfile } from "../profiles.ts";
import { hasChainlinkVrf, type ContractsFile } from "./contractsFile.ts";
import { vrfOperatorsOf } from "./oracleIdentity.ts";
import { assertChainId, connectExternal, readGenesis, WrongChainError } from "./externalNode.ts";

/** Between looks for a new head where the node doesn't push them. */
const POLL_INTERVAL_MS = 500;
/** A node behind a URL may lag; one that is shorter for so long has gone back. */
const ROLLED_BACK_AFTER_MS = 15_000;

/** Options of {@link createExternalSource}. */
export interface ExternalSourceOptions {
  readonly profile: NetworkProfile;
  readonly rpcUrls: readonly string[];
  readonly contracts: ContractsFile;
  readonly fees: Fees;
  /** What each of a dapp's two subscriptions is given, in juels. */
  readonly allowanceJuels: bigint;
  /** Coin that a dapp's subscription for random words is given; absent where words are paid for in LINK. */
  readonly coinAllowanceWei?: bigint | undefined;
  /** Key hashes whose words presets join; absent where presets use one key's. */
  readonly presetKeyHashes?: readonly Hex[] | undefined;
  /** Reads the operator's key, or asks the signer that holds it. */
  readonly loadOperator: () => Promise<Account>;
}

/** Describes a network whose chain others run: nodes by URL, contracts by file. */
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
      maxResponseBytes: MAX_RESPONSE_BYTES.own,
      allowanceJuels: options.allowanceJuels,
      coinAllowanceWei: options.coinAllowanceWei,
      pollIntervalMs: POLL_INTERVAL_MS,
      rolledBackAfterMs: ROLLED_BACK_AFTER_MS,
      chainlinkCoordinator: hasChainlinkVrf(file) ? file.contracts.vrfCoordinator : undefined,
      hasEthereumBlocks: profile.hasEthereumBlocks,
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
    titles: {},
    async open(known) {
      const client = connectExternal(options.rpcUrls, chainId);
      try {
        await assertChainId(client, { network, chainId });
        await assertDeployed(client, file);
        const operator = await options.loadOperator();
        await assertOperator(client, file, operator.address);
        const pipelining = await readPipelining(client);
        const { contracts, keyHash, blockNumber, donId } = file;
        const identity = identityOf(file);
        return {
          client,
          deployment: { contracts, blockNumber, keyHash, chainId, title: profile.title, donId },
          identity,
          isNew: known?.identity !== identity,
          operator,
          fees: options.fees,
          pipelining,
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

/** @throws {WrongChainError} when the chain is another one than the contracts were deployed on. */
export async function assertDeployed(
  client: Pick<ChainClient, "getHead" | "getCode">,
  { network, genesis, contracts }: Pick<ContractsFile, "network" | "genesis" | "contracts">,
): Promise<void> {
  if ((await readGenesis(client)) !== genesis)
    throw new WrongChainError(
      `the contracts of ${network} are on another chain with the same id: the hash of its block 0 is not ${genesis}`,
    );
  if ((await client.getCode(contracts.presetConsumer)) === "0x")
    throw new WrongChainError(
      `${contracts.presetConsumer}, the PresetConsumer of ${network}, holds no code; deploy the contracts with \`tyche network deploy ${network}\``,
    );
}

/** @throws {WrongOperatorError} when the contracts take requests of another account: each transaction with requests would revert. */
export async function assertOperator(
  client: Pick<ChainClient, "call">,
  { network, contracts }: Pick<ContractsFile, "network" | "contracts">,
  operator: Hex,
): Promise<void> {
  const call = { abi: presetConsumerAbi, functionName: "OPERATOR" } as const;
  const data = await client.call({ to: contracts.presetConsumer, data: encodeFunctionData(call) });
  const expected = decodeFunctionResult({ ...call, data });
  if (!isAddressEqual(expected, operator)) throw new WrongOperatorError(network, expected, operator);
}

/** The chain and the contracts on it: those deployed anew begin a new journal. */
function identityOf({ genesis, contracts }: ContractsFile): Hex {
  const { vrfCoordinator, functionsRouter, subscriptionOwner, presetConsumer } = contracts;
  const parts = [genesis, vrfCoordinator, functionsRouter, subscriptionOwner, presetConsumer];
  return keccak256(stringToHex(parts.join(" ").toLowerCase()));
}

/** The key that the configuration names is not the one that the contracts were deployed for. */
export class WrongOperatorError extends TycheError {
  constructor(network: string, expected: Hex, found: Hex) {
    super(
      `networks.${network}.operatorKey is the key of ${found}, and the contracts take requests of ${expected} alone; name that account's key`,
      { code: "chain_unavailable", blame: "caller" },
    );
  }
}
