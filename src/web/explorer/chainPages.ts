import { MAX_STATUSES } from "../../explorer/lists.ts";
import type {
  AddressView,
  BlockListView,
  BlockSummary,
  BlockView,
  ChainOverview,
} from "../../explorer/listViews.ts";
import { age, blockLink, code, coin, copyable, count, groupDigits, time } from "../format.ts";
import { html, type Html } from "../html.ts";
import { addressTabs } from "./contractPage.ts";
import { facts, transactionTable } from "./parts.ts";
import { searchForm } from "./search.ts";

/** Body of a network's page: its newest blocks and transactions. */
export function overviewPage({
  network,
  title,
  chainId,
  headNumber,
  blocks,
  transactions,
  contracts,
}: ChainOverview): Html {
  return html`<h1>${title}</h1>
<p class="lead">Chain ${chainId}, block ${blockLink(network, headNumber)}</p>
${searchForm(network)}
<section class="panel" id="transactions" data-live><h2>Latest transactions</h2>${transactionTable(transactions, network)}</section>
<section class="panel" id="blocks" data-live><h2>Latest blocks</h2>${blockTable(blocks, network)}
<p class="pages"><a href="/explorer/${network}/blocks">All blocks</a></p></section>
<section class="panel" id="contracts" aria-label="Contracts"><h2>Contracts</h2>
${facts(contracts.map(({ address, name }) => [name ?? "", html`<a href="/explorer/${network}/address/${address}">${code(address)}</a>`] as const))}</section>`;
}

/** Body of a page of blocks. */
export function blocksPage({ network, headNumber, blocks, older }: BlockListView): Html {
  return html`<h1>Blocks</h1>
<p class="lead">The newest is ${blockLink(network, headNumber)}.</p>
<section class="panel" aria-label="Blocks">${blocks.length === 0 ? html`<p class="note">The node doesn't have these blocks any more.</p>` : blockTable(blocks, network)}
${olderLink(`/explorer/${network}/blocks`, older)}</section>`;
}

/** Body of a block's page. */
export function blockPage(block: BlockView): Html {
  const { network, number, hash, parentHash, at, gasUsed, gasLimit, headNumber, transactions } = block;
  const [previous, next] = [BigInt(number) - 1n, BigInt(number) + 1n];
  return html`<h1>Block ${number}</h1>
<p class="pages">${previous >= 0n && html`<a rel="prev" href="/explorer/${network}/block/${previous}">Block ${previous}</a>`}${next <= BigInt(headNumber) && html`<a rel="next" href="/explorer/${network}/block/${next}">Block ${next}</a>`}</p>
<section class="panel" aria-label="Overview">${facts([
    ["Hash", copyable(hash, "block hash")],
    ["Parent", code(parentHash)],
    ["Time", time(at)],
    ["Gas used", `${groupDigits(gasUsed)} of ${groupDigits(gasLimit)}`],
    ["Transactions", String(transactions.length)],
  ])}</section>
<section class="panel"><h2>Transactions</h2>${transactionTable(transactions, network)}
${transactions.length > MAX_STATUSES && html`<p class="note">The status of the first ${MAX_STATUSES} is read.</p>`}</section>`;
}

/** Body of an address's page. */
export function addressPage(view: AddressView): Html {
  const {
    network,
    address,
    name,
    balanceWei,
    nonce,
    codeBytes,
    hasSource,
    transactions,
    searched,
    older,
    isForgotten,
  } = view;
  return html`<h1>${name ?? (codeBytes > 0 ? "Contract" : "Account")}</h1>
<p class="subject">${copyable(address, "address")}</p>
${hasSource && addressTabs(network, address, "transactions")}
<section class="panel" aria-label="Overview">${facts([
    ["Kind", codeBytes > 0 ? `contract with ${count(codeBytes, "byte")} of code` : "account without code"],
    ["Balance", coin(balanceWei, network)],
    [
      codeBytes > 0 ? "Contracts created" : "Transactions sent",
      groupDigits(String(codeBytes > 0 ? nonce - 1 : nonce)),
    ],
  ])}</section>
<section class="panel"><h2>Transactions</h2>${transactionTable(transactions, network)}
<p class="note">Found in blocks ${searched.from} to ${searched.to}: there is no index by address, so that each page reads some of the chain.${isForgotten && " The node doesn't have older blocks any more."}</p>
${olderLink(`/explorer/${network}/address/${address}`, older)}</section>`;
}

function olderLink(path: string, older: string | null): Html | false {
  return older !== null && html`<p class="pages"><a rel="next" href="${path}?before=${older}">Older</a></p>`;
}

function blockTable(blocks: readonly BlockSummary[], network: string): Html {
  return html`<div class="scroll"><table class="list"><thead><tr><th>Block</th><th>Time</th><th class="number">Transactions</th><th class="number">Gas used</th></tr></thead><tbody>${blocks.map(
    ({ number, at, transactionCount, gasUsed }) =>
      html`<tr><td>${blockLink(network, number)}</td><td>${age(at)}</td><td class="number">${transactionCount}</td><td class="number">${groupDigits(gasUsed)}</td></tr>`,
  )}</tbody></table></div>`;
}
