import type { Comparison, VerificationStep } from "../api/types.ts";
import type { Hex } from "viem";
import type { ChainFacts } from "./chainFacts.ts";
import { compareStep, failedStep, notApplicableStep } from "./verification.ts";

/**
 * Checks that the transactions match their hashes, and that they and their logs are in blocks that match *their* hashes.
 * For the request this is more than the node's word: the VRF proof is for the exact hash of its block.
 *
 * @param means.hasEthereumBlocks whether blocks are hashed as on Ethereum; some networks have headers of their own
 * @param means.mustNameChain the one of them that nothing else ties to its chain. Whoever sends a transaction may sign it for none, and on
 * another chain the contracts may have the same addresses.
 */
export async function checkTransactions(
  hashes: readonly Hex[],
  {
    facts,
    hasEthereumBlocks,
    mustNameChain,
  }: {
    readonly facts: ChainFacts;
    readonly hasEthereumBlocks: boolean;
    readonly mustNameChain?: Hex | undefined;
  },
): Promise<VerificationStep> {
  const compared: Comparison[] = [];
  const gaps = new Set<string>();
  for (const hash of new Set(hashes)) {
    const transaction = await facts.getTransaction(hash);
    if (!transaction.succeeded)
      return failedStep("transactions", `the transaction ${hash} was reverted`, compared);
    compared.push(...transaction.compared);
    if (transaction.gap !== undefined) gaps.add(transaction.gap);
    if (hash === mustNameChain && transaction.chainId === undefined)
      gaps.add(
        `the transaction ${hash} is signed for no chain (before EIP-155), so it could be another one's`,
      );
  }
  const holds = hasEthereumBlocks
    ? "each transaction matches its hash, and its block contains it and its logs"
    : "each transaction matches its hash; its block and its logs are the node's word";
  const step = compareStep("transactions", holds, compared);
  if (step.outcome === "failed")
    return {
      ...step,
      detail: `${step.detail}; the data that were read were changed, or are another chain's`,
    };
  if (gaps.size === 0) return step;
  const open = "that these transactions and their logs are on the chain is the node's word";
  return notApplicableStep("transactions", `${[...gaps].join("; ")}: ${open}`, compared);
}
