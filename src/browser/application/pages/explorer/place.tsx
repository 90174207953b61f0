import type { TransactionView } from "../../../../client/index.ts";
import { TransactionLink } from "../../parts/format.tsx";
import { Why } from "../../parts/parts.tsx";

/** The transaction that a page is about. */
export interface TransactionPlace extends Pick<TransactionView, "network" | "hash"> {
  /** Errors and reasons that the page gives above all, which need not be repeated. */
  readonly told: ReadonlySet<string>;
}

/** Says in which transaction something is: in the page's own, in another, or in none yet. */
export function In({
  place: { network, hash: own },
  hash,
}: {
  readonly place: TransactionPlace;
  readonly hash: string | null | undefined;
}) {
  if (hash === null || hash === undefined) return <>not answered yet</>;
  return hash === own ? <>this transaction</> : <TransactionLink network={network} hash={hash} />;
}

/** Returns what a request waits for; nothing if it doesn't, or the page says so above. */
export function reasonOf(waitsFor: string | undefined, { told }: TransactionPlace) {
  return waitsFor !== undefined && !told.has(waitsFor) && <Why text={waitsFor} />;
}
