import { isAddressEqual, keccak256, parseAbi, type Hex, formatGwei, formatEther } from "viem";
import { askContract, readOf } from "../../chainlink/contractRead.ts";
import { functionsRouterAbi } from "../../chainlink/contracts/abi.ts";
import { configDigestOf, nodeConfigOf, LATEST_CONFIG } from "../../chainlink/nodeConfig.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { planDeployment } from "../../chainlink/stackPlan.ts";
import { parseNodeUrls } from "../../chainlink/offchainConfig.ts";
import type { ChainClient } from "../../evm/client.ts";
import { type Fees, PriceAboveCapError, quote } from "../../evm/fees.ts";
import { messageOf } from "../../lib/errors.ts";
import type { NetworkProfile } from "../profiles.ts";
import { hasChainlinkVrf, type ContractsFile } from "./contractsFile.ts";
import { vrfOperatorsOf, type OracleIdentity } from "./oracleIdentity.ts";
import { stackPlanOf } from "./deployNetwork.ts";
import { assertChainId, connectExternal } from "./externalNode.ts";
import { assertDeployed } from "./externalSource.ts";
import { RpcError } from "../../lib/nodeAnswers.ts";
import { readLinkBalance } from "./fundNetwork.ts";
import { gasPerPreset, readPresetLink } from "./presetCost.ts";
import { readNodeStates, type NodeState } from "./nodeStates.ts";

const ownableAbi = parseAbi(["function owner() view returns (address)"]);

export interface CheckNetworkOptions {
  readonly profile: NetworkProfile;
  readonly rpcUrls: readonly string[];
  /** VRF keys whose words each preset joins. Default 1. */
  readonly presetVrfKeys?: number | undefined;
  /** Reads the contracts file; throws when it is missing or another network's. */
  readonly readContracts: () => ContractsFile;
  readonly fees: Fees;
  /** Returns the address of the operator's account; throws when it can't be determined. */
  readonly operator: () => Promise<Hex>;
  readonly onFinding: (finding: NetworkFinding) => void;
}

/** Checks a network and reports one finding after the other. Never rejects: a check that fails is a finding. */
export async function checkNetwork(options: CheckNetworkOptions): Promise<boolean> {
  const { profile, rpcUrls, onFinding } = options;
  let isFine = true;
  const tell = (isOk: boolean, text: string, remedy?: string): void => {
    isFine &&= isOk;
    onFinding({ isOk, text, ...(isOk || remedy === undefined ? {} : { remedy }) });
  };
  const attempt = async <T>(what: string, look: () => Promise<T>): Promise<T | undefined> =>
    await look().catch((error: unknown) => {
      // The pool of a single node repeats which node it is.
      tell(false, `${what}: ${messageOf(error).replace("no node answers: node 1: ", "")}`);
      return undefined;
    });
  const clients = rpcUrls.map((url) => connectExternal([url], profile.chainId));
  let usable: ChainClient | undefined;
  for (const [i, client] of clients.entries()) {
    const scheme = new URL(rpcUrls[i]!).protocol.slice(0, -1);
    await attempt(`node ${i + 1} (${scheme})`, async () => {
      await assertChainId(client, { network: profile.name, chainId: profile.chainId });
      await checkNode(client, `node ${i + 1} (${scheme})`, tell);
      usable ??= client;
    });
  }
  if (usable === undefined) tell(false, "no node can be used", "correct the network's rpcUrls");
  else {
    const client = usable;
    const funds = createFundsCheck({ ...options, client, tell });
    await attempt("finality", () => checkFinality(client, profile, tell));
    await attempt("gas price", funds.checkGasPrice);
    const contracts = await attempt("contracts", async () => options.readContracts());
    if (contracts === undefined)
      await attempt("operator", async () => await funds.checkCoin("the operator", await options.operator()));
    else {
      const looks = lookAt({ ...options, client, contracts, funds, tell });
      for (const [what, look] of Object.entries(looks)) await attempt(what, look);
    }
  }
  await Promise.all(clients.map((client) => client.close()));
  return isFine;
}

