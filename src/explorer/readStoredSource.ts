import { getContractAddress, hexToString, isAddressEqual, type Hex } from "viem";
import { EVENT_TOPICS } from "../chainlink/events.ts";
import { PRESET_CONSUMER_READS } from "../chainlink/presetConsumerReads.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import { toWord } from "../lib/uint256.ts";
import { QUERIED_BLOCKS } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";

/** What keeps the code of a chunk from being run, see CodeChunk.sol. */
const STOP = "0x00";

/** A preset's source that PresetConsumer keeps as the code of a contract. */
export interface StoredSource {
  readonly sourceId: number;
  readonly source: string;
  /** The transaction that stored it; absent if it isn't in the blocks that are searched, all of an embedded chain, the newest of others, or they can't be searched. */
  readonly createdIn?: Hex;
}

/**
 * Lists of nodes that PresetConsumer has adopted, at most: each is kept in a contract, too, between those of the sources. A guess, as nodes seldom
 * change: after more of them, the contract of a new source is not recognized as one.
 */
const MAX_ADOPTIONS = 100n;

/** Reads the source that a contract holds as its code; `undefined` if PresetConsumer didn't create it to keep one. Calls the node for what looks like it alone. */
export async function readStoredSource(
  address: Hex,
  code: Hex,
  chain: ExploredChain,
): Promise<StoredSource | undefined> {
  const { client, contracts } = chain;
  const { presetConsumer } = contracts;
  if (!code.startsWith(STOP) || code.length === STOP.length) return undefined;
  const bytes = fromHexText(`0x${code.slice(STOP.length)}`);
  const hash = toHexText(keccak256(bytes));
  const { data, decode } = PRESET_CONSUMER_READS.sourceIdOf(hash);
  const sourceId = decode(
    (await client.request("eth_call", [{ to: presetConsumer, data }, "latest"])) as Hex,
  );
  if (sourceId === 0 || !isCreatedFor(sourceId, address, presetConsumer)) return undefined;
  const createdIn = await findStoring(sourceId, chain).catch(() => undefined);
  const source = hexToString(toHexText(bytes));
  return { sourceId, source, ...(createdIn === undefined ? {} : { createdIn }) };
}

/** Finds the transaction that stored a source. */
async function findStoring(
  sourceId: number,
  { archive, contracts: { presetConsumer }, isEmbedded }: ExploredChain,
): Promise<Hex | undefined> {
  const head = await archive.getHeadNumber();
  const [log] = await archive.findLogs({
    address: presetConsumer,
    topics: [EVENT_TOPICS.SourceStored, toWord(BigInt(sourceId))],
    fromBlock: isEmbedded || head < QUERIED_BLOCKS ? 0n : head - QUERIED_BLOCKS + 1n,
    toBlock: head,
  });
  return log?.transactionHash;
}

/** Whether PresetConsumer created a contract, counted from nonce 1 (EIP-161), that may be the one with a source. Anybody may create another one with the same code. */
function isCreatedFor(sourceId: number, address: Hex, presetConsumer: Hex): boolean {
  for (let nonce = BigInt(sourceId); nonce <= BigInt(sourceId) + MAX_ADOPTIONS; nonce += 1n)
    if (isAddressEqual(getContractAddress({ from: presetConsumer, nonce }), address)) return true;
  return false;
}
