import { existsSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatGwei, type Hex, getContractAddress } from "viem";
import { DeploymentError } from "../../chainlink/deploy.ts";
import {
  planDeployment,
  type ExistingContracts,
  type StackAddresses,
  type DeploymentStep,
} from "../../chainlink/stackPlan.ts";
import type { VrfVersion } from "../../domain/vocabulary.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import { type Receipt, parseObject, RpcError } from "../../lib/nodeAnswers.ts";
import { PriceAboveCapError, quote, type Fees, replacementOf, type GasPrice } from "../../evm/fees.ts";
import { meaningOf } from "../../evm/refusal.ts";
import { readSigned, signCall } from "../../evm/signedTransaction.ts";
import type { NetworkProfile } from "../profiles.ts";
import { readContractsFile, type ContractsFile } from "./contractsFile.ts";
import { assertChainId, readGenesis } from "./externalNode.ts";
import { readChainlinkVrf, type ChainlinkVrf } from "./chainlinkVrf.ts";
import { writeJsonFile, NetworkFileError, readJsonFile } from "./jsonFile.ts";
import { vrfOperatorsOf, type OracleIdentity, type VrfIdentity } from "./oracleIdentity.ts";
import { messageOf } from "../../lib/errors.ts";
import { loadArtifacts } from "../../chainlink/contracts/artifacts.ts";
import { readCompilationUnits, type ContractName } from "../../chainlink/contracts/compilerInput.ts";

/** Stands for the keys of an oracle whose nodes hold no secrets; the contract requires some bytes. */
const NO_SECRET_KEYS = { donPublicKey: "0x00", thresholdPublicKey: "0x00" } as const;

/** What a deployment will do, for whoever confirms it. */
export interface DeploymentEstimate {
  readonly deployer: Hex;
  readonly balanceWei: bigint;
  /** Transactions that are not mined yet, out of `steps`. */
  readonly left: number;
  readonly steps: number;
  /** Upper bound of the gas of the remaining transactions. */
  readonly gas: bigint;
  readonly gasPriceWei: bigint;
  /** Existing contracts of others that the deployment uses. */
  readonly existing: ExistingContracts;
  /** Whether an earlier run is continued. */
  readonly isResumed: boolean;
}

export interface DeployNetworkOptions {
  readonly profile: NetworkProfile;
  readonly client: ChainClient;
  /** Pays for the deployment and owns the contracts; also the service's operator. */
  readonly operator: Account;
  readonly fees: Fees;
  readonly oracle: OracleIdentity;
  /** Version of the VRF contracts. Default `v2`. */
  readonly vrfVersion?: VrfVersion | undefined;
  /** Chainlink's live VRF v2.5, as the source of random words; without it, they come from a coordinator of our own. */
  readonly chainlink?: ChainlinkVrf | undefined;
  /** Whether PresetConsumer pays for random words in coin (v2.5 only). Default: in LINK. */
  readonly nativePayment?: boolean | undefined;
  /** Gas price up to which the coordinator accepts proofs (v2.5 only). Default 1,000 gwei. */
  readonly laneMaxGasWei?: bigint | undefined;
  /** Path of the contracts file. */
  readonly file: string;
  /** Called before anything is sent; `false` aborts the deployment. */
  readonly confirm: (estimate: DeploymentEstimate) => Promise<boolean>;
  readonly onStep: (step: DeployedStep) => void;
}

/** How a deployment ended; `present` when an earlier one had already written the file. */
export type DeploymentEnd = "deployed" | "present" | "declined";

/**
 * Deploys the contracts of one network for one oracle, and writes the contracts file. Every signed transaction is journaled before it is
 * sent, so an interrupted run continues with the same transactions and deploys nothing twice.
 *
 * @throws {DeploymentError} when a transaction reverts, or another transaction of the same account used one of the nonces.
 */
