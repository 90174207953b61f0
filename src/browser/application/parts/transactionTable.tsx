import type { TransactionSummary } from "../../../client/index.ts";
import { cut } from "../../../lib/cut.ts";
import { useSymbolOf } from "./coin.tsx";
import { Age, BlockLink, PartyLink, TransactionLink, units } from "./format.tsx";
import { type Column, List } from "./list.tsx";
import { Tag, TransactionStatus, UnknownText } from "./parts.tsx";
import { whatOf } from "./requestList.tsx";

/** A table of transactions, in the given order: newest first. */
export function TransactionTable({
  transactions,
  network,
  isOneBlock = false,
}: {
  readonly transactions: readonly TransactionSummary[];
  readonly network: string;
  /** Whether they are a block's own, which need not name it. */
  readonly isOneBlock?: boolean;
}) {
  const symbolOf = useSymbolOf();
  const coins = (
    name: string,
    weiOf: (transaction: TransactionSummary) => string | undefined,
  ): Column<TransactionSummary> => ({
    head: `${name}, ${symbolOf(network)}`,
    kind: "number",
    cell: (transaction) => {
      const wei = weiOf(transaction);
      return wei !== undefined && units(wei, "");
    },
  });
  if (transactions.length === 0) return <p className="note">No transactions here.</p>;
  return (
    <List
      label="Transactions"
      isDense
      items={transactions}
      keyOf={({ hash }) => hash}
      columns={[
        { head: "Transaction", cell: ({ hash }) => <TransactionLink network={network} hash={hash} /> },
        { head: "Status", isPlain: true, cell: (one) => <Status transaction={one} /> },
        { ...WHAT, kind: "long" },
        ...(isOneBlock ? [] : [blockOf(network)]),
        { head: "Time", cell: ({ at }) => <Age iso={at} isShort /> },
        { head: "From", cell: ({ from }) => <PartyLink network={network} party={from} /> },
        {
          head: "To",
          cell: ({ to, created }) => {
            if (to !== null) return <PartyLink network={network} party={to} />;
            if (created === null) return "new contract";
            return (
              <>
                new <PartyLink network={network} party={created} />
              </>
            );
          },
        },
        ...(transactions.some(({ valueWei }) => valueWei !== "0")
          ? [coins("Value", ({ valueWei }) => valueWei)]
          : []),
        coins("Fee", ({ feeWei }) => feeWei),
      ]}
    />
  );
}

function blockOf(network: string): Column<TransactionSummary> {
  return { head: "Block", cell: ({ blockNumber }) => <BlockLink network={network} number={blockNumber} /> };
}

/** How a transaction in a list ended: of one that succeeded, what failed in it. */
export function Status({
  transaction: { status, failure },
}: {
  readonly transaction: Pick<TransactionSummary, "status" | "failure">;
}) {
  if (status === null) return <span className="note">not read</span>;
  if (failure !== undefined) return <Tag kind="bad">{failure}</Tag>;
  return <TransactionStatus status={status} />;
}

/** Longest result in a list of transactions, in UTF-16 code units. */
const MAX_RESULT = 16;

/** Column that says what a transaction is about: the requests that it makes or answers, and what it calls. */
export const WHAT: Column<Pick<TransactionSummary, "method" | "requests">> = {
  head: "What",
  cell: ({ method, requests }) => {
    const call = method === "" ? "transfer" : method;
    if (requests === undefined) return call;
    const { count, kind, title, result } = requests;
    const what = kind === undefined ? "requests" : whatOf({ kind, title });
    return (
      <>
        <UnknownText text={count > 1 ? `${count} ${kind === undefined ? "" : "× "}${what}` : what} />
        {result !== undefined && (
          <>
            , <UnknownText text={cut(result, MAX_RESULT)} />
          </>
        )}{" "}
        <span className="note">{call}</span>
      </>
    );
  },
};
