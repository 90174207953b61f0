import type { Hex } from "viem";
import { RpcError, parseHex, parseObject, parseQuantity, toQuantity } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";

/**
 * Finds the transaction that spent a nonce of an account, in the first block after which the account's transaction count is above the
 * nonce. Unlike a receipt, which a node may lack even for a mined transaction, this shows whose transaction it was.
 *
 * @returns its hash, or `undefined` when nodes don't keep states that old.
 * @throws {RpcError} when a node does not answer, or the answers contradict each other, as from nodes at different blocks.
 */
export async function findNonceSpender(
  client: Pick<ChainClient, "getHead" | "request">,
  account: Hex,
  nonce: number,
): Promise<Hex | undefined> {
  const head = (await client.getHead("latest"))?.number;
  if (head === undefined) throw new RpcError("eth_getBlockByNumber", "there is no newest block");
  try {
    return await findIn(await findBlock({ client, account, nonce, head }));
  } catch (error) {
    if (error instanceof RpcError && error.answered) return undefined;
    throw error;
  }

  async function findIn(number: bigint): Promise<Hex> {
    const answer = await client.request("eth_getBlockByNumber", [toQuantity(number), true]);
    const transactions = parseObject(answer, "block")["transactions"];
    for (const one of Array.isArray(transactions) ? transactions : []) {
      const { from, nonce: its, hash } = parseObject(one, "transaction");
      const isIt = parseHex(from, "from").toLowerCase() === account.toLowerCase();
      if (isIt && parseQuantity(its, "nonce") === BigInt(nonce)) return parseHex(hash, "hash");
    }
    throw new RpcError("eth_getBlockByNumber", `block ${number} has no transaction with nonce ${nonce}`);
  }
}

/** Returns the first block after which the account has spent the nonce. */
async function findBlock(options: {
  readonly client: Pick<ChainClient, "request">;
  readonly account: Hex;
  readonly nonce: number;
  readonly head: bigint;
}): Promise<bigint> {
  const { client, account, nonce, head } = options;
  const isSpentAfter = async (block: bigint): Promise<boolean> => {
    const answer = await client.request("eth_getTransactionCount", [account, toQuantity(block)]);
    return parseQuantity(answer, "transaction count") > BigInt(nonce);
  };
  if (!(await isSpentAfter(head)))
    throw new RpcError("eth_getTransactionCount", `nonce ${nonce} is free in block ${head}`);
  // Usually spent recently: search back in doubling steps, then bisect.
  let spent = head;
  let free = -1n;
  for (let step = 1n; spent > 0n && free < 0n; step *= 2n) {
    const block = spent > step ? spent - step : 0n;
    if (await isSpentAfter(block)) spent = block;
    else free = block;
  }
  while (spent - free > 1n) {
    const middle = (spent + free) / 2n;
    if (await isSpentAfter(middle)) spent = middle;
    else free = middle;
  }
  return spent;
}