export async function deployNetwork(options: DeployNetworkOptions): Promise<DeploymentEnd> {
  const { profile, client, operator, fees, file } = options;
  const { name: network, chainId } = profile;
  await assertChainId(client, { network, chainId });
  const genesis = await readGenesis(client);
  const found = findJournal(file);
  if (found === undefined && existsSync(file)) {
    readContractsFile(file, { network, chainId });
    return "present";
  }
  if (options.chainlink === undefined)
    await assertVrfWorks(client, { network, chainId, vrfVersion: options.vrfVersion ?? "v2" });
  const journal = found ?? (await beginJournal(options, genesis));
  if (journal.genesis !== genesis || journal.deployer !== operator.address)
    throw new DeploymentError(
      network,
      `the journal beside ${file} belongs to another chain or account (${journal.deployer}); move it away to redeploy`,
    );
  const { addresses, steps } = planDeployment(
    stackPlanOf({ ...journal, chainId }),
    operator.address,
    journal.firstNonce,
  );
  const { gasPriceWei } = await quote(fees, client).catch(refusePriceAboveCap);
  const done = Math.min(
    steps.length,
    Math.max(0, (await client.getNonce(operator.address, "latest")) - journal.firstNonce),
  );
  const left = steps.slice(done);
  const estimate: DeploymentEstimate = {
    deployer: operator.address,
    balanceWei: await client.getBalanceWei(operator.address),
    left: left.length,
    steps: steps.length,
    gas: left.reduce((sum, { gas }) => sum + gas, 0n),
    gasPriceWei,
    existing: journal.existing,
    isResumed: found !== undefined,
  };
  if (!(await options.confirm(estimate))) return "declined";
  await sendSteps(options, journal, steps);
  writeJsonFile(file, describeDeployment(journal, addresses, await blockAfter(client)));
  const { deployer, firstNonce } = journal;
  writeVerificationInput({ contractsFile: file, steps, deployer, firstNonce });
  removeJournal(file);
  return "deployed";
}

async function beginJournal(options: DeployNetworkOptions, genesis: Hex): Promise<DeploymentJournal> {
  const { profile, client, operator, oracle, chainlink } = options;
  const nonce = await client.getNonce(operator.address, "latest");
  if ((await client.getNonce(operator.address, "pending")) !== nonce)
    throw new DeploymentError(
      profile.name,
      `transactions of ${operator.address} are waiting in the node's pool; let them be mined first`,
    );
  return {
    version: 1,
    network: profile.name,
    chainId: profile.chainId,
    genesis,
    deployer: operator.address,
    firstNonce: nonce,
    startBlock: Number((await client.getHead("latest"))?.number ?? 0n),
    oracle,
    existing: {
      ...(await findExisting(client, profile)),
      ...(chainlink && (await readChainlinkVrf(client, chainlink))),
    },
    donId: profile.functions.donId,
    ...(options.vrfVersion === undefined ? {} : { vrfVersion: options.vrfVersion }),
    ...(chainlink === undefined ? {} : { keyHash: chainlink.keyHash }),
    minConfirmations: chainlink?.minConfirmations ?? profile.vrf.minConfirmations,
    premiumLinkPpm: profile.vrf.premiumLinkPpm,
    ...(options.nativePayment === true ? { nativePayment: true } : {}),
    ...(options.laneMaxGasWei === undefined ? {} : { laneMaxGasWei: options.laneMaxGasWei.toString() }),
    steps: [],
  };
}

/** Returns the network's own LINK token and price feeds, where there is code at their addresses. */
async function findExisting(
  client: Pick<ChainClient, "getCode">,
  { link, priceFeeds }: NetworkProfile,
): Promise<ExistingContracts> {
  const known = {
    link,
    nativePriceFeed: priceFeeds?.linkNative,
    usdPriceFeed: priceFeeds?.linkUsd,
  };
  const entries: [string, Hex][] = [];
  for (const [role, address] of Object.entries(known))
    if (address !== undefined && (await client.getCode(address)) !== "0x") entries.push([role, address]);
  return Object.fromEntries(entries);
}

