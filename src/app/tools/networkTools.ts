import { existsSync } from "node:fs";
import { LATEST_CONFIG } from "../../chainlink/nodeConfig.ts";
import { askContract } from "../../chainlink/contractRead.ts";
import { isEmbedded } from "../../config/embeddedNetworkSchema.ts";
import { formatGwei, isHex, parseEther, parseGwei, type Hex } from "viem";
import { CALL_GAS } from "../../chainlink/callGas.ts";
import { encodeNodeUrls, parseNodeUrls, type FormerKey } from "../../chainlink/offchainConfig.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import { fromHexText } from "../../lib/hex.ts";
import { messageOf } from "../../lib/errors.ts";
import { RpcError } from "../../lib/nodeAnswers.ts";
import { checkNetwork, type NetworkFinding, roundAmount } from "../../networks/external/checkNetwork.ts";
import {
  hasChainlinkVrf,
  readContractsFile,
  type ContractsFile,
} from "../../networks/external/contractsFile.ts";
import {
  deployNetwork,
  type DeployedStep,
  type DeploymentEstimate,
} from "../../networks/external/deployNetwork.ts";
import { connectExternal } from "../../networks/external/externalNode.ts";
import { fundNetwork } from "../../networks/external/fundNetwork.ts";
import {
  publishKeys,
  type ReconfigurationEstimate,
  reconfigureNetwork,
} from "../../networks/external/reconfigureNetwork.ts";
import { readPresetLink } from "../../networks/external/presetCost.ts";
import { findProfile, PROFILE_NAMES } from "../../networks/profiles.ts";
import { isCardFile, readOracleCards } from "../../networks/external/oracleCards.ts";
import {
  readOracleIdentity,
  type OracleIdentity,
  type PublicSecretKeys,
} from "../../networks/external/oracleIdentity.ts";
import { createGatewayClient } from "../../oracle/secrets/gatewayClient.ts";
import { readFormerSet, readNodeSet, type NodeSet } from "../../oracle/node/nodeSet.ts";
import type { KeyAnswer } from "../../oracle/secrets/keyAgreement.ts";
import { digestOf } from "../../oracle/secrets/vault.ts";
import type { Config } from "../../config/configSchema.ts";
import type { ExternalNetworkConfig } from "../../config/networkSchema.ts";
import {
  chainlinkVrfOf,
  contractsPathOf,
  feesOfExternal,
  laneMaxGasWeiOf,
  profileOfExternal,
} from "../network/externalNetworks.ts";
import { loadOperatorKey } from "../network/operatorKey.ts";
import { StartError } from "../startError.ts";

interface NetworkOptions {
  readonly config: Config;
  readonly network: string;
}

/** What a deployment is about to do; amounts are strings with their unit. */
export type ShownEstimate = ReturnType<typeof showEstimate>;

/** A mined transaction; the cost has its unit. */
export type ShownStep = Omit<DeployedStep, "costWei" | "gasUsed"> & { readonly cost: string };

/** What a change of a network's nodes is about to do; amounts are strings with their unit. */
export type ShownChange = Omit<ReconfigurationEstimate, "balanceWei" | "gas" | "gasPriceWei"> & {
  readonly balance: string;
  /** Maximum cost. */
  readonly cost: string;
};

/** Deploys the contracts to a network for an oracle, and writes the contracts file. */
export async function deploy({
  config,
  network,
  oracleFiles,
  confirm,
  onStep,
}: NetworkOptions & {
  readonly oracleFiles: readonly string[];
  readonly confirm: (estimate: ShownEstimate) => Promise<boolean>;
  readonly onStep: (step: ShownStep) => void;
}) {
  const { settings, sending, show, withOperator } = findExternal(config, network);
  const oracle = readOracle(oracleFiles, sending.profile.chainId);
  let totalWei = 0n;
  const end = await withOperator((account) =>
    deployNetwork({
      ...sending,
      ...account,
      oracle,
      vrfVersion: typeof settings.vrf === "object" ? "v2.5" : settings.vrf,
      chainlink: chainlinkVrfOf(settings, sending.profile),
      nativePayment: settings.nativePayment,
      laneMaxGasWei: laneMaxGasWeiOf(settings),
      confirm: (estimate) => confirm(showEstimate(estimate, show)),
      onStep({ costWei, gasUsed: _, ...step }) {
        totalWei += costWei;
        onStep({ ...step, cost: show(costWei) });
      },
    }),
  );
  return { end, file: sending.file, total: show(totalWei) };
}

