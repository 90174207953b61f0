import {
  decodeFunctionResult,
  encodeFunctionData,
  formatEther,
  formatGwei,
  isAddressEqual,
  keccak256,
  parseAbi,
  type Hex,
} from "viem";
import { functionsCoordinatorAbi, functionsRouterAbi } from "../../chainlink/contracts/abi.ts";
import { configDigestOf, nodeConfigOf } from "../../chainlink/nodeConfig.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { planDeployment } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Fees } from "../../evm/fees.ts";
import { messageOf } from "../../lib/errors.ts";
import type { NetworkProfile } from "../profiles.ts";
import { hasChainlinkVrf, type ContractsFile } from "./contractsFile.ts";
import { stackPlanOf } from "./deployNetwork.ts";
import { assertChainId, connectExternal } from "./externalNode.ts";
import { assertDeployed } from "./externalSource.ts";
import { readLinkBalance } from "./fundNetwork.ts";

/** A head older than this is amiss on any network. */
const OLD_HEAD_SECONDS = 120n;
/** Gas of one preset that shares nothing with another, request, proof and report together. */
const GAS_PER_PRESET = 600_000n;
/** Presets that an account should last for. */
const ENOUGH_PRESETS = 100n;
const ownableAbi = parseAbi(["function owner() view returns (address)"]);

/** One thing that was looked at. */
export interface NetworkFinding {
  readonly isOk: boolean;
  readonly text: string;
  /** What to do. */
  readonly remedy?: string;
}

/** Options of {@link checkNetwork}. */
export interface CheckNetworkOptions {
  readonly profile: NetworkProfile;
  readonly rpcUrls: readonly string[];
  readonly contracts: ContractsFile;
  readonly fees: Fees;
  /** Address of the operator's account, or why it can't be told. */
  readonly operator: () => Promise<Hex>;
  readonly onFinding: (finding: NetworkFinding) => void;
}

/** Looks a network over, one finding after the other. Never rejects: what can't be asked is a finding. */
export async function checkNetwork(options: CheckNetworkOptions): Promise<boolean> {
  const { profile, rpcUrls, onFinding } = options;
  let isFine = true;
  const tell = (isOk: boolean, text: string, remedy?: string): void => {
    isFine &&= isOk;
    onFinding({ isOk, text, ...(isOk || remedy === undefined ? {} : { remedy }) });
  };
  const attempt = async (what: string, look: () => Promise<void>): Promise<void> => {
    await look().catch((error: unknown) => tell(false, `${what}: ${messageOf(error)}`));
  };
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
    const looks = lookAt({ ...options, client: usable, tell });
    for (const [what, look] of Object.entries(looks)) await attempt(what, look);
  }
  await Promise.all(clients.map((client) => client.close()));
  return isFine;
}

type Tell = (isOk: boolean, text: string, remedy?: string) => void;

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
    "its newest block is old: let it synchronise, or name another node",
  );
}