/** Returns the plan by which the contracts were, or will be, deployed. */
export function stackPlanOf({
  oracle,
  deployer,
  ...plan
}: Pick<
  ContractsFile,
  "chainId" | "oracle" | "deployer" | "minConfirmations" | "premiumLinkPpm" | "existing" | "donId"
> &
  Partial<Pick<ContractsFile, "nativePayment" | "laneMaxGasWei">> & {
    readonly vrfVersion?: VrfVersion | undefined;
  }) {
  const roleOf = ({ feeReceiver, publicKey: [x, y] }: VrfIdentity) => ({
    oracle: feeReceiver,
    publicKey: [BigInt(x), BigInt(y)] as const,
  });
  return {
    roles: {
      operator: deployer,
      vrf: vrfOperatorsOf(oracle).map(roleOf),
      functions: { ...oracle.functions, ...(oracle.functions.secretKeys ?? NO_SECRET_KEYS) },
    },
    chainId: plan.chainId,
    donName: plan.donId,
    minConfirmations: plan.minConfirmations,
    premiumLinkPpm: plan.premiumLinkPpm,
    existing: plan.existing,
    ...(plan.vrfVersion === undefined ? {} : { vrfVersion: plan.vrfVersion }),
    ...(plan.nativePayment === undefined ? {} : { nativePayment: plan.nativePayment }),
    ...(plan.laneMaxGasWei === undefined ? {} : { laneMaxGasWei: BigInt(plan.laneMaxGasWei) }),
  } as const;
}

function describeDeployment(
  journal: DeploymentJournal,
  contracts: StackAddresses,
  blockNumber: number,
): ContractsFile {
  return {
    version: 1,
    network: journal.network,
    chainId: journal.chainId,
    genesis: journal.genesis,
    blockNumber,
    contracts,
    keyHash: journal.keyHash ?? journal.oracle.vrf.keyHash,
    donId: journal.donId,
    minConfirmations: journal.minConfirmations,
    isLinkOurs: journal.existing.link === undefined,
    oracle: journal.oracle,
    deployer: journal.deployer,
    firstNonce: journal.firstNonce,
    premiumLinkPpm: journal.premiumLinkPpm,
    ...(journal.nativePayment === undefined ? {} : { nativePayment: journal.nativePayment }),
    ...(journal.laneMaxGasWei === undefined ? {} : { laneMaxGasWei: journal.laneMaxGasWei }),
    existing: journal.existing,
  };
}

function refusePriceAboveCap(error: unknown): never {
  if (!(error instanceof PriceAboveCapError)) throw error;
  const [price, cap] = [error.priceWei, error.capWei].map((wei) => formatGwei(wei));
  throw new DeploymentError(
    "gas",
    `it costs ${price} gwei, and at most ${cap} gwei are paid; wait for the price to fall, or raise maxFeeGwei`,
  );
}

async function blockAfter(client: Pick<ChainClient, "getHead">): Promise<number> {
  return Number((await client.getHead("latest"))?.number ?? 0n);
}

/** Chains on which VRFCoordinatorV2 asks Arbitrum's precompile for block numbers: ChainSpecificUtil.sol `_isArbitrumChainId`. */
const KNOWN_TO_V2: readonly number[] = [42_161, 421_613, 421_614];

/**
 * Checks that a VRF coordinator of our own would work. On Arbitrum and the chains built on its stack, contracts see the parent
 * chain's block numbers, whose hashes are not this chain's: VRFCoordinatorV2 has a workaround for three of them, VRFCoordinatorV2_5
 * for none.
 *
 * @throws {DeploymentError} on a chain where requests could not be fulfilled.
 */
