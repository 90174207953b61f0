import type { Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { createMemo } from "../lib/memo.ts";
import type { EncodedLog } from "../chainlink/events.ts";
import { parseHex, parseObject, RpcError, toQuantity, type RawLog } from "../lib/nodeAnswers.ts";
import { hashHeader, mayHaveLog, type RpcObject } from "./encodeBlock.ts";
import {
  readBlockLogs,
  readMinedTransaction,
  type MinedTransaction,
  type MinedTransactionOptions,
} from "./minedTransaction.ts";

/** Blocks in one log search; public networks' nodes refuse wide ranges. */
const SEARCH_WINDOW_BLOCKS = 1_000n;
/** Searches before a log counts as not found: VRF answers within hours, functions within minutes. */
const MAX_SEARCH_WINDOWS = 30n;
/** Blocks in each part of a wide search at first; halved where the node refuses so many. */
const PART_BLOCKS = 10_000n;
/** Parts of a wide search where nothing else is said: the node may be one that the service pays for. */
const MAX_PARTS = 30;
/**
 * What a search of the node of whoever verifies may take: ten million blocks where it takes 10,000 at once, and headers of 2 KB each, or 15 KB
 * on a busy chain.
 */
export const OWN_NODE_SEARCH = { parts: 1_000, headers: 10_000, transactions: 100 };
/** Headers that are read at once. */
const HEADERS_AT_ONCE = 32;
/** Pauses before a header is asked for again, in ms: a node limits how many it answers in a second. */
const HEADER_PAUSES_MS = [0, 250, 2_000];
/**
 * Transactions in the blocks that are read in full as their headers don't rule out a log: on a busy chain, one block of four, with some 200
 * in a megabyte.
 */
const MAX_FULL_TRANSACTIONS = 20_000;
/** What a block counts as at least. Whoever fills the filters of small blocks, to hide what is before them, has to fill 1,000. */
const MIN_COUNTED = 20;

/** The part of a node's interface that the checks use. Its answers are trusted only where they can't be checked. */
export interface ChainReader {
  /** Makes a JSON-RPC request. Rejects with {@link RpcError}, whose `data` is set if a call reverted. */
  request(method: string, parameters?: readonly unknown[]): Promise<unknown>;
}

/**
 * Selects logs of one contract with these topics. The node's answer only says which transaction to read: the log is taken from its
 * receipt.
 */
export interface LogSearch {
  readonly address: Hex;
  /** A topic, or several of which one must match. */
  readonly topics: readonly (Hex | readonly Hex[])[];
  /** What else a log must be. */
  readonly isWanted?: (log: EncodedLog) => boolean;
}

/** A contract's answer to a call. */
export interface CallAnswer {
  readonly data: Hex;
  /**
   * The state that the call ran on: the block's; or the newest, because the node no longer has the block's (`newest`) or because the
   * call reverts there (`revertedInBlock`).
   */
  readonly state: "block" | "newest" | "revertedInBlock";
}

/** What a wide search for logs has found. */
export interface FoundLogs {
  readonly transactionHashes: readonly Hex[];
  /** First and last block that were searched; `to` is before `from` if the node let none be. */
  readonly from: bigint;
  readonly to: bigint;
  /**
   * The block before which the contract had no code, by the node's word; 0 where no deployment was published, `undefined` where the node
   * doesn't show that.
   */
  readonly codeFrom: bigint | undefined;
  /** Whether some of these blocks' logs may be left out. */
  readonly omits: boolean;
  /** Whether that is the whole chain, or all of it since `codeFrom`, and none that was found is left out. */
  readonly isWhole: boolean;
}

/** What an earlier part of a search has found, by the word of the node that was asked. */
export type EarlierSearch = Pick<FoundLogs, "transactionHashes" | "from" | "to" | "omits">;

/** Bounds of a wide search for logs. A search goes on from where one stopped with the blocks that this left out. */
export interface SearchBounds {
  /** First and last block. Default: those of the chain, which begins for a contract where it has code for the first time. */
  readonly fromBlock?: bigint | undefined;
  readonly toBlock?: bigint | undefined;
  /**
   * Block in which the contract had been deployed, as published. The node is asked whether it had no code before. Default: unknown, so that the
   * search goes back to block 0.
   */
  readonly deploymentBlock?: bigint | undefined;
  /** Requests to a node that refuses to search all of them at once. Default 30. */
  readonly parts?: number | undefined;
  /** Most headers that are read to show that a node leaves nothing out. Default 0. */
  readonly headers?: number | undefined;
  /** Most transactions of other requests that are read, each with its block. Default 10. */
  readonly transactions?: number | undefined;
  /** The part that the search goes on from, and the label that it was for. What it found counts where the two parts adjoin. Default: none. */
  readonly earlier?: (EarlierSearch & { readonly label: string; readonly dapp?: string }) | undefined;
}

/** Joins a part of a search with an earlier one, the older blocks first; returns it alone if blocks lie between them. */
function joinSearches(part: EarlierSearch, earlier: EarlierSearch | undefined): EarlierSearch {
  if (earlier === undefined || earlier.from > part.to + 1n || part.from > earlier.to + 1n) return part;
  const [first, second] = earlier.from < part.from ? [earlier, part] : [part, earlier];
  return {
    transactionHashes: [...first.transactionHashes, ...second.transactionHashes],
    from: first.from,
    to: first.to > second.to ? first.to : second.to,
    omits: first.omits || second.omits,
  };
}

/** What follows from the hash of a block and all before it. */
export interface ProvenLogs {
  /** First block about which it is known; after `block` if none is. */
  readonly from: bigint;
  /** All logs of the transactions in which one matches, by transaction. */
  readonly logs: ReadonlyMap<Hex, readonly RawLog[]>;
}

/** Reads the chain, each item once. */
export interface ChainFacts {
  /** A mined transaction, decoded from the bytes that were hashed. Throws {@link UnknownTransactionError}. */
  getTransaction(hash: Hex): Promise<MinedTransaction>;
  /** The first matching log from a block on. */
  findLogAfter(search: LogSearch, fromBlock: bigint): Promise<RawLog | undefined>;
  /** The last matching log up to a block. */
  findLogBefore(search: LogSearch, toBlock: bigint): Promise<RawLog | undefined>;
  /**
   * The transactions with matching logs that the node names. Where so wide a search would hold it up, or is refused, it is asked in parts,
   * from `around` outwards. At most `limit` of them, the oldest.
   */
  findLogs(
    search: LogSearch,
    options: SearchBounds & { readonly around: bigint; readonly limit: number },
  ): Promise<FoundLogs>;
  /**
   * The matching logs of a block with this hash and those before it, down to `from`. The node can leave none out: each header is the one whose
   * hash the next one names, a header whose bloom filter may have such a log is of a block that is read in full, and the search ends where
   * the node doesn't show one of them.
   */
  proveLogs(
    search: LogSearch,
    options: { readonly block: bigint; readonly hash: Hex; readonly from: bigint },
  ): Promise<ProvenLogs>;
  /** The first matching log of one block. */
  findLogIn(search: LogSearch, block: bigint): Promise<RawLog | undefined>;
  /** Data of the matching logs of one block, merely by the node's word: for data that a hash in it proves. */
  readLogData(search: LogSearch, block: bigint): Promise<readonly Hex[]>;
  /**
   * The calldata of all successful calls to a contract within a transaction, in order, by the node's trace: merely its word. A contract that runs the
   * other one's code on its own storage (DELEGATECALL) does not call it. None if the node gives no traces.
   */
  findCalls(hash: Hex, to: Hex): Promise<readonly Hex[]>;
  /** A call on a block's state; on the newest state if it reverts there or the node no longer has that state. */
  call(to: Hex, data: Hex, at?: bigint): Promise<CallAnswer>;
  /** 32 bytes of a contract's storage. */
  getStorage(address: Hex, slot: bigint): Promise<Hex>;
  /** Runs `read` once for all requests that need its result. */
  once<T>(key: string, read: () => Promise<T>): Promise<T>;
}

/**
 * Creates a reader for one verification; what it has read never changes.
 *
 * @param options what {@link readMinedTransaction} must know of the network
 */
export function createChainFacts(
  reader: ChainReader,
  {
    searchesInParts = false,
    ...options
  }: Pick<MinedTransactionOptions, "network" | "chainId" | "hasEthereumBlocks"> & {
    /** Whether logs are searched for in few blocks at a time from the start. Default: only where the node refuses more. */
    readonly searchesInParts?: boolean | undefined;
  },
): ChainFacts {
  const once = createMemo<string>();
  const request = (method: string, parameters: readonly unknown[]): Promise<unknown> =>
    reader.request(method, parameters);
  const getTransaction = (hash: Hex): Promise<MinedTransaction> =>
    once(`transaction ${hash}`, () => readMinedTransaction(hash, { ...options, request, once }));
  const searchLogs = async (
    { address, topics, isWanted = () => true }: LogSearch,
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<readonly SaidLog[]> => {
    const filter = { address, topics, fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
    return parseSaidLogs(await request("eth_getLogs", [filter])).filter(isWanted);
  };
  /** Takes a log from the receipt of the transaction that the node names. */
  const takeLogs = async (said: SaidLog | undefined, search: LogSearch): Promise<readonly RawLog[]> =>
    said === undefined
      ? []
      : (await getTransaction(said.transactionHash)).logs.filter((log) => isMatch(log, search));
  /**
   * Returns a block before which a contract had no code, and few before it was deployed; `undefined` if the node has no state of that time.
   *
   * @param deployed any block after its deployment
   */
  const findCodeFrom = (address: Hex, deployed: bigint): Promise<bigint | undefined> =>
    once(`code ${address} ${deployed}`, async () => {
      // The published block ends a deployment of several contracts.
      for (let back = 1n; back <= deployed; back *= 2n) {
        const parameters = [address, toQuantity(deployed - back)];
        const code = await request("eth_getCode", parameters).catch((error: unknown) => {
          if (error instanceof RpcError) return undefined;
          throw error;
        });
        if (typeof code !== "string" || !/^0x(?:[0-9a-f]{2})*$/i.test(code)) return undefined;
        if (code === "0x") return deployed - back + 1n;
      }
      return 0n;
    });
  const head = async (): Promise<bigint> => {
    const answer = await reader.request("eth_blockNumber");
    if (typeof answer !== "string" || !/^0x[0-9a-f]{1,16}$/i.test(answer))
      throw new RpcError("eth_blockNumber", "the answer is not a block number");
    return BigInt(answer);
  };

  return {
    once,
    getTransaction,
    async findLogAfter(search, fromBlock) {
      const last = await head();
      const end = fromBlock + MAX_SEARCH_WINDOWS * SEARCH_WINDOW_BLOCKS;
      for (let from = fromBlock; from <= last && from < end; from += SEARCH_WINDOW_BLOCKS) {
        const to = from + SEARCH_WINDOW_BLOCKS - 1n;
        const [said] = await searchLogs(search, from, to < last ? to : last);
        const [found] = await takeLogs(said, search);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async findLogBefore(search, toBlock) {
      const end = toBlock - MAX_SEARCH_WINDOWS * SEARCH_WINDOW_BLOCKS;
      for (let to = toBlock; to >= 0n && to > end; to -= SEARCH_WINDOW_BLOCKS) {
        const from = to - SEARCH_WINDOW_BLOCKS + 1n;
        const said = (await searchLogs(search, from > 0n ? from : 0n, to)).at(-1);
        const found = (await takeLogs(said, search)).at(-1);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async findLogs(search, { around, limit, toBlock, parts = MAX_PARTS, ...bounds }) {
      const newest = await head();
      const last = toBlock !== undefined && toBlock < newest ? toBlock : newest;
      const shown = await findCodeFrom(search.address, bounds.deploymentBlock ?? 0n);
      // It had code when it was asked.
      const codeFrom = shown !== undefined && shown > around ? undefined : shown;
      const begin = codeFrom ?? 0n;
      const fromBlock = bounds.fromBlock ?? (begin > last ? last : begin);
      const ask = (from: bigint, to: bigint): Promise<readonly SaidLog[] | undefined> =>
        searchLogs(search, from, to).catch((error: unknown) => {
          if (error instanceof RpcError) return undefined;
          throw error;
        });
      const whole = searchesInParts ? undefined : await ask(fromBlock, last);
      const { said, from, to } =
        whole === undefined
          ? await searchOutwards(ask, {
              start: around < fromBlock ? fromBlock : around > last ? last : around,
              first: fromBlock,
              last,
              blocks: searchesInParts ? SEARCH_WINDOW_BLOCKS : PART_BLOCKS,
              parts,
            })
          : { said: whole, from: fromBlock, to: last };
      const part = {
        transactionHashes: said.map(({ transactionHash }) => transactionHash),
        from,
        to,
        omits: false,
      };
      const all = joinSearches(part, bounds.earlier);
      const hashes = [...new Set(all.transactionHashes)];
      const omits = all.omits || hashes.length > limit;
      const isWhole = all.from <= begin && all.to >= newest && !omits;
      return { ...all, transactionHashes: hashes.slice(0, limit), codeFrom, omits, isWhole };
    },
    async proveLogs(search, { block, hash, from }) {
      // The chain's first block has no transactions, and an Anvil that has loaded its state makes it anew, with another hash.
      const first = from > 0n ? from : 1n;
      const key = `headers ${hash} ${first}`;
      const headers = await once(key, () => readHeaders(request, { block, hash, from: first }));
      const logs = new Map<Hex, readonly RawLog[]>();
      let next = block + 1n;
      let left = MAX_FULL_TRANSACTIONS;
      const items = [search.address, ...search.topics.filter((topic) => typeof topic === "string")];
      for (const header of headers) {
        if (mayHaveLog(header.bloom, items)) {
          const all = left > 0 ? await readBlockLogs(header.hash, { ...options, request, once }) : undefined;
          if (all === undefined) break;
          left -= Math.max(MIN_COUNTED, all.length);
          for (const of of all)
            if (of.some((log) => isMatch(log, search))) logs.set(of[0]!.transactionHash, of);
        }
        next -= 1n;
      }
      return { from: next === first ? from : next, logs };
    },
    async findLogIn(search, block) {
      const [said] = await searchLogs(search, block, block);
      return (await takeLogs(said, search))[0];
    },
    readLogData: (search, block) =>
      once(`log data ${search.address} ${search.topics.join()} ${block}`, async () =>
        (await searchLogs(search, block, block)).map(({ data }) => data),
      ),
    findCalls: (hash, to) =>
      once(`calls ${hash} ${to}`, async () => {
        const trace = await request("debug_traceTransaction", [hash, { tracer: "callTracer" }]).catch(
          () => undefined,
        );
        return callsTo(to, trace);
      }),
    call: (to, data, at) =>
      once(`call ${to} ${data} ${at}`, async (): Promise<CallAnswer> => {
        const callAt = async (block: string): Promise<Hex | undefined> => {
          const answer = await reader.request("eth_call", [{ to, data }, block]);
          return typeof answer === "string" && answer.length >= 2 + 64 ? (answer as Hex) : undefined;
        };
        let state: CallAnswer["state"] = "newest";
        if (at !== undefined) {
          try {
            const answer = await callAt(toQuantity(at));
            if (answer !== undefined) return { data: answer, state: "block" };
          } catch (error) {
            if (error instanceof RpcError && error.data !== undefined) state = "revertedInBlock";
          }
        }
        const answer = await callAt("latest");
        if (answer === undefined)
          throw new TycheError(
            `The contract ${to} does not answer as one of the oracle's contracts does; check network and addresses.`,
            { code: "chain_unavailable", blame: "upstream" },
          );
        return { data: answer, state };
      }),
    async getStorage(address, slot) {
      const answer = await reader.request("eth_getStorageAt", [address, toQuantity(slot), "latest"]);
      if (typeof answer !== "string" || !/^0x[0-9a-f]{64}$/i.test(answer))
        throw new RpcError("eth_getStorageAt", "the answer is not 32 bytes");
      return answer as Hex;
    },
  };
}

/**
 * Searches from a block outwards, in turn after and before it, as far as the node answers: a direction ends where it refuses a single
 * block, such as one that it no longer has.
 */
async function searchOutwards(
  ask: (from: bigint, to: bigint) => Promise<readonly SaidLog[] | undefined>,
  options: {
    readonly start: bigint;
    readonly first: bigint;
    readonly last: bigint;
    /** Most blocks in a part. */
    readonly blocks: bigint;
    readonly parts: number;
  },
): Promise<{ readonly said: readonly SaidLog[]; readonly from: bigint; readonly to: bigint }> {
  const { start, first, last } = options;
  let said: readonly SaidLog[] = [];
  // The blocks from `from` up to, but without, `next` are read.
  let [from, next] = [start, start];
  let [isUpOpen, isDownOpen] = [true, true];
  let blocks = options.blocks;
  let accepted = blocks;
  for (let left = options.parts; left > 0; left -= 1) {
    isUpOpen &&= next <= last;
    isDownOpen &&= from > first;
    if (!isUpOpen && !isDownOpen) break;
    const isUp = isUpOpen && (!isDownOpen || next - start <= start - from);
    const [low, high] = isUp ? [next, next + blocks - 1n] : [from - blocks, from - 1n];
    const [lowest, highest] = [low < first ? first : low, high > last ? last : high];
    const found = await ask(lowest, highest);
    if (found !== undefined) {
      said = isUp ? [...said, ...found] : [...found, ...said];
      if (isUp) next = highest + 1n;
      else from = lowest;
      accepted = blocks;
    } else if (highest > lowest) blocks = (highest - lowest + 1n) / 2n;
    else {
      blocks = accepted;
      if (isUp) isUpOpen = false;
      else isDownOpen = false;
    }
  }
  return { said, from, to: next - 1n };
}

/** Reads the headers of a block with this hash and those before it, newest first, as far as the node shows them. */
async function readHeaders(
  request: ChainReader["request"],
  { block, hash, from }: { readonly block: bigint; readonly hash: Hex; readonly from: bigint },
): Promise<readonly { readonly hash: Hex; readonly bloom: unknown }[]> {
  const read: { hash: Hex; bloom: unknown }[] = [];
  let expected: unknown = hash;
  for (let number = block; number >= from; number -= BigInt(HEADERS_AT_ONCE)) {
    const count = Math.min(HEADERS_AT_ONCE, Number(number - from) + 1);
    const headers = await Promise.all(
      Array.from({ length: count }, (_, i) => readHeader(request, number - BigInt(i))),
    );
    for (const header of headers) {
      const found = findHeaderHash(header);
      if (found === undefined || found !== expected) return read;
      read.push({ hash: found, bloom: header!["logsBloom"] });
      expected = String(header!["parentHash"]).toLowerCase();
    }
  }
  return read;
}

async function readHeader(
  request: ChainReader["request"],
  number: bigint,
): Promise<RpcObject | null | undefined> {
  for (const pauseMs of HEADER_PAUSES_MS) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    try {
      return (await request("eth_getBlockByNumber", [toQuantity(number), false])) as RpcObject | null;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return undefined;
}

function findHeaderHash(header: RpcObject | null | undefined): Hex | undefined {
  try {
    return hashHeader(header!);
  } catch {
    return undefined;
  }
}

/** What is read of a log in a node's answer to a search. */
interface SaidLog extends EncodedLog {
  /** Lower case. */
  readonly transactionHash: Hex;
}

function parseSaidLogs(answer: unknown): readonly SaidLog[] {
  if (!Array.isArray(answer)) throw new RpcError("eth_getLogs", "the answer is not a list");
  return answer.map((one): SaidLog => {
    const { topics, data, transactionHash } = parseObject(one, "log");
    if (!Array.isArray(topics)) throw new RpcError("log", "topics is not a list");
    return {
      topics: topics.map((topic) => parseHex(topic, "topic")),
      data: parseHex(data, "data"),
      transactionHash: parseHex(transactionHash, "transactionHash").toLowerCase() as Hex,
    };
  });
}

function isMatch(log: RawLog, { address, topics, isWanted = () => true }: LogSearch): boolean {
  const hasTopics = topics.every((wanted, i) => [wanted].flat().includes(log.topics[i]!));
  return log.address === address && hasTopics && isWanted(log);
}

/** Collects the calldata of successful calls to a contract from an answer of the `callTracer`. */
function callsTo(to: Hex, trace: unknown): readonly Hex[] {
  const found: Hex[] = [];
  const open = [trace];
  while (open.length > 0) {
    const call = open.pop();
    if (typeof call !== "object" || call === null) continue;
    const { type, to: called, input, error, calls } = call as Readonly<Record<string, unknown>>;
    // What it called is undone, too.
    if (error !== undefined) continue;
    const isWanted = type === "CALL" && typeof called === "string" && called.toLowerCase() === to;
    if (isWanted && typeof input === "string") found.push(input as Hex);
    // As arguments, a million calls would exceed the stack.
    if (Array.isArray(calls)) for (const one of (calls as unknown[]).toReversed()) open.push(one);
  }
  return found;
}
