import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link, useParams, useSearchParams } from "wouter";
import type { AddressView, ContractView, Party, TransactionSummary } from "../../../../client/index.ts";
import type { Reading } from "../../page.tsx";
import { Coin } from "../../parts/coin.tsx";
import { nameContract } from "../../parts/contractNames.ts";
import { ContractRequestTable } from "../../parts/contractRequestTable.tsx";
import {
  Age,
  BlockLink,
  Code,
  Copyable,
  CopyButton,
  count,
  groupDigits,
  PartyLink,
  ShortHex,
  TransactionLink,
  units,
} from "../../parts/format.tsx";
import { Select } from "../../parts/forms.tsx";
import { type Column, List } from "../../parts/list.tsx";
import { Pages, usePlace } from "../../parts/pages.tsx";
import { type Fact, Facts, Folded, Listing, RawBytes, Tag, UnknownText } from "../../parts/parts.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { ValueLines, ValueTable } from "../../parts/values.tsx";
import { listed, RequestList } from "../../parts/requestList.tsx";
import { TransactionTable, WHAT } from "../../parts/transactionTable.tsx";
import { useExplorer, useNetworks } from "../../services.tsx";
import { RawEvent } from "./events.tsx";
import { ExplorerPage, Found, FoundPart, More, OTHER_REQUESTS, useTrail } from "./explorerFrame.tsx";
import { MAX_CREATED, MAX_DATA_BYTES } from "../../../../domain/explorerLimits.ts";

/** `/explorer/{network}/address/{address}`: an address's balance, and its transactions page by page. */
export function Address() {
  const { network, address } = useParams<{ readonly network: string; readonly address: string }>();
  const place = usePlace("before");
  const [search] = useSearchParams();
  const shown = PARTS.find(({ name }) => name === search.get("show"))?.name ?? "transactions";
  const before = shown === "transfers" ? undefined : place;
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["address", network, address, before],
    queryFn: () => explorer.address(network, address, before),
  });
  const title = useTitle(network, address);
  return (
    <Found query={useLastOf(query, `${network} ${address}`)} network={network} title={title} sought={address}>
      {(view) => (
        <ExplorerPage network={network} title={view.name ?? title} trail={trail}>
          <h1>{view.name ?? (isContract(view) ? "Contract" : "Account")}</h1>
          <p className="subject">
            <Copyable text={view.address} what="address" />
          </p>
          <AddressTabs view={view} current={shown} />
          <section className="panel" aria-label="Overview">
            <Facts
              entries={[
                ["What it is", view.about],
                ["Holds", view.storedSource && <Stored source={view.storedSource} />],
                ["Kind", <Kind view={view} />],
                ["Balance", <Coin wei={view.balanceWei} network={network} />],
                ["LINK", view.linkJuels !== undefined && units(view.linkJuels, "LINK")],
                countOf(view),
                [
                  "Created in",
                  view.createdIn !== undefined && <TransactionLink network={network} hash={view.createdIn} />,
                ],
                [
                  "Created by",
                  view.createdBy !== undefined && <PartyLink network={network} party={view.createdBy} full />,
                ],
                [
                  "Consumer",
                  view.linkedIn !== undefined && (
                    <>
                      linked to a dapp here <TransactionLink network={network} hash={view.linkedIn} />
                    </>
                  ),
                ],
              ]}
            />
          </section>
          {shown === "requests" && isContract(view) && <OfContracts view={view} />}
          <section className="panel">
            <FoundPart query={query} network={network}>
              {(page) => <PagePart view={page} shown={shown} before={before} />}
            </FoundPart>
          </section>
        </ExplorerPage>
      )}
    </Found>
  );
}

/** Returns the title of an address's page before the address is read. */
function useTitle(network: string, address: string): string {
  const known = useNetworks().data?.find(({ name }) => name === network);
  return nameContract(known, address) ?? `Address ${address.slice(0, 10)}…`;
}

/** Returns the page of an address's transactions, or the last one until it is read: the address is the same. */
function useLastOf(query: UseQueryResult<AddressView>, place: string): Reading<AddressView> {
  const last = useRef<{ readonly place: string; readonly query: Reading<AddressView> }>(null);
  useEffect(() => {
    if (query.data !== undefined) last.current = { place, query };
  });
  return query.data === undefined && last.current?.place === place ? last.current.query : query;
}