function lookAt(
  options: Pick<CheckNetworkOptions, "operator"> & {
    readonly client: ChainClient;
    readonly contracts: ContractsFile;
    readonly funds: Funds;
    readonly tell: Tell;
  },
): Record<string, () => Promise<void>> {
  const { client, contracts: file, funds, tell } = options;
  const { contracts, oracle } = file;
  return {
    chain: async () => {
      await assertDeployed(client, file);
      tell(true, `the chain is the one that the contracts were deployed on (block 0 ${file.genesis})`);
    },
    contracts: async () => {
      const { steps, addresses } = planDeployment(
        stackPlanOf({ ...file, vrfVersion: contracts.vrfVersion }),
        file.deployer,
        file.firstNonce,
      );
      const created = steps.filter(({ to }) => to === undefined);
      const ours = Object.entries(addresses).filter(([role]) => !Object.hasOwn(file.existing, role));
      for (const [i, { name, data }] of created.entries()) {
        const address = ours[i]![1] as Hex;
        const built = await client.request("eth_call", [{ from: file.deployer, data }, "latest"]);
        const code = await client.getCode(address);
        tell(
          built === code,
          `${name} ${address}: ${code === "0x" ? "no code" : `code ${keccak256(code).slice(0, 18)}…`}`,
          "it is not what this version builds; redeploy, or use the version that deployed it",
        );
      }
    },
    "VRF key": async () => {
      const reads = COORDINATOR_READS[contracts.vrfVersion ?? "v2"];
      const readLane = (keyHash: Hex) => askContract(client, contracts.vrfCoordinator, reads.lane(keyHash));
      const { isRegistered, maxGasWei } = await readLane(file.keyHash);
      if (hasChainlinkVrf(file)) {
        tell(
          isRegistered,
          `random words come from Chainlink's oracle: coordinator ${contracts.vrfCoordinator}, key ${file.keyHash}`,
          "Chainlink has removed this key from its coordinator; deploy for one of its lanes",
        );
        return await funds.checkLane(maxGasWei);
      }
      for (const { keyHash } of vrfOperatorsOf(oracle)) {
        tell(
          (await readLane(keyHash)).isRegistered,
          `the oracle's VRF key ${keyHash} is registered; at least ${file.minConfirmations} confirmations`,
          "the coordinator doesn't know the key of this oracle; deploy for the running oracle",
        );
      }
      await funds.checkLane(maxGasWei);
    },
    "oracle network": async () => {
      const latest = await askContract(client, contracts.functionsCoordinator, LATEST_CONFIG);
      const { count, configDigest: digest } = latest;
      const expected = configDigestOf(nodeConfigOf(oracle.functions), {
        chainId: file.chainId,
        coordinator: contracts.functionsCoordinator,
        count,
      });
      tell(
        digest === expected,
        `the configuration digest is that of the oracle's ${oracle.functions.signers.length} signers`,
        `the coordinator has ${digest}, and this oracle's is ${expected}: its reports are refused; deploy for the running oracle`,
      );
      const donId: Hex = `0x${Buffer.from(file.donId).toString("hex").padEnd(64, "0")}`;
      const router = contracts.functionsRouter;
      const routed = await askContract(
        client,
        router,
        readOf(functionsRouterAbi, "getContractById", [donId]),
      );
      tell(
        isAddressEqual(routed, contracts.functionsCoordinator),
        `the router knows ${file.donId}`,
        "the router has a different coordinator under that name",
      );
      const isPaused = await askContract(client, router, readOf(functionsRouterAbi, "paused", []));
      tell(!isPaused, `the router is ${isPaused ? "paused" : "open"}`, "its owner has to call unpause()");
    },
    "oracle nodes": () => checkNodes(oracle.functions, tell),
    operator: async () => {
      const operator = await options.operator();
      const owner = await askContract(client, contracts.subscriptionOwner, readOf(ownableAbi, "owner", []));
      tell(
        isAddressEqual(owner, operator),
        `the operator ${operator} owns the subscriptions`,
        `their owner is ${owner}: name that account's key in operatorKey`,
      );
      await funds.checkCoin("the operator", operator);
    },
    "oracle accounts": async () => {
      if (!hasChainlinkVrf(file))
        for (const { feeReceiver } of vrfOperatorsOf(oracle))
          await funds.checkCoin("the oracle's VRF account", feeReceiver);
      for (const address of oracle.functions.transmitters)
        await funds.checkCoin("the oracle's transmitter", address);
    },
    LINK: () => funds.checkLink(file),
  };
}