export async function assertVrfWorks(
  client: Pick<ChainClient, "request">,
  {
    network,
    chainId,
    vrfVersion,
  }: { readonly network: string; readonly chainId: number; readonly vrfVersion: VrfVersion },
): Promise<void> {
  const head = parseObject(await client.request("eth_getBlockByNumber", ["latest", false]), "block");
  if (head["l1BlockNumber"] === undefined) return;
  const isKnown = KNOWN_TO_V2.includes(chainId);
  if (isKnown && vrfVersion === "v2") return;
  throw new DeploymentError(
    network,
    `it is an Arbitrum chain, on which a VRF coordinator of version ${vrfVersion} can't read block hashes; ` +
      (isKnown
        ? 'set "vrf" to "v2", or to Chainlink\'s own coordinator where it serves the chain'
        : 'set "vrf" to Chainlink\'s own coordinator where it serves the chain'),
  );
}

/** The compilers' names on block explorers. */
const COMPILERS = {
  "solc-0.8.6": "v0.8.6+commit.11564f7e",
  "solc-0.8.19": "v0.8.19+commit.7dd6d404",
} as const;

/**
 * Writes the files that block explorers need to verify a contract's source, into the folder `FILE.sources` next to the contracts file: the
 * compilers' standard JSON inputs, and `contracts.json` with each deployed contract's address, name, compiler and constructor arguments.
 */
function writeVerificationInput(options: {
  readonly contractsFile: string;
  readonly steps: readonly DeploymentStep[];
  readonly deployer: Hex;
  /** Nonce of the first step. */
  readonly firstNonce: number;
}): void {
  const { contractsFile, steps, deployer, firstNonce } = options;
  const folder = join(dirname(contractsFile), `${basename(contractsFile, ".json")}.sources`);
  const artifacts = loadArtifacts();
  const units = readCompilationUnits();
  for (const { name, input } of units) writeJsonFile(join(folder, `${name}.json`), JSON.parse(input));
  const contracts = steps.flatMap(({ name, to, data }, i) => {
    const unit = units.find((one) => Object.hasOwn(one.contracts, name));
    if (to !== undefined || unit === undefined) return [];
    return [
      {
        address: getContractAddress({ from: deployer, nonce: BigInt(firstNonce + i) }),
        contract: `${unit.contracts[name]}:${name}`,
        compiler: COMPILERS[unit.compiler],
        input: `${unit.name}.json`,
        constructorArguments: data.slice(artifacts[name as ContractName].bytecode.length),
      },
    ];
  });
  writeJsonFile(join(folder, "contracts.json"), contracts);
}

/** Interval between checks for receipts. */
const POLL_MS = 250;
/**
 * The next transaction in line is sent again when this many blocks go by without it, or {@link Fees.repriceAfterMs}: a node that makes
 * blocks only of transactions may have lost it, and take nothing but a replacement. Its price is raised at most once a block.
 */
const REPRICE_AFTER_BLOCKS = 4n;
/**
 * Checks of a spent nonce without a receipt before the nonce counts as used by another transaction: a pool's nodes don't catch up at
 * the same time.
 */
const FOREIGN_AFTER_LOOKS = 20;
/** Refusals that are no fault of the transaction: the node already has it, its turn comes later, or it will be repriced. */
const HARMLESS_REFUSALS: readonly string[] = ["waiting", "nonce_spent", "underpriced"];

/** A transaction of the deployment that has been mined. */
export interface DeployedStep {
  readonly name: string;
  /** Position among the steps, from 1, and the number of steps. */
  readonly index: number;
  readonly of: number;
  readonly hash: Hex;
  readonly gasUsed: bigint;
  readonly costWei: bigint;
}

interface SendStepsOptions {
  readonly client: ChainClient;
  readonly operator: Account;
  readonly fees: Fees;
  /** Path of the contracts file; the journal is next to it. */
  readonly file: string;
  readonly onStep: (step: DeployedStep) => void;
}

