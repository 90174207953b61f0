import type { Hex } from "viem";
import type { BlockHead } from "../../evm/client.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import type { SignedTransaction } from "../../evm/signedTransaction.ts";
import { TycheError } from "../../lib/errors.ts";
import { findTransactions } from "../../store/transactions.ts";
import { compareJournal, isUnknownCall, noteSpentNonce, type JournalledAccount } from "./journalCheck.ts";

/**
 * Notices another process that sends requests with the account of this one, such as a service on a copy of this data directory. It may send
 * what waits here, so nothing more is sent from here.
 */
export interface AccountWatch {
  /** Called when another process may have used the account; the doubt ends when a transaction is mined that was signed after it. */
  doubt(about?: Doubt): void;
  isInDoubt(): boolean;
  /**
   * Resolves when no other process is known to send with the account; while in doubt, it reads the chain.
   *
   * @param transaction what is to be broadcast.
   * @param options `isRequest`: whether it carries requests. Everything on chain before its nonce must then have been read, and whoever
   * uses the nonce after that keeps the transaction off the chain.
   * @throws {AccountInUseError} once there is one; RpcError when the chain can't be read.
   */
  assertAlone(transaction: SignedTransaction, options: { readonly isRequest: boolean }): Promise<void>;
  /**
   * Checks that a transaction was mined after it was signed: another process may have signed the same bytes.
   *
   * @param signing newest block seen before it was signed, and Unix time in milliseconds.
   * @throws {AccountInUseError}
   */
  assertNewer(
    receipt: Receipt,
    signing: { readonly head: Pick<BlockHead, "number" | "hash"> | undefined; readonly atMs: number },
  ): Promise<void>;
  /** Compares the chain with the journal, and notes how far they agree. Throws as {@link assertAlone}. */
  look(): Promise<void>;
}

/** What another process may have done. */
export interface Doubt {
  /** Hash of a transaction that has used a nonce of the account. */
  readonly spender?: Hex | undefined;
  /** First block that the chain has replaced. */
  readonly firstReplaced?: bigint;
}

/** Creates the watch over one network's account, which begins in doubt. `onFound` is called at most once. */
export function createAccountWatch(
  account: JournalledAccount & { readonly onFound: (error: AccountInUseError) => void },
): AccountWatch {
  const { network, client, store, operator, onFound } = account;
  let found: AccountInUseError | undefined;
  let doubts = 1;
  /** The first so many doubts have ended. */
  let ended = 0;
  /** What was signed last while in doubt, and the number of doubts by then. */
  let trial: { readonly hash: Hex; readonly doubts: number } | undefined;
  const spenders = new Set<Hex>();
  let firstReplaced: number | undefined;

  const find = (transactionHash: Hex): never => {
    if (found === undefined) {
      found = new AccountInUseError({ network, operator, transactionHash });
      onFound(found);
    }
    throw found;
  };
  const compare = async (isDoubtful: boolean, before?: number): Promise<void> => {
    if (found !== undefined) throw found;
    const from = firstReplaced;
    const comparison = await compareJournal(account, { isDoubtful, firstReplaced: from, before });
    const [unknown] = comparison.unknown;
    if (unknown !== undefined) find(unknown);
    // Logs may be omitted: the transactions that are known to have used a nonce tell by themselves what they carry.
    for (const hash of spenders) {
      if (await isUnknownCall(account, hash)) find(hash);
      spenders.delete(hash);
    }
    await noteSpentNonce(account, comparison);
    if (comparison.isRead && firstReplaced === from) firstReplaced = undefined;
  };

  return {
    doubt(about = {}) {
      doubts += 1;
      if (about.spender !== undefined) spenders.add(about.spender);
      if (about.firstReplaced !== undefined)
        firstReplaced = Math.min(firstReplaced ?? Infinity, Number(about.firstReplaced));
    },
    isInDoubt: () => ended < doubts,
    async assertAlone({ hash, nonce }, { isRequest }) {
      if (found !== undefined) throw found;
      if (ended === doubts) return;
      const by = doubts;
      await compare(true, isRequest ? nonce : undefined);
      trial = { hash, doubts: by };
    },
    async assertNewer({ transactionHash, blockNumber, blockHash }, { head, atMs }) {
      if (transactionHash === trial?.hash) ended = trial.doubts;
      if (head === undefined || blockNumber > head.number) return;
      // After a rollback, a transaction is mined again in an earlier block; and of nodes on two branches, one shows the head, another the receipt.
      const [later, earlier] = await Promise.all([client.getHead(head.number), client.getHead(blockNumber)]);
      if (later?.hash !== head.hash || earlier?.hash !== blockHash) return;
      // A node may have taken what it refused before, and the same bytes were signed again.
      const [known] = await findTransactions(store.db, [transactionHash]);
      if (known === undefined || known.createdAt >= atMs) find(transactionHash);
    },
    look: () => compare(false),
  };
}

/** Another process sends requests with the service's account. */
export class AccountInUseError extends TycheError {
  constructor({
    network,
    operator,
    transactionHash,
  }: {
    readonly network: string;
    readonly operator: Hex;
    readonly transactionHash: Hex;
  }) {
    super(
      `another process sends requests on ${network} with this service's account ${operator}: this database doesn't know its transaction ${transactionHash}. ` +
        "Nothing more is sent from here. Stop the other process, such as a service on a copy of this data directory; then start this one once with " +
        `TYCHE_ACCEPT_CHAINS=${network}, which ends the requests that either of them may have sent`,
      { code: "chain_unavailable", blame: "us", retryable: true },
    );
  }
}