/** Number of presets that an account should be able to pay for. */
const ENOUGH_PRESETS = 100n;
/** Checks what things cost on a network and whether there are funds to pay for them. */
type Funds = ReturnType<typeof createFundsCheck>;

/** Creates the checks of prices and funds on one network. */
function createFundsCheck(options: {
  readonly profile: Pick<NetworkProfile, "name" | "coin">;
  readonly client: ChainClient;
  readonly fees: Fees;
  readonly presetVrfKeys?: number | undefined;
  readonly tell: Tell;
}) {
  const { client, fees, tell, presetVrfKeys = 1 } = options;
  const presetGas = gasPerPreset(presetVrfKeys);
  const { name, coin } = options.profile;

  return {
    /** Checks the gas price against the operator's cap. */
    async checkGasPrice(this: void): Promise<void> {
      try {
        await quote(fees, client);
        const cap =
          fees.maxFeeWei === undefined ? "" : `; at most ${formatGwei(fees.maxFeeWei)} gwei are paid`;
        tell(true, `gas costs ${formatGwei(await fees.gasPriceWei(client))} gwei${cap}`);
      } catch (error) {
        if (!(error instanceof PriceAboveCapError)) throw error;
        const [price, cap] = [error.priceWei, error.capWei].map((wei) => formatGwei(wei));
        tell(
          false,
          `gas costs ${price} gwei, and at most ${cap} gwei are paid`,
          "requests wait until the price falls; raise maxFeeGwei to send them now",
        );
      }
    },

    /** Checks the gas price against the highest one at which a coordinator accepts proofs; reports nothing when it has no limit. */
    async checkLane(maxGasWei: bigint | undefined): Promise<void> {
      if (maxGasWei === undefined) return;
      const priceWei = await fees.gasPriceWei(client);
      tell(
        priceWei <= maxGasWei,
        `the gas lane takes proofs up to ${formatGwei(maxGasWei)} gwei`,
        `gas costs ${formatGwei(priceWei)} gwei: random words wait until it is cheaper`,
      );
    },

    /** Checks an account's balance, and how many presets it lasts for. */
    async checkCoin(what: string, address: Hex): Promise<void> {
      const priceWei = await fees.gasPriceWei(client);
      const balanceWei = await client.getBalanceWei(address);
      const presets = priceWei === 0n ? ENOUGH_PRESETS : balanceWei / (presetGas * priceWei);
      tell(
        presets >= ENOUGH_PRESETS,
        `${what} ${address} holds ${roundAmount(balanceWei)} ${coin}, enough for about ${presets} presets`,
        `send it ${coin}, or run \`tyche network fund ${name} --coin AMOUNT\` for the oracle's`,
      );
    },

    /** Checks the balance of the reserve for dapps' subscriptions, and how many presets it lasts for. */
    async checkLink(file: Pick<ContractsFile, "contracts" | "nativePayment">): Promise<void> {
      const { contracts, nativePayment = false } = file;
      const juels = await readLinkBalance(client, contracts.link, contracts.subscriptionOwner);
      const gasPriceWei = await fees.gasPriceWei(client);
      const perPreset = await readPresetLink(client, file, { gasPriceWei, presetVrfKeys });
      const presets = perPreset.juels === 0n ? ENOUGH_PRESETS : juels / perPreset.juels;
      // Most of the LINK is in the subscriptions; the reserve that tops them up may be small.
      tell(
        presets > 0n,
        `the reserve for dapps' subscriptions holds ${roundAmount(juels)} LINK, enough for about ${presets} presets${nativePayment ? "; random words are paid for in coin" : ""}`,
        `run \`tyche network fund ${name} --link AMOUNT\``,
      );
    },
  };
}

/**
 * Asks the nodes of several operators about each other, and reports a line for each; nothing for an oracle that holds all keys itself.
 */
