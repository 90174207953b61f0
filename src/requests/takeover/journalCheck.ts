import type { Hex } from "viem";
import { decodeLog } from "../../chainlink/events.ts";
import { isOfService } from "../../chainlink/presetConsumerReads.ts";
import type { ChainClient } from "../../evm/client.ts";
import { parseHex, parseObject, parseQuantity, RpcError, toQuantity } from "../../lib/nodeAnswers.ts";
import { createLogReader } from "../../evm/logReader.ts";
import { countOf } from "../../lib/countOf.ts";
import { TycheError } from "../../lib/errors.ts";
import { findSpentNonce, saveSpentNonce, type SpentNonce } from "../../store/chainRecords.ts";
import { listEndedBlocks } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import { findTransactions } from "../../store/transactions.ts";

const BLOCKS_AT_ONCE = 32;
/** Blocks after which the note is renewed even if nothing was sent: a start reads the logs since the note. */
const NOTED_BLOCKS = 1_000;

/** The operator's account on one network, with its chain and its journal. */
export interface OperatorAccount {
  readonly network: string;
  readonly client: ChainClient;
  readonly store: Store;
  readonly operator: Hex;
}

/** An account whose transactions with requests are compared with the journal. */
export interface JournalledAccount extends OperatorAccount {
  readonly presetConsumer: Hex;
  /** First block that may hold a transaction of the service. */
  readonly firstBlock: number;
}

export interface JournalCheckOptions extends JournalledAccount {
  /** Whether the operator has agreed to continue with a journal that is behind. */
  readonly isAccepted: boolean;
  /** Called in that case, before it is noted: if it doesn't complete, the next start calls it again. */
  readonly onAccepted: () => Promise<void>;
}

/**
 * Refuses a chain that is newer than the journal. Each transaction is stored before it is broadcast, so a transaction that
 * brought requests on chain and is unknown to the journal belongs to a later database. This database then lacks requests that
 * were accepted, and a repeated call for one of them would be sent a second time.
 *
 * Other transactions of the operator's account are harmless, and they do occur: funding, a wallet, a deployment with the same
 * key. A nonce doesn't tell the two apart, but PresetConsumer does: it takes requests from the operator alone and logs each
 * one.
 *
 * @throws {JournalBehindError}
 */
export async function assertJournalKnows(options: JournalCheckOptions): Promise<void> {
  const { network, store } = options;
  const { unknown, isRead, spent } = await compareJournal(options, { isDoubtful: options.isAccepted });
  if (unknown.length > 0) {
    if (!options.isAccepted) throw new JournalBehindError(network, unknown.length);
    await options.onAccepted();
  }
  if (isRead) await store.writeSoon((db) => saveSpentNonce(db, network, spent));
}

export interface CompareOptions {
  /** Whether to read the logs even if no more nonces are spent than when it was noted. Default `false`. */
  readonly isDoubtful?: boolean;
  /** First block that the chain has replaced since the note. Default: none. */
  readonly firstReplaced?: number | undefined;
  /** Nonce before which everything must be read. Default: what the node has. */
  readonly before?: number | undefined;
}

/**
 * Finds the transactions that carried requests and are unknown to the journal, since the last note. That the journal has signed for a nonce
 * doesn't tell who used it: a service on a copy of the database signs for the same ones.
 *
 * @throws {RpcError} when the chain can't be read, or a node lacks what is wanted `before` a nonce.
 */
export async function compareJournal(
  account: JournalledAccount,
  { isDoubtful = false, firstReplaced = Infinity, before = 0 }: CompareOptions = {},
): Promise<Comparison> {
  const { network, client, store, operator } = account;
  // Read before the nonce, which may then include later transactions: at worst, their blocks are read twice.
  const head = await client.getHead("latest");
  const nonce = await client.getNonce(operator, "latest");
  const noted = await findSpentNonce(store.db, network);
  if (!isDoubtful && nonce <= (noted?.nonce ?? 0))
    return { unknown: [], isRead: false, noted, spent: { nonce, blockNumber: Number(head?.number ?? 0n) } };
  // Read after it, so that the logs of all transactions that it counts are read.
  const blockNumber = Number((await client.getHead("latest"))?.number ?? 0n);
  await assertHas(account, { blockNumber, nonce: Math.max(nonce, before) });
  // What the noted block holds has been read or accepted.
  const next = noted?.blockNumber === undefined ? account.firstBlock : noted.blockNumber + 1;
  const fromBlock = Math.min(next, firstReplaced);
  const unknown = await findUnknownSubmissions(account, { fromBlock, toBlock: blockNumber });
  return { unknown, isRead: true, noted, spent: { nonce, blockNumber } };
}