/** A part of a page of an address's transactions, and which page it is. */
function PagePart({
  view,
  shown,
  before,
}: {
  readonly view: AddressView;
  readonly shown: PartName;
  readonly before: string | undefined;
}) {
  const { network, address } = view;
  return (
    <>
      <Shown view={view} shown={shown} />
      {(OF_PAGE.includes(shown) || (shown === "created" && !isContract(view))) && (
        <>
          <p className="note">{shown === "transactions" ? noteOf(view) : scopeOf(view, before)}</p>
          {shown === "transactions" && isContract(view) && view.name === undefined && (
            <p className="note">
              What it requested itself, each with its result or why its callback failed, is under{" "}
              <Link href={`/explorer/${network}/address/${address}?show=requests`}>Requests</Link>.
            </p>
          )}
          <Pages parameter="before" older={view.older} />
        </>
      )}
    </>
  );
}

/** Which source a contract of PresetConsumer's holds as its code. */
function Stored({
  source: { sourceId, preset },
}: {
  readonly source: NonNullable<AddressView["storedSource"]>;
}) {
  return (
    <>
      the source {sourceId} of PresetConsumer, as its code
      {preset !== undefined && (
        <>
          : the preset{" "}
          <Link href={`/presets/${preset.name}`}>
            <UnknownText text={preset.title} />
          </Link>
        </>
      )}
    </>
  );
}

function isContract({ codeBytes, delegatesTo }: AddressView): boolean {
  return codeBytes > 0 && delegatesTo === null;
}

function Kind({ view }: { readonly view: AddressView }) {
  const { network, codeBytes, delegatesTo } = view;
  if (isContract(view)) return `contract with ${count(codeBytes, "byte")} of code`;
  if (delegatesTo === null) return "account without code";
  return (
    <>
      account that delegates to <PartyLink network={network} party={delegatesTo} full />
    </>
  );
}

/** Says what the nonce counts. A contract's starts at 1 (EIP-161); that of an account that delegates counts several things. */
function countOf(view: AddressView): Fact {
  const { nonce, delegatesTo } = view;
  if (isContract(view))
    return [
      "Contracts created",
      nonce > 1 && (
        <Link href={`/explorer/${view.network}/address/${view.address}?show=created`}>
          {groupDigits(nonce - 1)}
        </Link>
      ),
    ];
  return [delegatesTo === null ? "Transactions sent" : "Nonce", groupDigits(nonce)];
}

/** Says where a page's transactions come from, and what it can't include. */
function noteOf({ searched: { from, to }, isIndexed, isForgotten }: AddressView): string {
  if (!isIndexed)
    return `Found in blocks ${from} to ${to}. These blocks are not indexed by address, so each page scans part of the chain.${isForgotten ? " The node no longer has older blocks." : ""}`;
  return `Transactions that this address sent, received, was created by, emitted a log in or is named in, such as deliveries of results to it, from an index of blocks ${from} to ${to}.${isForgotten ? " Some old blocks have been removed." : ""}`;
}

/** Says which of the address's transactions a part is about; nothing if it is about all. */
function scopeOf(
  { transactions, searched: { from, to }, isIndexed, older }: AddressView,
  before: string | undefined,
): string | undefined {
  if (!isIndexed) return `In blocks ${from} to ${to}, through which this page searched.`;
  const [newest, oldest] = [transactions[0], transactions.at(-1)];
  if (newest === undefined || oldest === undefined || (older === null && before === undefined))
    return undefined;
  return `In ${count(transactions.length, "transaction")} of blocks ${oldest.blockNumber} to ${newest.blockNumber}.`;
}

/** What a page of an address shows of its transactions, by the query parameter `show`. */
const PARTS = [
  { name: "transactions", text: "Transactions" },
  { name: "requests", text: "Requests" },
  { name: "events", text: "Events" },
  { name: "transfers", text: "LINK transfers" },
  { name: "created", text: "Contracts created" },
] as const;
type PartName = (typeof PARTS)[number]["name"];

/** The parts that are of one page of its transactions; the others have pages of their own. */
const OF_PAGE: readonly PartName[] = ["transactions", "requests", "events"];

/** Returns the parts in which an address can have nothing: only code emits events, and the nonce counts what it created. */
function lacksOf(view: AddressView): readonly PartName[] {
  const { codeBytes, events, nonce } = view;
  return [
    ...(codeBytes > 0 || events.length > 0 ? [] : (["events"] as const)),
    ...(nonce > (isContract(view) ? 1 : 0) ? [] : (["created"] as const)),
  ];
}

