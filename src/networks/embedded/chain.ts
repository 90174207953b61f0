import { askContract, readOf } from "../../chainlink/contractRead.ts";
import { linkSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { toHex, type Hex } from "viem";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import { deployStack, publishSecretKeys } from "../../chainlink/deploy.ts";
import { wordPaymentAbi } from "../../chainlink/contracts/abi.ts";
import { isPresetConsumer } from "../../chainlink/presetConsumerReads.ts";
import type { StackAddresses, StackRoles } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { keyHashOfRole, type VrfTerms } from "../../chainlink/vrfPlan.ts";
import type { ChainDeployment, KnownChain, NetworkChain } from "../network.ts";
import { EMBEDDED_MIN_CONFIRMATIONS, type NetworkProfile } from "../profiles.ts";
import { EMBEDDED_GAS_PRICE_WEI, EmbeddedChainError } from "./process/anvil.ts";
import {
  startEmbeddedNode,
  type EmbeddedNode,
  type EmbeddedNodeOptions,
  chainFilesIn,
} from "./embeddedNode.ts";
import { findStateDamage, previousOf } from "./storage/stateFile.ts";
import { findDamage } from "../../lib/databaseCheck.ts";
import { messageOf } from "../../lib/errors.ts";
import { setAside } from "../../lib/setAside.ts";

/** Balance that each account of the service gets on a new chain, in wei. */
const ACCOUNT_BALANCE_WEI = 10n ** 24n;

/** Where and what a chain's contracts are, as stored between starts. */
type EmbeddedDeployment = ChainDeployment & { readonly port: number };

/** A running embedded chain: what a network's chain has besides what its keys decide. */
export type EmbeddedChain = Required<
  Omit<NetworkChain, "deployment" | "operator" | "fees" | "pipelining" | "blockMs" | "takenPort">
> & { readonly deployment: EmbeddedDeployment };

/** The VRF version of the contracts, and how PresetConsumer pays for random words: fixed when a chain is created. */
export type EmbeddedVrf = Required<Pick<VrfTerms, "vrfVersion" | "nativePayment">>;

/** The folder is created when it is absent. */
export interface EmbeddedChainOptions extends Omit<EmbeddedNodeOptions, "chainId" | "onDamage"> {
  readonly profile: NetworkProfile;
  /** The chain that an earlier start found or created. */
  readonly known: KnownChain | undefined;
  readonly deployer: Account;
  readonly roles: StackRoles;
  /** For a new chain; a known chain must have the same. */
  readonly vrf: EmbeddedVrf;
  /** Further accounts that send transactions. */
  readonly accounts: readonly Hex[];
}

/**
 * Starts an embedded chain: continues from the state in the folder, or creates a new chain and deploys the contracts.
 * Everything specific to embedded chains is in this folder: the process, coins from nothing, the fixed gas price.
 */
export async function startEmbeddedChain(options: EmbeddedChainOptions): Promise<EmbeddedChain> {
  const { profile, folder, known, deployer } = options;
  const { hasState, findings: found } = prepareChainFolder(folder, known !== undefined);
  const findings = [...found];
  const start = () =>
    startEmbeddedNode({
      ...options,
      chainId: profile.chainId,
      onDamage: (sentence) => findings.push(sentence),
    });
  let node = await start();
  const close = (): Promise<void> => node.close();
  const onNode = (facts: Pick<EmbeddedChain, "deployment" | "identity" | "isNew">): EmbeddedChain => ({
    ...facts,
    rpcUrl: node.rpcUrl,
    client: node.client,
    oracleClient: node.earlyClient,
    removeBlocks: (range) => node.removeBlocks(range),
    findAppearances: (query) => node.findAppearances(query),
    pause: () => node.pause(),
    findings,
    warnings: async () => [...(await node.warnings()), ...findings],
    close,
  });
  try {
    if (known !== undefined && hasState) {
      const { client, port } = node;
      const present = await client.getHead(BigInt(known.deployment.blockNumber));
      const isSame = present?.hash === known.identity;
      const { presetConsumer } = known.deployment.contracts;
      const isCurrent = isSame && isPresetConsumer(await client.getCode(presetConsumer));
      if (isCurrent) {
        await assertSameVrf(client, known.deployment.contracts, options);
        await assertVrfKeys(client, known.deployment.contracts, options);
        node.resume(known.deployment.blockNumber);
        await publishSecretKeys({
          client,
          chainId: profile.chainId,
          deployer,
          gasPriceWei: EMBEDDED_GAS_PRICE_WEI,
          functionsCoordinator: known.deployment.contracts.functionsCoordinator,
          keys: options.roles.functions,
        });
        const deployment = { ...known.deployment, port };
        return onNode({ deployment, identity: present.hash, isNew: false });
      }
      await node.close();
      findings.push(
        isSame
          ? `${folder} held a chain with contracts of an earlier version of Tyche; it is now ${renew(folder)}, and a new chain has begun; ` +
              "results on it can be verified with that version"
          : `${folder} held a different chain from the one in the database; it is now ${renew(folder)}, and a new chain has begun; ` +
              "to recover it, stop the service, and restore the chain and the database from the same backup",
      );
      node = await start();
    }
    return onNode(await deployOn(node, options));
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** Deploys the contracts on a new chain. */
async function deployOn(
  node: EmbeddedNode,
  { profile, deployer, accounts, roles, vrf }: EmbeddedChainOptions,
): Promise<Pick<EmbeddedChain, "deployment" | "identity" | "isNew">> {
  const { client, port } = node;
  await Promise.all(
    [...new Set([deployer.address, ...accounts])].map((account) =>
      client.request("anvil_setBalance", [account, toHex(ACCOUNT_BALANCE_WEI)]),
    ),
  );
  const contracts = await deployStack({
    client,
    chainId: profile.chainId,
    deployer,
    gasPriceWei: EMBEDDED_GAS_PRICE_WEI,
    synchronous: true,
    roles,
    donName: profile.functions.donId,
    minConfirmations: EMBEDDED_MIN_CONFIRMATIONS,
    premiumLinkPpm: profile.vrf.premiumLinkPpm,
    ...vrf,
  });
  const head = (await client.getHead("latest"))!;
  const deployment = { contracts, blockNumber: Number(head.number), port };
  await node.begin(deployment.blockNumber);
  return { deployment, identity: head.hash, isNew: true };
}

/** Deployed contracts don't change: other terms need a new chain. */
async function assertSameVrf(
  client: ChainClient,
  { vrfVersion = "v2", presetConsumer }: StackAddresses,
  { profile, vrf }: Pick<EmbeddedChainOptions, "profile" | "vrf">,
): Promise<void> {
  const refuse = (found: string, wanted: string): never => {
    throw new EmbeddedChainError(
      `the chain of ${profile.name} has the contracts of ${found}, but the configuration says ${wanted}: configure the former, or remove its folder to start a new chain`,
    );
  };
  if (vrfVersion !== vrf.vrfVersion) refuse(`VRF ${vrfVersion}`, vrf.vrfVersion);
  if (vrfVersion === "v2") return;
  const isPaidNatively = await askContract(
    client,
    presetConsumer,
    readOf(wordPaymentAbi, "NATIVE_PAYMENT", []),
  );
  if (isPaidNatively !== vrf.nativePayment) refuse(`nativePayment ${isPaidNatively}`, `${vrf.nativePayment}`);
}

/** The coordinator knows only the keys that it was deployed with. */
async function assertVrfKeys(
  client: ChainClient,
  { vrfVersion = "v2", vrfCoordinator }: StackAddresses,
  { profile, roles }: Pick<EmbeddedChainOptions, "profile" | "roles">,
): Promise<void> {
  for (const role of roles.vrf.slice(1)) {
    const lane = COORDINATOR_READS[vrfVersion].lane(keyHashOfRole(role));
    if ((await askContract(client, vrfCoordinator, lane)).isRegistered) continue;
    throw new EmbeddedChainError(
      `the chain of ${profile.name} has fewer than the ${roles.vrf.length} VRF keys of the configuration (vrfKeys): remove its folder to start a new chain`,
    );
  }
}

/** Largest history that is checked at every start: the check runs at about 1 GB/s. */
const MAX_CHECKED_HISTORY_BYTES = 500 * 2 ** 20;

/** What a start found in a chain's folder. */
interface ChainFolder {
  /** Whether there is a state to continue from; otherwise the folder is empty. */
  readonly hasState: boolean;
  /** What was damaged and what became of it, one sentence each, for the operator. */
  readonly findings: readonly string[];
}

/**
 * Prepares a chain's folder for a start. Nothing is deleted: files that are damaged, or that belong to a chain the database does not
 * know, are set aside under another name next to it. A damaged state is replaced by the previous one, from which the block log leads
 * on.
 *
 * @param isKnown whether the database knows a chain here.
 * @throws {EmbeddedChainError} when something can't be read or moved; the message names it.
 */
export function prepareChainFolder(folder: string, isKnown: boolean): ChainFolder {
  const findings: string[] = [];
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats?.isDirectory() === false)
      findings.push(`${folder} was not a folder and is now ${setAside(folder)}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder);
    for (const name of names)
      if (/^anvil\.pid$|^blocks-\d+\.log$/.test(name)) setFolderAside(join(folder, name), findings);
    const hasFiles = names.some((name) => name !== "anvil.pid");
    if (!isKnown) {
      if (hasFiles)
        findings.push(
          `${folder} held a chain that the database does not know; it is now ${renew(folder)}, and a new chain has begun`,
        );
      return { hasState: false, findings };
    }
    if (!hasState(folder, findings)) return { hasState: false, findings };
    checkHistory(folder, findings);
    return { hasState: true, findings };
  } catch (error) {
    throw new EmbeddedChainError(
      `${folder} can't be used (${messageOf(error)}); fix that, and start the service again`,
      error,
    );
  }
}

/** Sets the whole folder aside and creates an empty one; returns the new path of the old contents. */
function renew(folder: string): string {
  const aside = setAside(folder);
  mkdirSync(folder, { mode: 0o700 });
  return aside;
}

/** Whether there is an intact state, counting the previous one. */
function hasState(folder: string, findings: string[]): boolean {
  const { stateFile } = chainFilesIn(folder);
  const damage = findStateDamage(stateFile);
  if (damage === undefined) return true;
  const previous = previousOf(stateFile);
  if (findStateDamage(previous) !== undefined) {
    const aside = readdirSync(folder).length === 0 ? "nothing" : renew(folder);
    findings.push(
      `${stateFile} can't be used (${damage}), and there is no earlier one: the chain is lost, a new one has begun, and its remains are ${aside}; ` +
        "to recover it, stop the service, and restore the chain and the database from the same backup",
    );
    return false;
  }
  const aside = damage === "it is missing" ? "" : `; the damaged one is now ${setAside(stateFile)}`;
  linkSync(previous, stateFile);
  findings.push(
    `${stateFile} could not be used (${damage}): the chain was rebuilt from the state before it and the block log${aside}`,
  );
  return true;
}

function checkHistory(folder: string, findings: string[]): void {
  const { historyFile } = chainFilesIn(folder);
  const files = [historyFile, `${historyFile}-wal`, `${historyFile}-shm`];
  const stats = statSync(historyFile, { throwIfNoEntry: false });
  const isFolder = files.some((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory() === true);
  const lost =
    "transactions and logs of older blocks can no longer be looked up, and results in them can no longer be verified";
  if (stats === undefined) {
    findings.push(`${historyFile} is missing: ${lost}`);
    return;
  }
  const damage = isFolder
    ? "a folder is in its place"
    : stats.size === 0
      ? "it is empty"
      : stats.size > MAX_CHECKED_HISTORY_BYTES
        ? undefined
        : findDamage(historyFile);
  if (damage === undefined) return;
  const [aside] = files.flatMap((file) =>
    statSync(file, { throwIfNoEntry: false }) === undefined ? [] : [setAside(file)],
  );
  findings.push(`${historyFile} was damaged (${damage}) and is now ${aside}: ${lost}`);
}

/** Sets a folder aside that is in the place of a file. */
function setFolderAside(path: string, findings: string[]): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    findings.push(`${path} was a folder and is now ${setAside(path)}`);
}