function lookAt(
  options: CheckNetworkOptions & { readonly client: ChainClient; readonly tell: Tell },
): Record<string, () => Promise<void>> {
  const { client, contracts: file, profile, fees, tell } = options;
  const { contracts, oracle } = file;
  const lasts = (balanceWei: bigint, priceWei: bigint): bigint =>
    priceWei === 0n ? ENOUGH_PRESETS : balanceWei / (GAS_PER_PRESET * priceWei);
  const balanceOf = async (what: string, address: Hex, priceWei: bigint): Promise<void> => {
    const balanceWei = await client.getBalanceWei(address);
    const presets = lasts(balanceWei, priceWei);
    tell(
      presets >= ENOUGH_PRESETS,
      `${what} ${address} holds ${formatEther(balanceWei)} ${profile.coin}, enough for about ${presets} presets`,
      `send it ${profile.coin}, or run \`tyche network fund ${profile.name} --coin AMOUNT\` for the oracle's`,
    );
  };
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
          "it is not what this version builds; deploy anew, or use the version that deployed it",
        );
      }
    },
    "VRF key": async () => {
      const { data, decode } = COORDINATOR_READS[contracts.vrfVersion ?? "v2"].lane(file.keyHash);
      const { isRegistered, maxGasWei } = decode(await client.call({ to: contracts.vrfCoordinator, data }));
      if (hasChainlinkVrf(file)) {
        const limit = maxGasWei === undefined ? "" : `, up to ${formatGwei(maxGasWei)} gwei`;
        return tell(
          isRegistered,
          `random words come from Chainlink's oracle: coordinator ${contracts.vrfCoordinator}, key ${file.keyHash}${limit}`,
          "Chainlink has taken this key off its coordinator; deploy for one of its lanes",
        );
      }
      tell(
        isRegistered,
        `the oracle's VRF key ${file.keyHash} is registered; at least ${file.minConfirmations} confirmations`,
        "the coordinator doesn't know the key of this oracle; deploy for the oracle that runs",
      );
    },
    "oracle network": async () => {
      const call = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
      const data = await client.call({ to: contracts.functionsCoordinator, data: encodeFunctionData(call) });
      const [count, , digest] = decodeFunctionResult({ ...call, data });
      const expected = configDigestOf(nodeConfigOf(oracle.functions), {
        chainId: file.chainId,
        coordinator: contracts.functionsCoordinator,
        count: BigInt(count),
      });
      tell(
        digest === expected,
        `the configuration digest is that of the oracle's ${oracle.functions.signers.length} signers`,
        `the coordinator has ${digest}, and this oracle's is ${expected}: its reports are refused; deploy for the oracle that runs`,
      );
      const byId = { abi: functionsRouterAbi, functionName: "getContractById" } as const;
      const donId: Hex = `0x${Buffer.from(file.donId).toString("hex").padEnd(64, "0")}`;
      const answer = await client.call({
        to: contracts.functionsRouter,
        data: encodeFunctionData({ ...byId, args: [donId] }),
      });
      const routed = decodeFunctionResult({ ...byId, data: answer });
      tell(
        isAddressEqual(routed, contracts.functionsCoordinator),
        `the router knows ${file.donId}`,
        "the router has another coordinator under that name",
      );
      const paused = { abi: functionsRouterAbi, functionName: "paused" } as const;
      const isPaused = decodeFunctionResult({
        ...paused,
        data: await client.call({ to: contracts.functionsRouter, data: encodeFunctionData(paused) }),
      });
      tell(!isPaused, `the router is ${isPaused ? "paused" : "open"}`, "its owner has to call unpause()");
    },
    operator: async () => {
      const operator = await options.operator();
      const call = { abi: ownableAbi, functionName: "owner" } as const;
      const data = await client.call({ to: contracts.subscriptionOwner, data: encodeFunctionData(call) });
      const owner = decodeFunctionResult({ ...call, data });
      tell(
        isAddressEqual(owner, operator),
        `the operator ${operator} owns the subscriptions`,
        `their owner is ${owner}: name that account's key in operatorKey`,
      );
      const priceWei = await fees.gasPriceWei(client);
      await balanceOf("the operator", operator, priceWei);
    },
    "gas price": async () => {
      const priceWei = await fees.gasPriceWei(client);
      tell(true, `gas costs ${formatGwei(priceWei)} gwei`);
    },
    "oracle accounts": async () => {
      const priceWei = await fees.gasPriceWei(client);
      if (!hasChainlinkVrf(file))
        await balanceOf("the oracle's VRF account", oracle.vrf.feeReceiver, priceWei);
      for (const address of oracle.functions.transmitters)
        await balanceOf("the oracle's transmitter", address, priceWei);
    },
    LINK: async () => {
      const juels = await readLinkBalance(client, contracts.link, contracts.subscriptionOwner);
      tell(
        juels > 0n,
        `the reserve for dapps' subscriptions holds ${formatEther(juels)} LINK`,
        `run \`tyche network fund ${profile.name} --link AMOUNT\``,
      );
    },
  };
}