/** Changes the nodes of a network's oracle. */
export async function reconfigure({
  config,
  network,
  cards,
  newKey,
  confirm,
}: NetworkOptions & {
  readonly cards: readonly string[];
  /** Whether the nodes generate a new key for secrets, though that of the present ones could be handed on. */
  readonly newKey: boolean;
  readonly confirm: (change: ShownChange) => Promise<boolean>;
}) {
  const { sending, show, readContracts, withOperator } = findExternal(config, network);
  const contracts = readContracts();
  const { functions } = readOracleCards(cards, sending.profile.chainId, contracts.oracle);
  const done = await withOperator(async (account) => {
    const urls = parseNodeUrls(functions.offchainConfig!, functions.signers.length)!;
    const formerKey = await findFormerKey({ ...account, contracts, functions, urls, newKey });
    return await reconfigureNetwork({
      ...sending,
      ...account,
      contracts,
      functions: { ...functions, offchainConfig: encodeNodeUrls(urls, formerKey) },
      confirm: ({ balanceWei, gas, gasPriceWei, ...estimate }) =>
        confirm({ ...estimate, balance: show(balanceWei), cost: show(gas * gasPriceWei) }),
    });
  });
  return done.end === "reconfigured" ? { ...done, cost: show(done.costWei) } : done;
}

/** Publishes the key for secrets that nodes of several operators have generated. */
export async function publishSecretKeys({
  config,
  network,
  confirm,
}: NetworkOptions & {
  /** Is told what it costs at most. */
  readonly confirm: (cost: string) => Promise<boolean>;
}) {
  const { sending, show, readContracts, withOperator } = findExternal(config, network);
  const contracts = readContracts();
  const done = await withOperator(async (account) => {
    const { functionsCoordinator } = contracts.contracts;
    const { configDigest } = await askContract(account.client, functionsCoordinator, LATEST_CONFIG);
    const keys = await readSharedKey(contracts, account.operator, configDigest);
    return await publishKeys({
      ...sending,
      ...account,
      contracts,
      keys,
      confirm: (costWei) => confirm(show(costWei)),
    });
  });
  return done.end === "reconfigured" ? { ...done, cost: show(done.costWei) } : done;
}

/** Checks a network: its nodes, contracts, accounts and LINK. Returns whether all is well. */
export async function check({
  config,
  network,
  onFinding,
}: NetworkOptions & {
  readonly onFinding: (finding: NetworkFinding) => void;
}) {
  const { settings, sending, readContracts } = findExternal(config, network);
  return await checkNetwork({
    ...sending,
    rpcUrls: settings.rpcUrls,
    presetVrfKeys: settings.presetVrfKeys,
    readContracts,
    operator: async () => (await loadOperator(network, settings)).address,
    onFinding,
  });
}

/** What calls cost; amounts are strings with their unit. */
export type ShownCosts = ReturnType<typeof costsAt> & {
  /** Absent until the contracts are deployed. */
  readonly link?: ReturnType<typeof showLink>;
};

/**
 * Computes what calls cost at a network's current gas price, or at one in gwei that is given, and then the network may have any name. A
 * network with a profile needs no configuration: `rpcUrl` names a node, and without one there is no price.
 */
