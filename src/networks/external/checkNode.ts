import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { RpcError } from "../../lib/nodeAnswers.ts";
import type { NetworkProfile } from "../profiles.ts";
import type { Tell } from "./finding.ts";

/** A head older than this is suspicious on any network. */
const OLD_HEAD_SECONDS = 120n;

/** Checks one node: the age of its head, whether it pushes heads, and how many blocks of logs it returns at once. */
export async function checkNode(client: ChainClient, name: string, tell: Tell): Promise<void> {
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
    "its newest block is old: let it synchronise, or use another node",
  );
}

/** Reports when a transaction counts as final, according to this node and to what is known about the network. */
export async function checkFinality(client: ChainClient, profile: NetworkProfile, tell: Tell): Promise<void> {
  const { finalityDepth, finalityEstimate, hasFinalizedTag } = profile;
  const estimate =
    finalityEstimate === undefined
      ? ""
      : `, which is an estimate (${finalityEstimate}); finalityDepth sets it`;
  const byDepth = `after ${finalityDepth} blocks${estimate}`;
  if (!hasFinalizedTag) return tell(true, `transactions count as final ${byDepth}`);
  const head = await client.getHead("latest");
  const finalized = await client.getHead("finalized").catch((error: unknown) => {
    if (error instanceof RpcError && error.answered) return undefined;
    throw error;
  });
  if (head === undefined || finalized === undefined)
    return tell(true, `the node has no finalized block: transactions count as final ${byDepth}`);
  const behind = head.number > finalized.number ? head.number - finalized.number : 0n;
  tell(true, `transactions count as final at the node's finalized block, ${behind} blocks back`);
}
