import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import type { BlockSummary } from "../../../../client/index.ts";
import { Page, useFailure, useIsLong } from "../../page.tsx";
import { AddToWallet } from "../../parts/addToWallet.tsx";
import {
  Age,
  BlockLink,
  Code,
  Copyable,
  groupDigits,
  inGwei,
  PartyLink,
  percent,
  TimeAndAge,
} from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { Pages, usePlace } from "../../parts/pages.tsx";
import { Facts } from "../../parts/parts.tsx";
import { TransactionTable } from "../../parts/transactionTable.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useExplorer, useNetworks } from "../../services.tsx";
import { Batch, rowOf } from "./batch.tsx";
import { ExplorerPage, Found, LatestRequests, More, OTHER_REQUESTS, useTrail } from "./explorerFrame.tsx";
import { SearchForm } from "../../parts/searchForm.tsx";

const REFRESH_MS = 1_000;
/** How many of a block's transactions have their status read. */
const MAX_STATUSES = 100;

/** `/explorer/{network}`: a network's newest blocks and transactions. */
export function Chain() {
  const { network } = useParams<{ readonly network: string }>();
  const explorer = useExplorer();
  const known = useNetworks().data?.find(({ name }) => name === network);
  const query = useQuery({
    queryKey: ["overview", network],
    queryFn: () => explorer.overview(network),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  const isLong = useIsLong(query.isPending);
  const error = useFailure(query);
  const isWithout = query.data === undefined && (isLong || error !== null);
  return (
    <>
      <Found query={query} network={network}>
        {({ title, chainId, headNumber, blocks, transactions, contracts }) => (
          <Page
            title={`${title} explorer`}
            trail={[{ href: "/explorer", text: "Explorer" }]}
            chains={[network]}
          >
            <h1>{title}</h1>
            <p className="lead">
              Chain {chainId}, block <BlockLink network={network} number={headNumber} />
            </p>
            {known !== undefined && <AddToWallet network={known} />}
            <SearchForm network={network} />
            <LatestRequests network={network} />
            <section className="panel" id="transactions">
              <h2>Latest transactions</h2>
              <TransactionTable transactions={transactions} network={network} />
              <p className="pages">
                <Link href={`/explorer/${network}/transactions`}>All transactions</Link>
              </p>
            </section>
            <section className="panel" id="blocks">
              <h2>Latest blocks</h2>
              <BlockTable blocks={blocks} network={network} />
              <p className="pages">
                <Link href={`/explorer/${network}/blocks`}>All blocks</Link>
              </p>
            </section>
            <section className="panel" id="contracts" aria-label="Contracts">
              <h2>Contracts</h2>
              <Facts
                entries={contracts.map(({ address, name }) => [
                  name ?? "",
                  <Link href={`/explorer/${network}/address/${address}`}>
                    <Code text={address} />
                  </Link>,
                ])}
              />
            </section>
          </Page>
        )}
      </Found>
      {/* They are known without the chain. */}
      {isWithout && known !== undefined && <LatestRequests network={network} />}
    </>
  );
}

/** `/explorer/{network}/transactions`: a network's transactions, page by page. */
export function Transactions() {
  const { network } = useParams<{ readonly network: string }>();
  const before = usePlace("before");
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["transactions", network, before],
    queryFn: () => explorer.transactions(network, before),
  });
  return (
    <Found query={query} network={network} title="Transactions">
      {({ transactions, searched, older }) => (
        <ExplorerPage network={network} title="Transactions" trail={trail}>
          <h1>Transactions</h1>
          <p className="lead">
            Of blocks <BlockLink network={network} number={searched.from} /> to{" "}
            <BlockLink network={network} number={searched.to} />.
          </p>
          <section className="panel" aria-label="All transactions">
            <TransactionTable transactions={transactions} network={network} />
            <Pages parameter="before" older={older} />
          </section>
        </ExplorerPage>
      )}
    </Found>
  );
}

/** `/explorer/{network}/blocks`: a network's blocks, page by page. */
export function Blocks() {
  const { network } = useParams<{ readonly network: string }>();
  const before = usePlace("before");
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["blocks", network, before],
    queryFn: () => explorer.blocks(network, before),
  });
  return (
    <Found query={query} network={network} title="Blocks">
      {({ headNumber, blocks, older }) => (
        <ExplorerPage network={network} title="Blocks" trail={trail}>
          <h1>Blocks</h1>
          <p className="lead">
            The newest is <BlockLink network={network} number={headNumber} />.
          </p>
          <section className="panel" aria-label="Blocks">
            {blocks.length === 0 ? (
              <p className="note">The node no longer has these blocks.</p>
            ) : (
              <BlockTable blocks={blocks} network={network} />
            )}
            <Pages parameter="before" older={older} />
          </section>
        </ExplorerPage>
      )}
    </Found>
  );
}