/**
 * Signs what is not signed yet (EIP-1559 transactions when blocks have a base fee), sends it in nonce order, and waits for every
 * receipt.
 *
 * @throws {DeploymentError} when a transaction reverts, can't be paid for, or lost its nonce to another transaction of the account.
 */
async function sendSteps(
  options: SendStepsOptions,
  begun: DeploymentJournal,
  steps: readonly DeploymentStep[],
): Promise<void> {
  const { client, operator, fees, file } = options;
  let journal = begun;
  const signedOf = (index: number) => journal.steps[index]?.signed ?? [];
  const sign = async (index: number, price: GasPrice): Promise<void> => {
    const { name, ...call } = steps[index]!;
    const terms = { chainId: journal.chainId, nonce: journal.firstNonce + index, ...price };
    const { raw, hash } = await signCall(operator, call, terms);
    journal = {
      ...journal,
      steps: journal.steps.with(index, { name, signed: [...signedOf(index), { hash, raw }] }),
    };
  };
  /** Returns whether the node answered: otherwise it may not know the transaction. */
  const send = async (index: number, turn: number): Promise<boolean> => {
    const refusal = await broadcast(client, signedOf(index).at(-1)!.raw);
    if (refusal === undefined) return true;
    const { meaning, reason } = refusal;
    if (meaning === "unreachable") return false;
    // A pool may also count the cost of the transactions waiting before it.
    if (meaning === "unfunded" && index > turn) return true;
    throw new DeploymentError(
      steps[index]!.name,
      meaning === "unfunded"
        ? `${operator.address} can't pay for it (${reason}); send it coin and run the command again, which continues from here`
        : `the node refuses its transaction: ${reason}`,
    );
  };
  const sendFrom = async (turn: number): Promise<boolean> => {
    for (let index = turn; index < steps.length; index += 1) if (!(await send(index, turn))) return false;
    return true;
  };
  /** Raises the price of a step. Returns whether it did: above the operator's cap it waits for the market price to fall. */
  const reprice = async (index: number): Promise<boolean> => {
    const { price: paid } = readSigned({ ...signedOf(index).at(-1)!, nonce: journal.firstNonce + index });
    const market = await quote(fees, client).catch(ignorePriceAboveCap);
    const raised = replacementOf(fees, paid, { market, capWei: undefined });
    if (raised === undefined) return false;
    await sign(index, raised);
    saveJournal(file, journal);
    return true;
  };

  if (journal.steps.length < steps.length) {
    const price = await quote(fees, client);
    journal = { ...journal, steps: steps.map(({ name }) => ({ name, signed: [] })) };
    for (const index of steps.keys()) await sign(index, price);
    saveJournal(file, journal);
  }

  /** Head and time at which the next step in line was last sent. */
  let sentAt: { readonly index: number; readonly block: bigint; readonly ms: number } | undefined;
  /** Head at which a price was last raised. */
  let repricedAt: bigint | undefined;
  let looksWithoutReceipt = 0;
  for (let index = 0; index < steps.length;) {
    const receipt = await findReceipt(client, signedOf(index));
    if (receipt !== undefined) {
      index += 1;
      looksWithoutReceipt = 0;
      if (!receipt.succeeded)
        throw new DeploymentError(
          steps[index - 1]!.name,
          `its transaction ${receipt.transactionHash} reverted`,
        );
      options.onStep({
        name: steps[index - 1]!.name,
        index,
        of: steps.length,
        hash: receipt.transactionHash,
        gasUsed: receipt.gasUsed,
        costWei: receipt.gasUsed * receipt.effectiveGasPriceWei,
      });
      continue;
    }
    const nonce = journal.firstNonce + index;
    if ((await client.getNonce(operator.address, "latest")) > nonce) {
      looksWithoutReceipt += 1;
      if (looksWithoutReceipt > FOREIGN_AFTER_LOOKS)
        throw new DeploymentError(
          steps[index]!.name,
          `another transaction of ${operator.address} took nonce ${nonce}; move the journal beside ${file} away to redeploy, and send nothing else from this account in the meantime`,
        );
      await sleep(POLL_MS);
      continue;
    }
    const block = (await client.getHead("latest"))?.number ?? 0n;
    if (
      sentAt?.index === index &&
      (block - sentAt.block >= REPRICE_AFTER_BLOCKS || performance.now() - sentAt.ms >= fees.repriceAfterMs)
    ) {
      if (block !== repricedAt && (await reprice(index))) repricedAt = block;
      sentAt = undefined;
    }
    if (sentAt?.index !== index && (await (sentAt === undefined ? sendFrom(index) : send(index, index))))
      sentAt = { index, block, ms: performance.now() };
    await sleep(POLL_MS);
  }
}

