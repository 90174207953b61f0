import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { DeploymentError } from "../../chainlink/deploy.ts";
import type { DeploymentStep } from "../../chainlink/stackPlan.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient, Receipt } from "../../evm/client.ts";
import { quote, replacementOf, type Fees } from "../../evm/fees.ts";
import { RpcError } from "../../lib/nodeAnswers.ts";
import { saveJournal, type DeploymentJournal } from "./deploymentJournal.ts";

/** Between looks for receipts. */
const POLL_MS = 250;
/** A transaction whose turn it is, and that so many blocks pass over, is sent again at a higher price. */
const REPRICE_AFTER_BLOCKS = 4n;
/** Looks at a spent nonce without a receipt before another transaction counts as its user: nodes answer one after the other. */
const FOREIGN_AFTER_LOOKS = 20;
/** A transaction of the deployment that is mined. */
export interface DeployedStep {
  readonly name: string;
  /** Place among the steps, from 1, and their number. */
  readonly index: number;
  readonly of: number;
  readonly hash: Hex;
  readonly gasUsed: bigint;
  readonly costWei: bigint;
}

/** Options of {@link sendSteps}. */
export interface SendStepsOptions {
  readonly client: ChainClient;
  readonly operator: Account;
  readonly fees: Fees;
  /** Path of the contracts file, beside which the journal is. */
  readonly file: string;
  readonly onStep: (step: DeployedStep) => void;
}

/** Signs what is not signed, sends it in the order of the nonces, and waits for every receipt. */
export async function sendSteps(
  options: SendStepsOptions,
  begun: DeploymentJournal,
  steps: readonly DeploymentStep[],
): Promise<void> {
  const { client, operator, fees, file } = options;
  let journal = begun;
  const signedOf = (index: number) => journal.steps[index]?.signed ?? [];
  const sign = async (index: number, gasPriceWei: bigint): Promise<void> => {
    const { name, to, data, gas } = steps[index]!;
    const { raw, hash } = await operator.sign({
      type: "legacy",
      chainId: journal.chainId,
      nonce: journal.firstNonce + index,
      gasPrice: gasPriceWei,
      gas,
      data,
      ...(to === undefined ? {} : { to }),
    });
    const signed = [...signedOf(index), { hash, raw, gasPriceWei: gasPriceWei.toString() }];
    journal = { ...journal, steps: journal.steps.with(index, { name, signed }) };
  };

  if (journal.steps.length < steps.length) {
    const { gasPriceWei: price } = await quote(fees, client);
    journal = { ...journal, steps: steps.map(({ name }) => ({ name, signed: [] })) };
    for (const index of steps.keys()) await sign(index, price);
    saveJournal(file, journal);
  }

  /** Head at which the step whose turn it is was sent last. */
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
          `another transaction of ${operator.address} took nonce ${nonce}; move the journal beside ${file} away to deploy anew, and send nothing else from this account meanwhile`,
        );
      await sleep(POLL_MS);
      continue;
    }
    const block = (await client.getHead("latest"))?.number ?? 0n;
    if (sentAt === undefined) {
      for (let at = index; at < steps.length; at += 1) await broadcast(client, signedOf(at).at(-1)!.raw);
      sentAt = { index, block };
    } else if (sentAt.index !== index) {
      sentAt = { index, block };
    } else if (block - sentAt.block >= REPRICE_AFTER_BLOCKS) {
      const paidWei = BigInt(signedOf(index).at(-1)!.gasPriceWei);
      const paid = { gasPriceWei: paidWei };
      const market = { gasPriceWei: await fees.gasPriceWei(client) };
      const raised = replacementOf(fees, paid, { market, capWei: undefined });
      // Above the operator's cap it waits for the price to fall.
      if (raised !== undefined) {
        await sign(index, raised.gasPriceWei);
        saveJournal(file, journal);
      }
      for (let at = index; at < steps.length; at += 1) await broadcast(client, signedOf(at).at(-1)!.raw);
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

/** Known already, or mined already, is as good as sent; what the node can't take at all comes out as an error. */
async function broadcast(client: Pick<ChainClient, "request">, raw: Hex): Promise<void> {
  try {
    await client.request("eth_sendRawTransaction", [raw]);
  } catch (error) {
    const isKnown = /known|already|imported|nonce too low|replacement|underpriced/i.test(String(error));
    if (error instanceof RpcError && error.answered && !isKnown) throw error;
  }
}
