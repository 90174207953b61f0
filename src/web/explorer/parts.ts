import type { TransactionSummary } from "../../explorer/listViews.ts";
import type { DecodedValue, TransactionView } from "../../explorer/views.ts";
import { age, blockLink, code, coin, partyLink, transactionLink } from "../format.ts";
import { html, showText, type Html, type HtmlValue } from "../html.ts";

/** A list of names with values; entries without a value are left out. */
export function facts(entries: readonly (readonly [name: HtmlValue, value: HtmlValue] | false)[]): Html {
  const shown = entries.filter(
    (entry) => entry !== false && entry[1] !== null && entry[1] !== undefined && entry[1] !== false,
  );
  return html`<dl class="facts">${shown.map((entry) => html`<div><dt>${(entry as readonly HtmlValue[])[0]}</dt><dd>${(entry as readonly HtmlValue[])[1]}</dd></div>`)}</dl>`;
}

/** A word that says how something stands, in colour. */
export function tag(text: string, kind: "good" | "bad" | "busy" | "quiet"): Html {
  return html`<span class="tag ${kind}">${text}</span>`;
}

/** What became of a transaction. */
export function statusTag(status: TransactionView["status"]): Html {
  if (status === "pending") return tag("not mined yet", "busy");
  return status === "succeeded" ? tag("succeeded", "good") : tag("reverted", "bad");
}

/** A table that scrolls sideways where it is wider than the page, with the keyboard too. */
export function scrollable(label: string, table: Html): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">${table}</div>`;
}

/** Something long, folded away. */
export function folded(summary: HtmlValue, content: HtmlValue): Html {
  return html`<details><summary>${summary}</summary>${content}</details>`;
}

/** Code or other text of unknown origin, as it is. */
export function listing(text: string, label: string): Html {
  return html`<pre class="listing" tabindex="0" role="region" aria-label="${label}">${showText(text)}</pre>`;
}

/** Raw bytes, to be scrolled. */
export function rawBytes(hex: string, label: string): Html {
  return html`<pre class="listing raw" tabindex="0" role="region" aria-label="${label}">${hex}</pre>`;
}

/** Arguments or fields as a table of name, type and value; structs and arrays as tables within. */
export function valueTable(values: readonly DecodedValue[], network: string): Html {
  if (values.length === 0) return html`<p class="note">None.</p>`;
  return html`<table class="values"><tbody>${values.map(
    ({ name, type, value }, i) =>
      html`<tr><th scope="row">${name === "" ? i : showText(name)} <small>${type}</small></th><td>${typeof value === "string" ? leaf(type, value, network) : valueTable(value, network)}</td></tr>`,
  )}</tbody></table>`;
}

function leaf(type: string, value: string, network: string): Html {
  if (type === "address") return partyLink(network, { address: value as `0x${string}` }, { full: true });
  if (type === "string") return showText(value);
  return value.length > 200
    ? folded(`${(value.length - 2) / 2} bytes`, rawBytes(value, `${type} value`))
    : code(value);
}

/** Transactions as a table, newest first as given. */
export function transactionTable(transactions: readonly TransactionSummary[], network: string): Html {
  if (transactions.length === 0) return html`<p class="note">No transactions here.</p>`;
  return html`<div class="scroll"><table class="list"><thead><tr><th>Transaction</th><th>Status</th><th>Calls</th><th>Block</th><th>Time</th><th>From</th><th>To</th></tr></thead><tbody>${transactions.map(
    ({ hash, status, method, blockNumber, at, from, to, valueWei }) =>
      html`<tr><td>${transactionLink(network, hash)}</td><td>${status === null ? html`<span class="note">not read</span>` : statusTag(status)}</td><td>${method === "" ? "transfer" : method}${valueWei !== "0" && html` <span class="note">${coin(valueWei, network)}</span>`}</td><td>${blockLink(network, blockNumber)}</td><td>${age(at)}</td><td>${partyLink(network, from)}</td><td>${to === null ? "new contract" : partyLink(network, to)}</td></tr>`,
  )}</tbody></table></div>`;
}
