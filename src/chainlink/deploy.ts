import { askContract, readOf } from "./contractRead.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import type { Account } from "../evm/account.ts";
import type { ChainClient } from "../evm/client.ts";
import { parseReceipt, type Receipt } from "../lib/nodeAnswers.ts";
import { signCall } from "../evm/signedTransaction.ts";
import { functionsCoordinatorAbi } from "./contracts/abi.ts";
import {
  type DeploymentStep,
  planDeployment,
  planSecretKeys,
  type StackAddresses,
  type StackPlan,
  type StackRoles,
} from "./stackPlan.ts";

export interface DeployOptions extends StackPlan {
  readonly client: ChainClient;
  /** Pays for everything; remains the owner of the public contracts and the minter of LINK. */
  readonly deployer: Account;
  readonly gasPriceWei: bigint;
  /**
   * Whether to wait for each receipt before sending the next transaction, with `eth_sendRawTransactionSync`. Anvil needs it:
   * its pool may hold a transaction forever if the previous one is mined just as it arrives. Default `false`.
   */
  readonly synchronous?: boolean;
  /** How long the last transaction may take to be mined. Default 180,000 ms. */
  readonly timeoutMs?: number;
}

/**
 * Deploys and configures all contracts of one chain: LINK with fixed price feeds, VRF, Functions, and ours.
 *
 * The addresses follow from the deployer's nonce, so all transactions are signed in advance and, unless `synchronous`, sent
 * without waiting in between. The deployer must send nothing else in the meantime.
 *
 * @throws {DeploymentError} naming the step that failed. A failed deployment can't be resumed with the same nonces; a second
 * call deploys everything again.
 */
export async function deployStack(options: DeployOptions): Promise<StackAddresses> {
  const { client, deployer } = options;
  const firstNonce = await client.getNonce(deployer.address, "pending");
  const { addresses, steps } = planDeployment(options, deployer.address, firstNonce);
  const signed = await signSteps(steps, firstNonce, options);
  const receipts = options.synchronous
    ? await sendOneByOne(client, signed)
    : await sendAtOnce(client, signed, performance.now() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS));
  assertSucceeded(steps, receipts);
  return addresses;
}

const DEFAULT_TIMEOUT_MS = 180_000;

interface SignedStep {
  readonly step: DeploymentStep;
  readonly raw: Hex;
  readonly hash: Hex;
}

/** Where keys are published, and by whom. */
export interface PublishOptions extends Pick<
  DeployOptions,
  "client" | "chainId" | "deployer" | "gasPriceWei"
> {
  readonly functionsCoordinator: Hex;
  readonly keys: Pick<StackRoles["functions"], "donPublicKey" | "thresholdPublicKey">;
}

/**
 * Publishes the keys that secrets are encrypted to on a coordinator that has others, such as one deployed before there were any. Waits for
 * each receipt.
 *
 * @throws {DeploymentError} when a transaction reverts.
 */
export async function publishSecretKeys(options: PublishOptions): Promise<void> {
  const { client, deployer, functionsCoordinator: to, keys } = options;
  const read = (name: "getDONPublicKey" | "getThresholdPublicKey"): Promise<Hex> =>
    askContract(client, to, readOf(functionsCoordinatorAbi, name, []));
  const steps = planSecretKeys(to, keys);
  const published = [await read("getDONPublicKey"), await read("getThresholdPublicKey")];
  if (published[0] === keys.donPublicKey && published[1] === keys.thresholdPublicKey) return;
  const firstNonce = await client.getNonce(deployer.address, "pending");
  const signed = await signSteps(steps, firstNonce, options);
  assertSucceeded(steps, await sendOneByOne(client, signed));
}

/** Signs steps for nonces from `firstNonce` on. */
async function signSteps(
  steps: readonly DeploymentStep[],
  firstNonce: number,
  { deployer, chainId, gasPriceWei }: Pick<DeployOptions, "deployer" | "chainId" | "gasPriceWei">,
): Promise<readonly SignedStep[]> {
  const signed: SignedStep[] = [];
  for (const [index, step] of steps.entries()) {
    const terms = { chainId, nonce: firstNonce + index, gasPriceWei };
    signed.push({ step, ...(await signCall(deployer, step, terms)) });
  }
  return signed;
}

function assertSucceeded(steps: readonly DeploymentStep[], receipts: readonly Receipt[]): void {
  const failed = receipts.findIndex((receipt) => !receipt.succeeded);
  if (failed >= 0) throw new DeploymentError(steps[failed]!.name, "it reverted");
}

async function sendOneByOne(client: ChainClient, signed: readonly SignedStep[]): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const { raw } of signed) {
    receipts.push(parseReceipt(await client.request("eth_sendRawTransactionSync", [raw])));
  }
  return receipts;
}

async function sendAtOnce(
  client: ChainClient,
  signed: readonly SignedStep[],
  deadline: number,
): Promise<Receipt[]> {
  await Promise.all(signed.map(({ raw }) => client.request("eth_sendRawTransaction", [raw])));
  // Transactions are mined in the order of their nonces: once the last receipt is there, all are.
  const last = signed.at(-1)!;
  await waitForReceipt(client, last.hash, last.step, deadline);
  return await Promise.all(signed.map(({ step, hash }) => waitForReceipt(client, hash, step, deadline)));
}

async function waitForReceipt(
  client: ChainClient,
  hash: Hex,
  step: DeploymentStep,
  deadline: number,
): Promise<Receipt> {
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 1_000)) {
    const receipt = await client.getReceipt(hash);
    if (receipt !== undefined) return receipt;
    if (performance.now() > deadline)
      throw new DeploymentError(step.name, `its transaction ${hash} was not mined in time`);
    await sleep(pauseMs);
  }
}

/** A contract could not be deployed or configured. */
export class DeploymentError extends TycheError {
  constructor(step: string, reason: string) {
    super(`deploying the contracts failed at ${step}: ${reason}`, {
      code: "deployment_failed",
      blame: "upstream",
      details: { step },
    });
  }
}
