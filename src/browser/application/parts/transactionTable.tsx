import type { TransactionSummary } from "../../../client/index.ts";
import { Coin } from "./coin.tsx";
import { Age, BlockLink, PartyLink, TransactionLink } from "./format.tsx";
import { type Column, List } from "./list.tsx";
import { TransactionStatus } from "./parts.tsx";

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
  if (transactions.length === 0) return <p className="note">No transactions here.</p>;
  return (
    <List
      label="Transactions"
      items={transactions}
      keyOf={({ hash }) => hash}
      columns={[
        { head: "Transaction", cell: ({ hash }) => <TransactionLink network={network} hash={hash} /> },
        { head: "Status", isPlain: true, cell: ({ status }) => <Status status={status} /> },
        { head: "Calls", cell: (transaction) => <Calls transaction={transaction} network={network} /> },
        ...(isOneBlock ? [] : [blockOf(network)]),
        { head: "Time", cell: ({ at }) => <Age iso={at} /> },
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
      ]}
    />
  );
}

function blockOf(network: string): Column<TransactionSummary> {
  return { head: "Block", cell: ({ blockNumber }) => <BlockLink network={network} number={blockNumber} /> };
}

/** How a transaction in a list ended. */
export function Status({ status }: Pick<TransactionSummary, "status">) {
  return status === null ? <span className="note">not read</span> : <TransactionStatus status={status} />;
}

function Calls({
  transaction: { method, valueWei },
  network,
}: {
  readonly transaction: TransactionSummary;
  readonly network: string;
}) {
  return (
    <>
      {method === "" ? "transfer" : method}
      {valueWei !== "0" && (
        <span className="note">
          {" "}
          <Coin wei={valueWei} network={network} />
        </span>
      )}
    </>
  );
}