async function findReceipt(
  client: Pick<ChainClient, "getReceipt">,
  signed: readonly { readonly hash: Hex }[],
): Promise<Receipt | undefined> {
  for (const { hash } of signed) {
    const receipt = await client.getReceipt(hash);
    if (receipt !== undefined) return receipt;
  }
  return undefined;
}

/** Returns why a node refuses a transaction, or that it doesn't answer; `undefined` when it accepts it, or may still. */
async function broadcast(
  client: Pick<ChainClient, "request">,
  raw: Hex,
): Promise<{ readonly meaning: string; readonly reason: string } | undefined> {
  try {
    await client.request("eth_sendRawTransaction", [raw]);
    return undefined;
  } catch (error) {
    const meaning = error instanceof RpcError ? meaningOf(error) : "unreachable";
    return HARMLESS_REFUSALS.includes(meaning) ? undefined : { meaning, reason: messageOf(error) };
  }
}

function ignorePriceAboveCap(error: unknown): undefined {
  if (!(error instanceof PriceAboveCapError)) throw error;
}

/** A deployment in progress: everything that was signed, and what it was planned from. Nothing in it is secret. */
interface DeploymentJournal {
  readonly version: 1;
  readonly network: string;
  readonly chainId: number;
  readonly genesis: Hex;
  readonly deployer: Hex;
  readonly firstNonce: number;
  /** Block before the first transaction. */
  readonly startBlock: number;
  readonly oracle: OracleIdentity;
  readonly existing: ExistingContracts;
  readonly donId: string;
  /** Absent for V2. */
  readonly vrfVersion?: VrfVersion;
  /** Hash of Chainlink's VRF key; absent when the key is the oracle's. */
  readonly keyHash?: Hex;
  readonly minConfirmations: number;
  readonly premiumLinkPpm: number;
  /** As in the contracts file. */
  readonly nativePayment?: boolean;
  readonly laneMaxGasWei?: string;
  /** For each step, everything that was signed for its nonce, oldest first; persisted before it is sent. */
  readonly steps: readonly JournalStep[];
}

/** One step of a deployment. */
interface JournalStep {
  readonly name: string;
  readonly signed: readonly { readonly hash: Hex; readonly raw: Hex }[];
}

/** Returns the path of a deployment's journal, next to the contracts file it will write. */
function journalPathOf(contractsFile: string): string {
  return `${contractsFile}.journal`;
}

/** Returns the journal that an earlier run left, or `undefined`. */
function findJournal(contractsFile: string): DeploymentJournal | undefined {
  const path = journalPathOf(contractsFile);
  if (!existsSync(path)) return undefined;
  const found = readJsonFile(path, "run the command again") as unknown as DeploymentJournal;
  if (found.version === 1 && Array.isArray(found.steps)) return found;
  throw new NetworkFileError(path, "is not a journal of this version; move it away to redeploy");
}

function saveJournal(contractsFile: string, journal: DeploymentJournal): void {
  writeJsonFile(journalPathOf(contractsFile), journal);
}

function removeJournal(contractsFile: string): void {
  rmSync(journalPathOf(contractsFile), { force: true });
}