/** A part of a page of an address's transactions. */
function Shown({ view, shown }: { readonly view: AddressView; readonly shown: PartName }) {
  const { network, transactions, requests, events } = view;
  switch (shown) {
    case "transactions":
      return <OwnTransactions key={transactions[0]?.hash} view={view} />;
    case "requests":
      return (
        <>
          <h2>{isContract(view) ? "Requests of this service" : "Requests"}</h2>
          {requests.length > 0 ? (
            <RequestList label="Requests" requests={requests.map(listed)} isOneNetwork />
          ) : (
            view.moreRequests === undefined && (
              <p className="note">These transactions make and answer no requests of this service.</p>
            )
          )}
          <More count={view.moreRequests} of={OTHER_REQUESTS} />
        </>
      );
    case "events":
      return (
        <>
          <h2>Events</h2>
          {events.length === 0 ? (
            <p className="note">It emitted none here.</p>
          ) : (
            <List
              label="Events"
              isDense
              items={events}
              keyOf={({ transactionHash, logIndex }) => `${transactionHash} ${logIndex}`}
              columns={[
                { head: "Event", kind: "name", cell: ({ event }) => <b>{event ?? "Unknown event"}</b> },
                {
                  head: "Arguments",
                  kind: "long",
                  isPlain: true,
                  cell: (event) => <EventArguments event={event} network={network} />,
                },
                ...placesOf(view),
              ]}
            />
          )}
          <More count={view.moreEvents} of="Further events" />
        </>
      );
    case "transfers":
      return (
        <>
          <h2>LINK transfers</h2>
          <Transfers view={view} />
        </>
      );
    case "created":
      return isContract(view) ? <Created view={view} /> : <CreatedByAccount view={view} />;
  }
}

/** What an event says; topics and data, if its interface is unknown. */
function EventArguments({
  event: { event, fields, topics, data },
  network,
}: {
  readonly event: AddressView["events"][number];
  readonly network: string;
}) {
  if (event !== undefined) return <ValueLines values={fields} network={network} />;
  return (
    <Folded
      summary={
        <>
          Topic <ShortHex text={topics[0] ?? "none"} />
        </>
      }
    >
      <RawEvent topics={topics} data={data ?? "0x"} />
      {data !== undefined && data.length >= 2 + 2 * MAX_DATA_BYTES && (
        <p className="note">
          These are the first {MAX_DATA_BYTES} bytes of the data; the transaction has all.
        </p>
      )}
    </Folded>
  );
}

/** The contracts that an account created in the page's transactions. */
function CreatedByAccount({ view: { network, address, transactions } }: { readonly view: AddressView }) {
  const own = transactions.filter(({ from, created }) => created !== null && from.address === address);
  return (
    <>
      <h2>Contracts created</h2>
      {own.length === 0 ? (
        <p className="note">None in these transactions.</p>
      ) : (
        <TransactionTable transactions={own} network={network} />
      )}
    </>
  );
}

/** The newest of the contracts that a contract created. */
function Created({ view: { network, name = "", nonce, contractsCreated } }: { readonly view: AddressView }) {
  // They are on the first page alone.
  const more = contractsCreated.length === 0 ? 0 : nonce - 1 - MAX_CREATED;
  return (
    <>
      <h2>Contracts created</h2>
      {name.startsWith("PresetConsumer") && (
        <p className="note">Each holds a preset's source or the parameters of a batch as its code.</p>
      )}
      <List
        label="Contracts created"
        items={contractsCreated}
        keyOf={({ address }) => address}
        columns={[
          {
            head: "Contract",
            kind: "long",
            cell: (party) => <PartyLink network={network} party={party} full />,
          },
          { head: "Code", kind: "number", cell: ({ codeBytes }) => count(codeBytes, "byte") },
        ]}
      />
      <More count={more > 0 ? more : undefined} of="Further ones" />
    </>
  );
}

const DIRECTIONS = [
  ["", "all"],
  ["sent", "sent"],
  ["received", "received"],
  ["failed", "failed"],
] as const;

/** The transactions of a page, all or some. */
function OwnTransactions({ view: { address, network, transactions } }: { readonly view: AddressView }) {
  const [direction, setDirection] = useState("");
  const isWanted = ({ from, to, created, status, failure }: TransactionSummary): boolean => {
    if (direction === "sent") return from.address === address;
    if (direction === "received") return (to ?? created)?.address === address;
    return direction === "" || status === "reverted" || failure !== undefined;
  };
  return (
    <>
      <h2>Transactions</h2>
      {transactions.length > 1 && (
        <p>
          <label htmlFor="direction">Show</label>{" "}
          <Select id="direction" value={direction} options={DIRECTIONS} onChange={setDirection} />
        </p>
      )}
      <TransactionTable transactions={transactions.filter(isWanted)} network={network} />
    </>
  );
}

