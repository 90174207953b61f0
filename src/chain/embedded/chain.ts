import { mkdirSync } from "node:fs";
import { toHex } from "viem";
import type { Hex } from "viem";
import type { Account } from "../account.ts";
import type { ChainClient } from "../client.ts";
import { deployStack } from "../deploy.ts";
import type { StackAddresses, StackRoles } from "../stackPlan.ts";
import { minConfirmationsOf } from "../networks.ts";
import type { NetworkProfile } from "../networks.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "./anvil.ts";
import { startEmbeddedNode } from "./embeddedNode.ts";
import type { EmbeddedNodeOptions } from "./embeddedNode.ts";

/** Coin that each account of ours gets on a new chain, in wei. */
const ACCOUNT_BALANCE_WEI = 10n ** 24n;

/** Where and what a chain's contracts are, as stored between starts. */
export interface EmbeddedDeployment {
  readonly contracts: StackAddresses;
  /** First block after the deployment. */
  readonly blockNumber: number;
  /** RPC port, so that a user's tools find the chain again. */
  readonly port: number;
}

/** A chain of our own that serves. */
export interface EmbeddedChain {
  /** For everybody's tools. */
  readonly rpcUrl: string;
  readonly client: ChainClient;
  readonly deployment: EmbeddedDeployment;
  /** Hash of the deployment's last block: tells this chain from any other. */
  readonly identity: Hex;
  /** Whether the chain is another one than was known before. */
  readonly isNew: boolean;
  /** Writes the state and ends; idempotent. */
  close(): Promise<void>;
}

/** Options of {@link startEmbeddedChain}. */
export interface EmbeddedChainOptions {
  readonly profile: NetworkProfile;
  /** Folder for the chain's state; made when absent. */
  readonly folder: string;
  /** What an earlier start found or made. */
  readonly known: { readonly identity: string; readonly deployment: EmbeddedDeployment } | undefined;
  /** Port for a new chain. */
  readonly preferredPort: number;
  readonly deployer: Account;
  readonly roles: StackRoles;
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
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const start = (isNew: boolean) =>
    startEmbeddedNode({
      chainId: profile.chainId,
      folder,
      isNew,
      preferredPort: known?.deployment.port ?? options.preferredPort,
      onRestart: options.onRestart,
      onCompacted: options.onCompacted,
      onError: options.onError,
    });
  let node = await start(known === undefined);
  const close = (): Promise<void> => node.close();
  try {
    if (known !== undefined) {
      const { client, port, rpcUrl } = node;
      const present = await client.getHead(BigInt(known.deployment.blockNumber));
      if (present?.hash === known.identity) {
        node.resume(known.deployment.blockNumber);
        const deployment = { ...known.deployment, port };
        return { rpcUrl, client, deployment, identity: present.hash, isNew: false, close };
      }
      await node.close();
      node = await start(true);
    }
    const { client, port, rpcUrl } = node;
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
    });
    const head = (await client.getHead("latest"))!;
    const deployment = { contracts, blockNumber: Number(head.number), port };
    await node.begin(deployment.blockNumber);
    return { rpcUrl, client, deployment, identity: head.hash, isNew: true, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}
