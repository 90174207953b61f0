import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import type { AddressView, ContractView } from "../../../../client/index.ts";
import { Coin } from "../../parts/coin.tsx";
import { Code, Copyable, CopyButton, count, groupDigits, PartyLink, units } from "../../parts/format.tsx";
import { Pages, usePlace } from "../../parts/pages.tsx";
import { type Fact, Facts, Folded, Listing, Tag, ValueTable } from "../../parts/parts.tsx";
import { TransactionTable } from "../../parts/transactionTable.tsx";
import { useExplorer } from "../../services.tsx";
import { ExplorerPage, Found, useTrail } from "./explorerFrame.tsx";

/** `/explorer/{network}/address/{address}`: an address's balance, and its transactions page by page. */
export function Address() {
  const { network, address } = useParams<{ readonly network: string; readonly address: string }>();
  const before = usePlace("before");
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["address", network, address, before],
    queryFn: () => explorer.address(network, address, before),
  });
  return (
    <Found query={query} network={network}>
      {(view) => (
        <ExplorerPage network={network} title={view.name ?? `Address ${address.slice(0, 10)}…`} trail={trail}>
          <h1>{view.name ?? (isContract(view) ? "Contract" : "Account")}</h1>
          <p className="subject">
            <Copyable text={view.address} what="address" />
          </p>
          {view.hasSource && <AddressTabs network={network} address={view.address} current="transactions" />}
          <section className="panel" aria-label="Overview">
            <Facts
              entries={[
                ["What it is", view.about],
                ["Kind", <Kind view={view} />],
                ["Balance", <Coin wei={view.balanceWei} network={network} />],
                ["LINK", view.linkJuels !== undefined && units(view.linkJuels, "LINK")],
                countOf(view),
              ]}
            />
          </section>
          <section className="panel">
            <h2>Transactions</h2>
            <TransactionTable transactions={view.transactions} network={network} />
            <p className="note">{noteOf(view)}</p>
            <Pages parameter="before" older={view.older} />
          </section>
        </ExplorerPage>
      )}
    </Found>
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
  if (isContract(view)) return [<ContractsCreated view={view} />, groupDigits(Math.max(nonce - 1, 0))];
  return [delegatesTo === null ? "Transactions sent" : "Nonce", groupDigits(nonce)];
}

function ContractsCreated({ view: { name = "" } }: { readonly view: AddressView }) {
  return (
    <>
      Contracts created
      {name.startsWith("PresetConsumer") && (
        <small>Each holds a preset's source or the parameters of a batch as its code.</small>
      )}
    </>
  );
}

/** Says where a page's transactions come from, and what it can't include. */
function noteOf({ searched: { from, to }, isIndexed, isForgotten }: AddressView): string {
  if (!isIndexed)
    return `Found in blocks ${from} to ${to}. These blocks are not indexed by address, so each page scans part of the chain.${isForgotten ? " The node no longer has older blocks." : ""}`;
  return `Transactions that this address sent, received, was created by or emitted a log in, from an index of blocks ${from} to ${to}.${from === "0" ? "" : " Earlier blocks are still being indexed."}${isForgotten ? " Some old blocks have been removed." : ""}`;
}

function AddressTabs({
  network,
  address,
  current,
}: {
  readonly network: string;
  readonly address: string;
  readonly current: "transactions" | "contract";
}) {
  const base = `/explorer/${network}/address/${address}`;
  const tabs = [
    { name: "transactions", path: base, text: "Transactions" },
    { name: "contract", path: `${base}/contract`, text: "Contract" },
  ] as const;
  return (
    <nav className="tabs" aria-label="Address">
      {tabs.map(({ name, path, text }) => (
        <Link key={name} href={path} aria-current={name === current ? "page" : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}

/** `/explorer/{network}/address/{address}/contract`: a contract's source, interface and build. */
export function Contract() {
  const { network, address } = useParams<{ readonly network: string; readonly address: string }>();
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["contract", network, address],
    queryFn: () => explorer.contract(network, address),
  });
  return (
    <Found query={query} network={network}>
      {(view) => (
        <ExplorerPage network={network} title={`${view.name}, contract`} trail={trail}>
          <h1>{view.name}</h1>
          <p className="subject">
            <Copyable text={view.address} what="address" />
          </p>
          <AddressTabs network={network} address={view.address} current="contract" />
          <Build build={view.build} />
          {view.constructorArguments !== null && (
            <section className="panel" id="constructor">
              <h2>Constructor arguments</h2>
              <ValueTable values={view.constructorArguments} network={network} />
            </section>
          )}
          {view.build !== null && <Sources sources={view.build.sources} />}
          <section className="panel" id="abi">
            <h2>
              ABI <CopyButton text={JSON.stringify(view.abi)} what="ABI" />
            </h2>
            <Folded summary={`${view.abi.length} ${view.abi.length === 1 ? "entry" : "entries"}`}>
              <Listing text={JSON.stringify(view.abi, null, 2)} label="ABI" />
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
