import type { Hex } from "viem";
import type { BlockHead, Receipt } from "../../evm/client.ts";
import { TycheError } from "../../lib/errors.ts";
import { findTransactions } from "../../store/transactions.ts";
import { compareJournal, noteSpentNonce, type JournalledAccount } from "./journalCheck.ts";

/**
 * Notices another process that sends requests with the account of this one, such as a service on a copy of this data directory. It may send
 * what waits here, so nothing more is sent from here.
 */
export interface TwinWatch {
  /** Called when another transaction may have used a nonce of the account. */
  doubt(): void;
  /**
   * Resolves when no other process is known to send with the account; reads the chain after a {@link doubt}.
   *
   * @throws {TwinError} once there is one; RpcError when the chain can't be read.
   */
  assertAlone(): Promise<void>;
  /**
   * Checks that a transaction was mined after it was signed: another process may have signed the same bytes.
   *
   * @param signing newest block seen before it was signed, and Unix time in milliseconds.
   * @throws {TwinError}
   */
  assertNewer(
    receipt: Receipt,
    signing: { readonly head: Pick<BlockHead, "number" | "hash"> | undefined; readonly atMs: number },
  ): Promise<void>;
  /** Compares the chain with the journal, and notes how far they agree. Throws as {@link assertAlone}. */
  look(): Promise<void>;
}

/** Creates the watch over one network's account. `onFound` is called at most once. */
export function createTwinWatch(
  account: JournalledAccount & { readonly onFound: (error: TwinError) => void },
): TwinWatch {
  const { network, client, store, operator, onFound } = account;
  let found: TwinError | undefined;
  let doubts = 0;

  const find = (transactionHash: Hex): never => {
    if (found === undefined) {
      found = new TwinError({ network, operator, transactionHash });
      onFound(found);
    }
    throw found;
  };
  const compare = async (isDoubtful: boolean): Promise<void> => {
    if (found !== undefined) throw found;
    const comparison = await compareJournal(account, isDoubtful);
    const [unknown] = comparison.unknown;
    if (unknown !== undefined) find(unknown);
    await noteSpentNonce(account, comparison);
  };

  return {
    doubt: () => void (doubts += 1),
    async assertAlone() {
      if (found !== undefined) throw found;
      if (doubts === 0) return;
      const seen = doubts;
      await compare(true);
      if (doubts === seen) doubts = 0;
    },
    async assertNewer({ transactionHash, blockNumber }, { head, atMs }) {
      if (head === undefined || blockNumber > head.number) return;
      // After a rollback, a transaction is mined again in an earlier block.
      if ((await client.getHead(head.number))?.hash !== head.hash) return;
      // A node may have taken what it refused before, and the same bytes were signed again.
      const [known] = await findTransactions(store.db, [transactionHash]);
      if (known === undefined || known.createdAt >= atMs) find(transactionHash);
    },
    look: () => compare(false),
  };
}

/** Another process sends requests with the service's account. */
export class TwinError extends TycheError {
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