/** Columns that say where something happened: in which of the page's transactions, in which block, and when. */
function placesOf({
  network,
  transactions,
}: Pick<AddressView, "network" | "transactions">): readonly Column<{ readonly transactionHash: string }>[] {
  const found = new Map<string, TransactionSummary>(transactions.map((one) => [one.hash, one]));
  return [
    {
      ...WHAT,
      kind: "long",
      cell: ({ transactionHash }) => {
        const transaction = found.get(transactionHash);
        return transaction && WHAT.cell(transaction);
      },
    },
    {
      head: "Transaction",
      cell: ({ transactionHash }) => <TransactionLink network={network} hash={transactionHash} />,
    },
    {
      head: "Block",
      cell: ({ transactionHash }) => {
        const transaction = found.get(transactionHash);
        return transaction && <BlockLink network={network} number={transaction.blockNumber} />;
      },
    },
    {
      head: "Time",
      cell: ({ transactionHash }) => {
        const transaction = found.get(transactionHash);
        return transaction && <Age iso={transaction.at} isShort />;
      },
    },
  ];
}

/** The LINK that the address sent and received, page by page. */
function Transfers({ view: { network, address, linkJuels } }: { readonly view: AddressView }) {
  const before = usePlace("before");
  const explorer = useExplorer();
  const query = useQuery({
    queryKey: ["transfers", network, address, before],
    queryFn: () => explorer.transfers(network, address, before),
  });
  return (
    <FoundPart query={query} network={network}>
      {({ transfers, transactions, searched: { from, to }, older }) => (
        <>
          {transfers.length === 0 ? (
            <p className="note">
              {`It sent and received no LINK in blocks ${from} to ${to}${linkJuels === "0" ? ", and holds none" : ""}. What requests cost is taken from subscriptions, whose LINK the contracts of the oracle hold.`}
            </p>
          ) : (
            <>
              <List
                label="LINK transfers"
                items={transfers}
                keyOf={(_, i) => i}
                columns={[
                  { head: "Amount", cell: ({ juels }) => units(juels, "LINK") },
                  {
                    head: "From",
                    cell: (one) =>
                      isZero(one.from) ? "minted" : <PartyLink network={network} party={one.from} />,
                  },
                  {
                    head: "To",
                    cell: (one) =>
                      isZero(one.to) ? "burnt" : <PartyLink network={network} party={one.to} />,
                  },
                  ...placesOf({ network, transactions }),
                ]}
              />
              <p className="note">{`Found in blocks ${from} to ${to}.`}</p>
            </>
          )}
          <Pages parameter="before" older={older} />
        </>
      )}
    </FoundPart>
  );
}

/** Whether LINK comes from nobody, or goes to nobody: the token's own account of what is created and destroyed. */
function isZero({ address }: Party): boolean {
  return /^0x0+$/.test(address);
}

/** What contracts requested themselves, page by page: this one or, of those that take requests, all. */
function OfContracts({ view: { network, address } }: { readonly view: AddressView }) {
  const before = usePlace("cursor");
  const explorer = useExplorer();
  const query = useQuery({
    queryKey: ["contract requests", network, address, before],
    queryFn: () => explorer.contractRequests(network, address, before),
  });
  const heading =
    query.data?.consumer === undefined ? "Requests of contracts" : "Requests that it made itself";
  return (
    <section className="panel" id="contract-requests">
      <h2>{heading}</h2>
      <FoundPart query={query} network={network}>
        {({ items, searched, older }) => (
          <>
            {items.length > 0 && (
              <ContractRequestTable
                label={heading}
                requests={items.map((item) => ({ ...item, network }))}
                isOneNetwork
              />
            )}
            {searched !== null && (
              <p className="note">
                {`${items.length === 0 ? "None" : "Found"} in blocks ${searched.from} to ${searched.to}.`}
              </p>
            )}
            <Pages parameter="cursor" older={older} label="Pages of contracts' requests" />
          </>
        )}
      </FoundPart>
    </section>
  );
}

