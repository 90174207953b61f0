import { decodeFunctionResult, encodeFunctionData, toHex } from "viem";
import type { Hex } from "viem";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import { deployStack } from "../../chainlink/deploy.ts";
import { wordPaymentAbi } from "../../chainlink/contracts/abi.ts";
import type { StackAddresses, StackRoles } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { keyHashOfRole, type VrfTerms } from "../../chainlink/vrfPlan.ts";
import type { ChainDeployment, KnownChain } from "../network.ts";
import { minConfirmationsOf } from "../profiles.ts";
import type { NetworkProfile } from "../profiles.ts";
import { EMBEDDED_GAS_PRICE_WEI, EmbeddedChainError } from "./anvil.ts";
import { prepareChainFolder, renew } from "./chainFolder.ts";
import { startEmbeddedNode } from "./embeddedNode.ts";
import type { EmbeddedNode, EmbeddedNodeOptions } from "./embeddedNode.ts";

/** Coin that each account of ours gets on a new chain, in wei. */
const ACCOUNT_BALANCE_WEI = 10n ** 24n;

/** Where and what a chain's contracts are, as stored between starts. */
type EmbeddedDeployment = ChainDeployment & { readonly port: number };

/** A chain of our own that serves. */
export interface EmbeddedChain {
  /** For everybody's tools. */
  readonly rpcUrl: string;
  readonly client: ChainClient;
  /** For our own oracle; see `EmbeddedNode.earlyClient`. */
  readonly oracleClient: ChainClient;
  readonly deployment: EmbeddedDeployment;
  /** Hash of the deployment's last block: tells this chain from any other. */
  readonly identity: Hex;
  /** Whether the chain is another one than was known before. */
  readonly isNew: boolean;
  readonly removeBlocks: EmbeddedNode["removeBlocks"];
  readonly findAppearances: EmbeddedNode["findAppearances"];
  /** What was damaged when it started, or has been found so since, and what has become of it: a sentence each, with paths. */
  readonly findings: readonly string[];
  /** What an operator should see to although the chain serves, the findings included. */
  warnings(this: void): Promise<readonly string[]>;
  /** Writes the state and ends; idempotent. */
  close(): Promise<void>;
}

/** The version of the contracts for random words, and how PresetConsumer pays for them: fixed when a chain is new. */
export type EmbeddedVrf = Required<Pick<VrfTerms, "vrfVersion" | "nativePayment">>;

/** Options of {@link startEmbeddedChain}. */
export interface EmbeddedChainOptions {
  readonly profile: NetworkProfile;
  /** Folder for the chain's state; made when absent. */
  readonly folder: string;
  /** What an earlier start found or made. */
  readonly known: KnownChain | undefined;
  /** RPC port to take if it is free. */
  readonly preferredPort: number;
  readonly rpcOrigins: EmbeddedNodeOptions["rpcOrigins"];
  readonly deployer: Account;
  readonly roles: StackRoles;
  /** Of a new chain; one that is known must have the same. */
  readonly vrf: EmbeddedVrf;
  /** Further accounts that send transactions. */
  readonly accounts: readonly Hex[];
  readonly onRestart: EmbeddedNodeOptions["onRestart"];
  readonly onCompacted: EmbeddedNodeOptions["onCompacted"];
  readonly onError: EmbeddedNodeOptions["onError"];
}

/**
 * Starts one chain of our own: goes on with the state in the folder, or makes a new chain and deploys the contracts.
 * Everything that only such a chain has is in this folder: its process, coins from nothing, the fixed gas price.
 */