/** `/explorer/{network}/block/{number}`: a block with its transactions. */
export function Block() {
  const { network, number } = useParams<{ readonly network: string; readonly number: string }>();
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["block", network, number],
    queryFn: () => explorer.block(network, number),
  });
  return (
    <Found
      query={query}
      network={network}
      title={`Block ${number}`}
      sought={number}
      hint={<NewestBlock network={network} />}
    >
      {(block) => {
        const [previous, next] = [BigInt(block.number) - 1n, BigInt(block.number) + 1n];
        return (
          <ExplorerPage network={network} title={`Block ${block.number}`} trail={trail}>
            <h1>Block {block.number}</h1>
            <p className="pages">
              {previous >= 0n && (
                <Link rel="prev" href={`/explorer/${network}/block/${previous}`}>
                  Previous: block {String(previous)}
                </Link>
              )}
              {next <= BigInt(block.headNumber) ? (
                <Link rel="next" href={`/explorer/${network}/block/${next}`}>
                  Next: block {String(next)}
                </Link>
              ) : (
                <span className="note">This is the newest block.</span>
              )}
            </p>
            <section className="panel" aria-label="Overview">
              <Facts
                entries={[
                  ["Hash", <Copyable text={block.hash} what="block hash" />],
                  [
                    "Parent",
                    previous < 0n ? (
                      <Code text={block.parentHash} />
                    ) : (
                      <Link href={`/explorer/${network}/block/${previous}`}>
                        <Code text={block.parentHash} />
                      </Link>
                    ),
                  ],
                  ["Time", <TimeAndAge iso={block.at} />],
                  ["Transactions", String(block.transactions.length)],
                  [
                    "Gas used",
                    `${groupDigits(block.gasUsed)} of ${groupDigits(block.gasLimit)} (${percent(block.gasUsed, block.gasLimit)})`,
                  ],
                  ["Base fee", block.baseFeeWei !== null && inGwei(block.baseFeeWei)],
                  [
                    "Fees go to",
                    block.miner !== null && <PartyLink network={network} party={block.miner} full />,
                  ],
                ]}
              />
            </section>
            {block.requests !== undefined && block.requests.length > 0 && (
              <Batch key={block.hash} rows={block.requests.map(rowOf)} network={network} />
            )}
            <More count={block.moreRequests} of={OTHER_REQUESTS} />
            <section className="panel">
              <h2>Transactions</h2>
              <TransactionTable transactions={block.transactions} network={network} isOneBlock />
              {block.transactions.length > MAX_STATUSES && (
                <p className="note">The status is shown for the first {MAX_STATUSES} only.</p>
              )}
            </section>
          </ExplorerPage>
        );
      }}
    </Found>
  );
}

/** Leads from a block that there isn't to the newest one. */
function NewestBlock({ network }: { readonly network: string }) {
  const explorer = useExplorer();
  const { data } = useQuery({ queryKey: ["blocks", network], queryFn: () => explorer.blocks(network) });
  if (data === undefined) return null;
  return (
    <p>
      The newest block is <BlockLink network={network} number={data.headNumber} />.
    </p>
  );
}

function BlockTable({
  blocks,
  network,
}: {
  readonly blocks: readonly BlockSummary[];
  readonly network: string;
}) {
  return (
    <List
      label="List of blocks"
      items={blocks}
      keyOf={({ number }) => number}
      columns={[
        { head: "Block", cell: ({ number }) => <BlockLink network={network} number={number} /> },
        { head: "Time", isPlain: true, cell: ({ at }) => <Age iso={at} /> },
        { head: "Transactions", kind: "number", cell: ({ transactionCount }) => transactionCount },
        { head: "Gas used", kind: "number", cell: ({ gasUsed }) => groupDigits(gasUsed) },
        { head: "Of the limit", kind: "number", cell: ({ gasUsed, gasLimit }) => percent(gasUsed, gasLimit) },
      ]}
    />
  );
}