/** Checks that a block has everything before a nonce: nodes differ in how far they are. */
async function assertHas(
  { client, operator }: OperatorAccount,
  { blockNumber, nonce }: { readonly blockNumber: number; readonly nonce: number },
): Promise<void> {
  const method = "eth_getTransactionCount";
  const answer = await client.request(method, [operator, toQuantity(BigInt(blockNumber))]);
  const count = Number(parseQuantity(answer, "transaction count"));
  if (count < nonce)
    throw new RpcError(method, `block ${blockNumber} has ${count} transactions of ${operator}, not ${nonce}`);
}

/** Whether a transaction of the account is another service's, unknown to the journal. Unlike logs, it can't be omitted. */
export async function isUnknownCall(
  { client, store, presetConsumer }: JournalledAccount,
  hash: Hex,
): Promise<boolean> {
  const answer = await client.request("eth_getTransactionByHash", [hash]);
  if (answer === null)
    throw new RpcError("eth_getTransactionByHash", `the node lacks the transaction ${hash}`);
  const { to, input } = parseObject(answer, "transaction");
  const isCall = typeof to === "string" && to.toLowerCase() === presetConsumer.toLowerCase();
  return (
    isCall &&
    isOfService(parseHex(input, "calldata").toLowerCase() as Hex) &&
    (await findTransactions(store.db, [hash])).length === 0
  );
}

/** What a comparison of chain and journal found. */
interface Comparison {
  /** Hashes of transactions. */
  readonly unknown: readonly Hex[];
  /** Whether the logs were read. */
  readonly isRead: boolean;
  readonly noted: SpentNonce | undefined;
  /** What the chain had: nothing up to there is unknown except for what was found. */
  readonly spent: { readonly nonce: number; readonly blockNumber: number };
}

/** Returns the hashes of transactions in a range of blocks, both ends included, that carried requests and are unknown to the journal. */
async function findUnknownSubmissions(
  { client, store, presetConsumer }: JournalledAccount,
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
): Promise<Hex[]> {
  const reader = createLogReader();
  const hashes = new Set<Hex>();
  const end = BigInt(toBlock);
  for (let next = BigInt(fromBlock); next <= end;) {
    const range = { fromBlock: next, toBlock: end };
    const { logs, toBlock: read } = await reader.read(range, (piece) =>
      client.getLogsOfEach({ addresses: [presetConsumer], ...piece }),
    );
    for (const log of logs) {
      const name = decodeLog(log)?.name;
      if (name === "Accepted" || name === "Refused") hashes.add(log.transactionHash);
    }
    next = read + 1n;
  }
  const known = new Set((await findTransactions(store.db, [...hashes])).map(({ hash }) => hash));
  return [...hashes].filter((hash) => !known.has(hash));
}

/** Notes how many transactions the operator's account has sent, and up to which block: the next comparison reads what came after that. */
export async function noteSpentNonce(
  { network, store }: OperatorAccount,
  { noted, spent }: Pick<Comparison, "noted" | "spent">,
): Promise<void> {
  const isRecent = noted?.blockNumber !== undefined && spent.blockNumber - noted.blockNumber < NOTED_BLOCKS;
  if (spent.nonce !== noted?.nonce || !isRecent)
    await store.writeSoon((db) => saveSpentNonce(db, network, spent));
}

/**
 * Finds the first block that ended requests but isn't on the chain any more: an earlier chain was restored under the journal,
 * or the chain has lost its newest blocks. `undefined` if the chain has them all.
 */
export async function findFirstLostBlock(
  options: Pick<OperatorAccount, "network" | "client" | "store"> & {
    /** Number of the chain's newest block. */
    readonly head: number;
  },
): Promise<number | undefined> {
  const { network, client, store, head } = options;
  let lost: number | undefined;
  for (;;) {
    const blocks = await listEndedBlocks(store.db, network, {
      before: lost ?? Infinity,
      limit: BLOCKS_AT_ONCE,
    });
    for (const { number, hash } of blocks) {
      const present = number > head ? undefined : await client.getHead(BigInt(number));
      // A block that the node has pruned proves nothing.
      if (number <= head && (present === undefined || present.hash === hash)) return lost;
      lost = number;
    }
    if (blocks.length < BLOCKS_AT_ONCE) return lost;
  }
}

/** The journal is older than the chain. */
export class JournalBehindError extends TycheError {
  /** What is wrong, without the remedy. */
  readonly problem: string;

  constructor(network: string, transactions: number) {
    const missing = countOf(transactions, "transaction");
    const problem = `the database is older than the chain of ${network}: it lacks ${missing} with requests that the service has sent there`;
    super(`${problem}. ${JournalBehindError.remedyFor([network])}`, {
      code: "chain_unavailable",
      blame: "us",
    });
    this.problem = problem;
  }

  /** Says what to do about all networks whose chain is newer than the database. */
  static remedyFor(networks: readonly string[]): string {
    return (
      `Restore the database and the chains from the same backup, or start once with TYCHE_ACCEPT_CHAINS=${networks.join(",")} to continue without them: ` +
      "a call that repeats an Idempotency-Key of that time is then sent again, and requests that may or may not have been sent end with an error"
    );
  }
}