export async function startEmbeddedChain(options: EmbeddedChainOptions): Promise<EmbeddedChain> {
  const { profile, folder, known, deployer } = options;
  const { hasState, findings: found } = prepareChainFolder(folder, known !== undefined);
  const findings = [...found];
  const start = () =>
    startEmbeddedNode({
      chainId: profile.chainId,
      folder,
      preferredPort: options.preferredPort,
      rpcOrigins: options.rpcOrigins,
      onRestart: options.onRestart,
      onCompacted: options.onCompacted,
      onError: options.onError,
      onDamage: (sentence) => findings.push(sentence),
    });
  let node = await start();
  const close = (): Promise<void> => node.close();
  const removeBlocks: EmbeddedNode["removeBlocks"] = (range) => node.removeBlocks(range);
  const findAppearances: EmbeddedNode["findAppearances"] = (query) => node.findAppearances(query);
  const warnings = async (): Promise<readonly string[]> => [...(await node.warnings()), ...findings];
  try {
    if (known !== undefined && hasState) {
      const { client, earlyClient: oracleClient, port, rpcUrl } = node;
      const present = await client.getHead(BigInt(known.deployment.blockNumber));
      if (present?.hash === known.identity) {
        await assertSameVrf(client, known.deployment.contracts, options);
        await assertVrfKeys(client, known.deployment.contracts, options);
        node.resume(known.deployment.blockNumber);
        const deployment = { ...known.deployment, port };
        return {
          rpcUrl,
          client,
          oracleClient,
          deployment,
          identity: present.hash,
          isNew: false,
          removeBlocks,
          findAppearances,
          findings,
          warnings,
          close,
        };
      }
      await node.close();
      findings.push(
        `${folder} held another chain than the database knows; it is now ${renew(folder)}, and a new chain has begun; ` +
          "to have it back, stop the service, and put chain and database of one moment back from a backup",
      );
      node = await start();
    }
    const { client, earlyClient: oracleClient, port, rpcUrl } = node;
    const accounts = new Set([deployer.address, ...options.accounts]);
    await Promise.all(
      [...accounts].map((account) =>
        client.request("anvil_setBalance", [account, toHex(ACCOUNT_BALANCE_WEI)]),
      ),
    );
    const contracts = await deployStack({
      client,
      chainId: profile.chainId,
      deployer,
      gasPriceWei: EMBEDDED_GAS_PRICE_WEI,
      synchronous: true,
      roles: options.roles,
      donName: profile.functions.donId,
      minConfirmations: minConfirmationsOf(profile, "embedded"),
      premiumLinkPpm: profile.vrf.premiumLinkPpm,
      ...options.vrf,
    });
    const head = (await client.getHead("latest"))!;
    const deployment = { contracts, blockNumber: Number(head.number), port };
    await node.begin(deployment.blockNumber);
    const identity = head.hash;
    return {
      rpcUrl,
      client,
      oracleClient,
      deployment,
      identity,
      isNew: true,
      removeBlocks,
      findAppearances,
      findings,
      warnings,
      close,
    };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** Contracts stay what they are: other terms take a new chain. */
async function assertSameVrf(
  client: ChainClient,
  { vrfVersion = "v2", presetConsumer }: StackAddresses,
  { profile, vrf }: Pick<EmbeddedChainOptions, "profile" | "vrf">,
): Promise<void> {
  const refuse = (found: string, wanted: string): never => {
    throw new EmbeddedChainError(
      `the chain of ${profile.name} has the contracts of ${found}, but the configuration says ${wanted}: say the former, or remove its folder for a new chain`,
    );
  };
  if (vrfVersion !== vrf.vrfVersion) refuse(`VRF ${vrfVersion}`, vrf.vrfVersion);
  if (vrfVersion === "v2") return;
  const call = { abi: wordPaymentAbi, functionName: "NATIVE_PAYMENT" } as const;
  const data = await client.call({ to: presetConsumer, data: encodeFunctionData(call) });
  const isPaidNatively = decodeFunctionResult({ ...call, data });
  if (isPaidNatively !== vrf.nativePayment) refuse(`nativePayment ${isPaidNatively}`, `${vrf.nativePayment}`);
}

/** The coordinator knows the keys that it was deployed with. */
async function assertVrfKeys(
  client: ChainClient,
  { vrfVersion = "v2", vrfCoordinator }: StackAddresses,
  { profile, roles }: Pick<EmbeddedChainOptions, "profile" | "roles">,
): Promise<void> {
  const wanted = roles.furtherVrf ?? [];
  for (const role of wanted) {
    const { data, decode } = COORDINATOR_READS[vrfVersion].lane(keyHashOfRole(role));
    if (decode(await client.call({ to: vrfCoordinator, data })).isRegistered) continue;
    throw new EmbeddedChainError(
      `the chain of ${profile.name} has fewer than the ${wanted.length + 1} VRF keys of the configuration (vrfKeys): remove its folder for a new chain`,
    );
  }
}