export async function cost({
  config,
  network,
  gasPrice,
  rpcUrl,
  usd,
}: NetworkOptions & {
  readonly gasPrice?: string | undefined;
  readonly rpcUrl?: string | undefined;
  /** Dollars per coin of the chain. Default: costs in coin only. */
  readonly usd?: number | undefined;
}): Promise<ShownCosts> {
  const found = config.networks[network];
  const external = found === undefined || isEmbedded(found) ? undefined : found;
  const profile = external === undefined ? findProfile(network) : profileOfExternal(network, external);
  const { coin = "coins" } = profile ?? {};
  if (gasPrice !== undefined) return costsAt(parseGwei(gasPrice), { coin, usd });
  if (profile === undefined)
    throw new StartError(
      `${network} is neither in the configuration nor known: give its gas price with --gas-price, or name one of ${PROFILE_NAMES.join(", ")}`,
    );
  const rpcUrls = rpcUrl === undefined ? external?.rpcUrls : [rpcUrl];
  if (rpcUrls === undefined) return costsAt(found === undefined ? undefined : 0n, { coin, usd });
  const { chainId } = profile;
  const client = connectExternal(rpcUrls, chainId);
  try {
    const priceWei = await feesOfExternal(external ?? {}, profile).gasPriceWei(client);
    const costs = costsAt(priceWei, { coin, usd });
    const file = external?.contracts;
    if (file === undefined || !existsSync(file)) return costs;
    const contracts = readContractsFile(file, { network, chainId });
    const { presetVrfKeys } = external!;
    const perPreset = await readPresetLink(client, contracts, { gasPriceWei: priceWei, presetVrfKeys });
    return { ...costs, link: showLink(perPreset, { usd, isOfChainlink: hasChainlinkVrf(contracts) }) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (rpcUrl === undefined)
      throw new StartError(
        `${error.message}; correct the network's rpcUrls, or name another node with --rpc-url`,
        error,
      );
    // The pool of a single node repeats which node it is.
    const why = error.message.replace("no node answers: node 1: ", "");
    throw new StartError(`${why}; check the URL of --rpc-url`, error);
  } finally {
    await client.close();
  }
}

/** Tops up the LINK reserve and the oracle's accounts from the operator's account. */
export async function fund({
  config,
  network,
  link,
  coin,
  onTransfer,
  onEnough,
}: NetworkOptions & {
  readonly link: string | undefined;
  readonly coin: string | undefined;
  readonly onTransfer: (transfer: { readonly what: string; readonly hash: string }) => void;
  readonly onEnough: (sentence: string) => void;
}) {
  const { sending, readContracts, withOperator } = findExternal(config, network);
  const contracts = readContracts();
  await withOperator((account) =>
    fundNetwork({
      ...sending,
      ...account,
      contracts,
      reserveJuels: link === undefined ? undefined : parseEther(link),
      coinWei: coin === undefined ? undefined : parseEther(coin),
      onTransfer,
      onEnough,
    }),
  );
}

/** Finds a network of others in the configuration, and what commands on it need. */
function findExternal(config: Config, network: string) {
  const settings = externalOf(config, network);
  const profile = profileOfExternal(network, settings);
  const { chainId, coin } = profile;
  const file = contractsPathOf(network, settings);
  const withClient = async <Result>(work: (client: ChainClient) => Promise<Result>): Promise<Result> => {
    const client = connectExternal(settings.rpcUrls, chainId);
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };
  return {
    settings,
    sending: { profile, fees: feesOfExternal(settings, profile), file },
    show: (wei: bigint): string => `${roundAmount(wei)} ${coin}`,
    readContracts: () => readContractsFile(file, { network, chainId }),
    withClient,
    /** Does work with the operator's account. */
    withOperator: async <Result>(
      work: (account: { readonly client: ChainClient; readonly operator: Account }) => Promise<Result>,
    ): Promise<Result> => {
      const operator = await loadOperator(network, settings);
      return await withClient((client) => work({ client, operator }));
    },
  };
}

interface Prices {
  readonly coin: string;
  readonly usd: number | undefined;
}

function costsAt(priceWei: bigint | undefined, { coin, usd }: Prices) {
  const gasPrice = priceWei === 0n ? "nothing" : `${formatGwei(priceWei ?? 0n)} gwei`;
  return {
    coin,
    ...(priceWei === undefined ? {} : { gasPrice, gasPriceWei: priceWei.toString() }),
    calls: Object.entries(CALL_GAS).map(([what, gas]) => ({
      what,
      gas: gas.toString(),
      ...(priceWei === undefined ? {} : showCost(gas * priceWei, { coin, usd })),
    })),
  };
}

function showCost(wei: bigint, { coin, usd }: Prices) {
  return {
    cost: wei === 0n ? "nothing" : `${roundAmount(wei)} ${coin}`,
    costWei: wei.toString(),
    ...(usd === undefined ? {} : { costUsd: (Number(wei) / 1e18) * usd }),
  };
}

function showLink(
  { juels, weiPerLink }: Awaited<ReturnType<typeof readPresetLink>>,
  { usd, isOfChainlink }: { readonly usd: number | undefined; readonly isOfChainlink: boolean },
) {
  const usdPerJuel = usd === undefined ? undefined : ((Number(weiPerLink) / 1e18) * usd) / 1e18;
  return {
    perPreset: `${roundAmount(juels)} LINK`,
    perPresetJuels: juels.toString(),
    ...(usdPerJuel === undefined ? {} : { perPresetUsd: Number(juels) * usdPerJuel }),
    paidTo: isOfChainlink ? "Chainlink's oracle" : "your own oracle",
  };
}

/**
 * Returns the key for secrets that every node of a network says all have generated for a configuration. Throws {@link StartError} when one
 * doesn't.
 */
async function readSharedKey(
  contracts: ContractsFile,
  operator: Account,
  configDigest: Hex,
): Promise<PublicSecretKeys> {
  const { signers, offchainConfig } = contracts.oracle.functions;
  const urls = offchainConfig && parseNodeUrls(offchainConfig, signers.length);
  if (urls === undefined)
    throw new StartError(
      "the network's nodes have one operator: `tyche network deploy` has published their keys for secrets",
    );
  const answers = await askForKey({ signers, urls }, { contracts, operator });
  const away = answers.findIndex((one) => one instanceof Error);
  if (away >= 0)
    throw new StartError(
      `the node at ${urls[away]} ${messageOf(answers[away])}; all nodes have to run until they have generated the key`,
      answers[away],
    );
  const keys = answers as Partial<KeyAnswer>[];
  const early = keys.findIndex((one) => one.isAgreed !== true || one.configDigest !== configDigest);
  if (early >= 0)
    throw new StartError(
      `the node at ${urls[early]} does not say yet that all have generated the key of the coordinator's configuration ${configDigest}; run this again once \`/readyz\` of all nodes has no warning of it`,
    );
  const { donPublicKey, thresholdPublicKey } = keys[0]!;
  const other = keys.findIndex(
    (one) => one.donPublicKey !== donPublicKey || one.thresholdPublicKey !== thresholdPublicKey,
  );
  if (other >= 0 || !isHex(donPublicKey) || !isHex(thresholdPublicKey))
    throw new StartError(
      `the node at ${urls[Math.max(0, other)]} has generated another key than the one at ${urls[0]}; \`/readyz\` of the nodes says whose fault it is`,
    );
  return { donPublicKey, thresholdPublicKey };
}

const NODE_TIMEOUT_MS = 10_000;

/** Asks nodes what key for secrets they have; returns an error for each that doesn't say. */
async function askForKey(
  { signers, urls }: Pick<NodeSet, "signers" | "urls">,
  { contracts, operator }: { readonly contracts: ContractsFile; readonly operator: Account },
  payload: object = {},
): Promise<readonly (Partial<KeyAnswer> | Error)[]> {
  return await Promise.all(
    urls.map(async (oracleUrl, node) => {
      const gateway = createGatewayClient({
        oracleUrl,
        donId: contracts.donId,
        signers: [signers[node]!],
        receiver: signers[node]!,
        sign: (bytes) => operator.signMessage(bytes),
      });
      return await gateway
        .ask("node_key", payload, AbortSignal.timeout(NODE_TIMEOUT_MS))
        .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    }),
  );
}

/**
 * Finds the key for secrets that new nodes are to take over: that of the present ones, or the one that those have yet to take over; `undefined`
 * if there is none, or none is wanted. Nodes that are configured already keep what they were configured with.
 *
 * @throws {StartError} when too few of those who hold it answer.
 */
async function findFormerKey(options: {
  readonly client: ChainClient;
  readonly contracts: ContractsFile;
  readonly operator: Account;
  readonly functions: OracleIdentity["functions"];
  readonly urls: readonly string[];
  readonly newKey: boolean;
}): Promise<FormerKey | undefined> {
  const { client, contracts, functions, urls, newKey } = options;
  if (newKey) return undefined;
  const { functionsCoordinator: coordinator } = contracts.contracts;
  const set = await readNodeSet(client, coordinator);
  const listOf = (one: Pick<NodeSet, "signers" | "transmitters" | "urls">): string =>
    [...one.signers, ...one.transmitters, ...one.urls].join();
  if (listOf(set) === listOf({ ...functions, urls })) return set.formerKey;
  const former = set.formerKey;
  const holders = former === undefined ? [set] : [set, await readFormerSet(client, coordinator, former)];
  for (const one of holders) {
    const { configDigest, blockNumber, faulty } = one;
    const answers = await askForKey(one, options, { configDigest });
    const hashes = answers.flatMap((said) => {
      if (said instanceof Error || said.configDigest !== configDigest) return [];
      if (!isHex(said.thresholdPublicKey)) return [];
      const keyHash = digestOf(fromHexText(said.thresholdPublicKey));
      return said.isAgreed === true || keyHash === former?.keyHash ? [keyHash] : [];
    });
    const keyHash = hashes.find((hash) => hashes.filter((other) => other === hash).length > 2 * faulty);
    if (keyHash !== undefined) return { configDigest, blockNumber: Number(blockNumber), keyHash };
  }
  if (contracts.oracle.functions.secretKeys === undefined) return undefined;
  throw new StartError(
    `too few of the nodes that hold the key for secrets say so, and ${2 * holders.at(-1)!.faulty + 1} have to hand it on: start them, or run this again with --new-key, and the new nodes generate another key; then all secrets have to be set again`,
  );
}

function readOracle(files: readonly string[], chainId: number): OracleIdentity {
  const [file, ...others] = files;
  return others.length > 0 || isCardFile(file!)
    ? readOracleCards(files, chainId)
    : readOracleIdentity(file!, chainId);
}

function externalOf(config: Config, network: string): ExternalNetworkConfig {
  const found = config.networks[network];
  if (found !== undefined && !isEmbedded(found)) return found;
  throw new StartError(
    found === undefined
      ? `the configuration has no network ${network}; it names ${Object.keys(config.networks).join(", ")}`
      : `${network} is embedded: the service deploys its contracts by itself`,
  );
}

function loadOperator(network: string, { operatorKey }: ExternalNetworkConfig) {
  return loadOperatorKey({ network, key: operatorKey, environment: process.env });
}

function showEstimate(estimate: DeploymentEstimate, show: (wei: bigint) => string) {
  const { deployer, balanceWei, left, steps, gas, gasPriceWei, existing, isResumed } = estimate;
  const costWei = gas * gasPriceWei;
  return {
    deployer,
    balance: show(balanceWei),
    left,
    steps,
    gas: gas.toString(),
    gasPrice: `${formatGwei(gasPriceWei)} gwei`,
    cost: show(costWei),
    ...(balanceWei < costWei ? { missing: show(costWei - balanceWei) } : {}),
    existing: Object.entries(existing).map(([role, address]) => `${role} ${address}`),
    isResumed,
  };
}