export async function checkNodes(
  { signers, transmitters, offchainConfig }: OracleIdentity["functions"],
  tell: (isOk: boolean, text: string, remedy?: string) => void,
): Promise<void> {
  const urls = parseNodeUrls(offchainConfig ?? "0x", signers.length) ?? [];
  const nodes = urls.map((url, index) => ({
    url,
    signer: signers[index]!,
    transmitter: transmitters[index]!,
  }));
  for (const state of await readNodeStates(nodes)) {
    const { url, signer, trouble, isMember } = state;
    if (trouble === undefined)
      tell(
        isMember,
        `node ${url} (${signer}): ${describe(state)}`,
        "it does not count itself among the coordinator's nodes: its keys are different, or its chain is behind",
      );
    else
      tell(
        false,
        `node ${url} (${signer}) does not answer: ${trouble}; ${describe(state)}`,
        "its operator has to start it",
      );
  }
}

function describe({ witnesses, lastSeen, agreementRate, lastTransmission, accusers }: NodeState): string {
  if (witnesses === 0) return "none of the others reports on it";
  return [
    lastSeen === undefined ? "not seen yet" : `last seen ${lastSeen}`,
    agreementRate === undefined
      ? "no answers to compare yet"
      : `agreed with ${(100 * agreementRate).toFixed(1)} % of the answers`,
    lastTransmission === undefined ? "no transmission yet" : `last transmission ${lastTransmission}`,
    ...(accusers === 0 ? [] : [`contradicted itself, as ${accusers} others say: see their /evidence`]),
  ].join("; ");
}

/** A head older than this is suspicious on any network. */
const OLD_HEAD_SECONDS = 120n;

/** Checks one node: the age of its head, whether it pushes heads, and how many blocks of logs it returns at once. */
async function checkNode(client: ChainClient, name: string, tell: Tell): Promise<void> {
  const head = await client.getHead("latest");
  if (head === undefined) return tell(false, `${name} has no block`, "let it synchronise");
  const age = BigInt(Math.floor(Date.now() / 1000)) - head.timestamp;
  const stop = await client.subscribeHeads(() => {}).catch(() => undefined);
  stop?.();
  const from = head.number > 999n ? head.number - 999n : 0n;
  const logs = { addresses: ["0x0000000000000000000000000000000000000001" as Hex], fromBlock: from };
  const range = await client.getLogs({ ...logs, toBlock: head.number }).then(
    () => "logs of 1,000 blocks at once",
    () => "fewer than 1,000 blocks of logs at once",
  );
  tell(
    age <= OLD_HEAD_SECONDS,
    `${name}: block ${head.number}, ${age < 0n ? 0 : age} s old; ${stop === undefined ? "heads by polling" : "pushes heads"}; ${range}`,
    "its newest block is old: let it synchronise, or use another node",
  );
}

/** Reports when a transaction counts as final, according to this node and to what is known about the network. */
async function checkFinality(client: ChainClient, profile: NetworkProfile, tell: Tell): Promise<void> {
  const { finalityDepth, finalityEstimate, hasFinalizedTag } = profile;
  const estimate =
    finalityEstimate === undefined
      ? ""
      : `, which is an estimate (${finalityEstimate}); finalityDepth sets it`;
  const byDepth = `after ${finalityDepth} blocks${estimate}`;
  if (!hasFinalizedTag) return tell(true, `transactions count as final ${byDepth}`);
  const head = await client.getHead("latest");
  const finalized = await client.getHead("finalized").catch((error: unknown) => {
    if (error instanceof RpcError && error.answered) return undefined;
    throw error;
  });
  if (head === undefined || finalized === undefined)
    return tell(true, `the node has no finalized block: transactions count as final ${byDepth}`);
  const behind = head.number > finalized.number ? head.number - finalized.number : 0n;
  tell(true, `transactions count as final at the node's finalized block, ${behind} blocks back`);
}

/** The result of one check. */
export interface NetworkFinding {
  readonly isOk: boolean;
  readonly text: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** Reports the result of one check, with a remedy in case it failed. */
type Tell = (isOk: boolean, text: string, remedy?: string) => void;

/** Significant digits that are enough for display. */
const DIGITS = 6;

/**
 * Formats an amount of 1e-18 units with six significant digits at most, except that the integer part stays whole: 0.0000120494
 * rather than 0.000012049406059768.
 */
export function roundAmount(amount: bigint): string {
  const cut = 10n ** BigInt(Math.max(0, amount.toString().length - DIGITS));
  // All digits before the decimal point stay.
  return formatEther(
    amount < 10n ** 18n * 10n ** BigInt(DIGITS) ? (amount / cut) * cut : (amount / 10n ** 18n) * 10n ** 18n,
  );
}
