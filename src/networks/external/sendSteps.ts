import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { DeploymentError } from "../../chainlink/deploy.ts";
import type { DeploymentStep } from "../../chainlink/stackPlan.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient, Receipt } from "../../evm/client.ts";
import { PriceAboveCapError, quote, replacementOf, type Fees, type GasPrice } from "../../evm/fees.ts";
import { meaningOf } from "../../evm/refusal.ts";
import { readSigned, signCall } from "../../evm/signedTransaction.ts";
import { messageOf } from "../../lib/errors.ts";
import { RpcError } from "../../lib/nodeAnswers.ts";
import { saveJournal, type DeploymentJournal } from "./deploymentJournal.ts";

/** Interval between checks for receipts. */
const POLL_MS = 250;
/** The next transaction in line is resent at a higher price when this many blocks go by without it. */
const REPRICE_AFTER_BLOCKS = 4n;
/**
 * Checks of a spent nonce without a receipt before the nonce counts as used by another transaction: a pool's nodes don't catch up at
 * the same time.
 */
const FOREIGN_AFTER_LOOKS = 20;
/** Refusals that are no fault of the transaction: the node already has it, its turn comes later, or it will be repriced. */
const HARMLESS_REFUSALS: readonly string[] = ["waiting", "nonce_spent", "underpriced", "unreachable"];

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

export interface SendStepsOptions {
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
export async function sendSteps(
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
  const send = async (index: number, turn: number): Promise<void> => {
    const { meaning, reason } = (await broadcast(client, signedOf(index).at(-1)!.raw)) ?? {};
    // A pool may also count the cost of the transactions waiting before it.
    if (meaning === undefined || (meaning === "unfunded" && index > turn)) return;
    throw new DeploymentError(
      steps[index]!.name,
      meaning === "unfunded"
        ? `${operator.address} can't pay for it (${reason}); send it coin and run the command again, which continues from here`
        : `the node refuses its transaction: ${reason}`,
    );
  };
  const sendFrom = async (turn: number): Promise<void> => {
    for (let index = turn; index < steps.length; index += 1) await send(index, turn);
  };
  /** Raises the price of a step; above the operator's cap it waits for the market price to fall. */
  const reprice = async (index: number): Promise<void> => {
    const { price: paid } = readSigned({ ...signedOf(index).at(-1)!, nonce: journal.firstNonce + index });
    const market = await quote(fees, client).catch(ignorePriceAboveCap);
    const raised = replacementOf(fees, paid, { market, capWei: undefined });
    if (raised === undefined) return;
    await sign(index, raised);
    saveJournal(file, journal);
  };

  if (journal.steps.length < steps.length) {
    const price = await quote(fees, client);
    journal = { ...journal, steps: steps.map(({ name }) => ({ name, signed: [] })) };
    for (const index of steps.keys()) await sign(index, price);
    saveJournal(file, journal);
  }

  /** Head at which the next step in line was last sent. */
  let sentAt: { readonly index: number; readonly block: bigint } | undefined;
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
    if (sentAt === undefined) {
      await sendFrom(index);
      sentAt = { index, block };
    } else if (sentAt.index !== index) {
      await send(index, index);
      sentAt = { index, block };
    } else if (block - sentAt.block >= REPRICE_AFTER_BLOCKS) {
      await reprice(index);
      await sendFrom(index);
      sentAt = { index, block };
    }
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

/** Returns why a node refuses a transaction; `undefined` when it accepts it, or may still. */
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
