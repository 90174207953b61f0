import { expect, test } from "vitest";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { meaningOf } from "../../src/evm/refusal.ts";

/** Messages as in the nodes' sources, with the node's name. */
const TEXTS = {
  waiting: [
    "already known", // geth, Erigon, Reth
    "transaction already imported", // Anvil
    "ALREADY_EXISTS: already known", // Erigon
    "AlreadyKnown, already known", // Nethermind
    "Known transaction", // Besu
    "Transaction already in mempool",
    "The transaction was added to the mempool but wasn't processed within the timeout, transaction timeout", // EIP-7966
  ],
  nonce_spent: [
    "nonce too low", // Anvil
    "nonce too low: next nonce 5, tx nonce 4", // geth
    "OldNonce, current nonce: 5, nonce of rejected tx: 4", // Nethermind
    "Nonce too low", // Besu
  ],
  underpriced: [
    "replacement transaction underpriced", // geth
    "transaction underpriced", // geth, Anvil
    "max fee per gas less than block base fee: address 0x, maxFeePerGas: 1, baseFee: 2", // geth
    "max fee per gas less than block base fee", // Anvil
    "FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1", // Nethermind
    "Gas price below configured minimum gas price", // Besu
    "REPLACEMENT_UNDERPRICED: could not replace existing tx", // Erigon
  ],
  too_large: [
    "exceeds block gas limit", // geth
    "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit", // Anvil
    "transaction gas limit too high (cap: 16777216, tx: 17000000)", // geth, EIP-7825
    "oversized data: transaction size 140000, limit 131072", // geth
  ],
  unreachable: [
    "status 429",
    "daily request limit exceeded",
    "Too Many Requests",
    "internal error",
    "header not found",
    "txpool is full", // geth
  ],
  unfunded: [
    "insufficient funds for gas * price + value: balance 0, tx cost 5, overshot 5", // geth
    "Insufficient funds for gas * price + value", // Anvil
    "InsufficientFunds, Account balance: 0, cumulative cost: 5", // Nethermind
    "Upfront cost exceeds account balance", // Besu
  ],
  refused: [
    "intrinsic gas too low", // Anvil, geth
    "invalid sender",
    "transaction type not supported", // geth
    "unknown transaction type",
    "tx fee (1.50 ether) exceeds the configured cap (1.00 ether)", // geth
  ],
  unknown: ["unknown transaction", "internal", "Internal JSON-RPC error.", "rejected by policy"],
} as const;

const cases = Object.entries(TEXTS).flatMap(([meaning, texts]) => texts.map((text) => ({ meaning, text })));

test.each(cases)("“$text” means $meaning", ({ meaning, text }) => {
  expect(meaningOf(new RpcError("eth_sendRawTransaction", text, { answered: true }))).toBe(meaning);
});

test("whatever a node that did not answer is said to have said, it was not reached", () => {
  expect(meaningOf(new RpcError("eth_sendRawTransaction", "socket hang up"))).toBe("unreachable");
});