function AddressTabs({
  view,
  current,
}: {
  readonly view: AddressView;
  readonly current: PartName | "contract";
}) {
  const [search] = useSearchParams();
  const { network, address } = view;
  const lacks = lacksOf(view);
  const base = `/explorer/${network}/address/${address}`;
  const pathOf = (name: PartName): string => {
    const isSamePage = OF_PAGE.includes(name) && current !== "contract" && OF_PAGE.includes(current);
    const query = new URLSearchParams(isSamePage ? search : {});
    if (name === "transactions") query.delete("show");
    else query.set("show", name);
    return query.size === 0 ? base : `${base}?${query.toString()}`;
  };
  const parts = PARTS.filter(({ name }) => name === current || !lacks.includes(name));
  return (
    <Tabs
      label="Address"
      current={current}
      tabs={[
        ...parts.map((part) => ({ ...part, href: pathOf(part.name) })),
        ...(isContract(view) ? [{ name: "contract", text: "Contract", href: `${base}/contract` }] : []),
      ]}
    />
  );
}

/** `/explorer/{network}/address/{address}/contract`: a contract's code and, if they are known, source, interface and build. */
export function Contract() {
  const { network, address } = useParams<{ readonly network: string; readonly address: string }>();
  const explorer = useExplorer();
  const trail = useTrail(network);
  const view = useQuery({
    queryKey: ["address", network, address, undefined],
    queryFn: () => explorer.address(network, address),
  });
  const contract = useQuery({
    queryKey: ["contract", network, address],
    queryFn: () => explorer.contract(network, address),
  });
  const title = useTitle(network, address);
  return (
    <Found
      query={contract}
      network={network}
      title={title}
      sought={address}
      known={view.data !== undefined && <AddressTabs view={view.data} current="contract" />}
    >
      {(found) => (
        <ExplorerPage
          network={network}
          title={found.name === undefined ? `Contract ${address.slice(0, 10)}…` : `${found.name}, contract`}
          trail={trail}
        >
          <h1>{found.name ?? "Contract"}</h1>
          <p className="subject">
            <Copyable text={found.address} what="address" />
          </p>
          {view.data !== undefined && <AddressTabs view={view.data} current="contract" />}
          {found.name !== undefined && <Build build={found.build} />}
          {found.constructorArguments !== null && (
            <section className="panel" id="constructor">
              <h2>Constructor arguments</h2>
              <ValueTable values={found.constructorArguments} network={network} />
            </section>
          )}
          {found.build !== null && <Sources sources={found.build.sources} />}
          {found.abi.length > 0 && (
            <section className="panel" id="abi">
              <h2>
                ABI <CopyButton text={JSON.stringify(found.abi)} what="ABI" />
              </h2>
              <Folded summary={`${found.abi.length} ${found.abi.length === 1 ? "entry" : "entries"}`}>
                <Listing text={JSON.stringify(found.abi, null, 2)} label="ABI" />
              </Folded>
            </section>
          )}
          <section className="panel" id="code">
            <h2>
              Code <CopyButton text={found.code} what="code" />
            </h2>
            {found.name === undefined && (
              <p className="note">
                Its source is not known here: only the contracts of this service have theirs shown.
              </p>
            )}
            <Folded summary={count((found.code.length - 2) / 2, "byte")} isOpen={found.name === undefined}>
              <RawBytes hex={found.code} label="Code" />
            </Folded>
          </section>
        </ExplorerPage>
      )}
    </Found>
  );
}

function Build({ build }: Pick<ContractView, "build">) {
  return (
    <section className="panel" id="build">
      <h2>Build</h2>
      <Facts
        entries={[
          [
            "Known source",
            build === null ? (
              <Tag kind="bad">does not match</Tag>
            ) : (
              <Tag kind="good">matches this source</Tag>
            ),
          ],
          [
            "Compiler",
            build !== null && (
              <>
                solc <Code text={build.compiler} />
              </>
            ),
          ],
          ["Optimizer", build !== null && `${groupDigits(build.optimizerRuns)} runs`],
          ["EVM version", build !== null && build.evmVersion],
        ]}
      />
      <p className="note">
        {build === null
          ? "The code at this address differs from what the service's copy of the source compiles to, so that source is not shown."
          : "The code at this address was just compared, byte by byte, with the compiler's output for this source. Immutable variables, which the constructor sets, may differ."}
      </p>
    </section>
  );
}

function Sources({ sources }: Pick<NonNullable<ContractView["build"]>, "sources">) {
  return (
    <section className="panel" id="source">
      <h2>
        Source <span className="count">{count(sources.length, "file")}</span>
      </h2>
      {sources.map(({ path, content }, i) =>
        i === 0 ? (
          <div key={path}>
            <h3>
              <Code text={path} /> <CopyButton text={content} what={path} />
            </h3>
            <Listing text={content} label={path} />
          </div>
        ) : (
          <Folded key={path} summary={<Code text={path} />}>
            <Listing text={content} label={path} />
          </Folded>
        ),
      )}
    </section>
  );
}
