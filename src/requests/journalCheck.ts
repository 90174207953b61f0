import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { TycheError } from "../lib/errors.ts";
import { findSpentNonce, saveSpentNonce } from "../store/chainRecords.ts";
import { listEndedBlocks } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import { findLastNonce } from "../store/transactions.ts";

const BLOCKS_AT_ONCE = 32;

/** The operator's account on one network, as chain and journal have it. */
export interface OperatorAccount {
  readonly network: string;
  readonly client: ChainClient;
  readonly store: Store;
  readonly operator: Hex;
}

/**
 * Refuses a chain that is newer than the journal. Each transaction is stored before it is broadcast, so a chain on which the operator has
 * sent more than the journal knows belongs to a later database: requests were accepted that this one lacks, and a repeated call of
 * theirs would be sent a second time.
 *
 * @param options.isAccepted whether the operator has said to go on nevertheless.
 * @param options.onAccepted called then, before that is noted: another start calls it again if it doesn't come to its end.
 * @throws {JournalBehindError}
 */
export async function assertJournalKnows(
  options: OperatorAccount & { readonly isAccepted: boolean; readonly onAccepted: () => Promise<void> },
): Promise<void> {
  const { network, client, store, operator } = options;
  const spent = await client.getNonce(operator, "latest");
  const last = await findLastNonce(store.db, network, operator);
  const known = Math.max((last ?? -1) + 1, (await findSpentNonce(store.db, network)) ?? 0);
  if (spent <= known) return;
  if (!options.isAccepted) throw new JournalBehindError(network, spent - known);
  await options.onAccepted();
  await saveSpentNonce(store.db, network, spent);
}

/** Notes how many transactions the operator's account has sent, somebody else's under its key included: they are no later database's. */
export async function noteSpentNonce({ network, client, store, operator }: OperatorAccount): Promise<void> {
  const spent = await client.getNonce(operator, "latest");
  if (spent !== (await findSpentNonce(store.db, network))) await saveSpentNonce(store.db, network, spent);
}

/**
 * Finds the first block that has ended requests and that the chain no longer has: an earlier chain was put under the journal, or its
 * newest blocks were lost. `undefined` when the chain has them all.
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
      // What the chain has forgotten, its headers and the history, tells nothing.
      if (number <= head && (present === undefined || present.hash === hash)) return lost;
      lost = number;
    }
    if (blocks.length < BLOCKS_AT_ONCE) return lost;
  }
}

/** The journal is older than the chain. */
export class JournalBehindError extends TycheError {
  constructor(network: string, transactions: number) {
    super(
      `the database is older than the chain of ${network}: it lacks ${transactions} transactions that the service has sent there. ` +
        "Put database and chain of one moment back, or start once with TYCHE_ACCEPT_CHAINS=" +
        `${network} to go on without them: a call that is repeated with an Idempotency-Key of that time is then sent again, and requests of which the database doesn't know whether they were sent end with an error`,
      { code: "chain_unavailable", blame: "us" },
    );
  }
}
