import type { EventView, TransactionView } from "../../explorer/views.ts";
import { blockLink, code, coin, copyable, count, groupDigits, partyLink, time, units } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { facts, folded, rawBytes, statusTag, valueTable } from "./parts.ts";
import { functionRequestSection, functionResultSection, reportSection } from "./functionSections.ts";
import { joinSection, randomRequestSection, randomnessSection } from "./randomnessSections.ts";

/** Body of a transaction's page. */
export function transactionPage(transaction: TransactionView): Html {
  const {
    network,
    hash,
    randomRequests,
    randomness,
    joins,
    functionRequests,
    functionResults,
    report,
    events,
    input,
  } = transaction;
  return html`<h1>Transaction</h1>
<p class="subject">${copyable(hash, "transaction hash")}</p>
<section class="panel" id="overview" aria-label="Overview"${transaction.status === "pending" && html` data-live`}>${overview(transaction)}</section>
${functionResults.map((result) => functionResultSection(result, network))}
${joins.map((join) => joinSection(join, network))}
${randomness.map((one) => randomnessSection(one, network))}
${functionRequests.map((request) => functionRequestSection(request, network))}
${randomRequests.map((request) => randomRequestSection(request, network))}
${report !== null && reportSection(report, network)}
${input !== "0x" && callSection(transaction)}
<section class="panel" id="events"><h2>Events <span class="count">${events.length}</span></h2>
${events.length === 0 && html`<p class="note">This transaction emitted none.</p>`}
${events.map((event) => eventPart(event, network))}</section>`;
}

function overview(transaction: TransactionView): Html {
  const {
    network,
    status,
    block,
    from,
    to,
    created,
    gasUsed,
    gasLimit,
    gasPriceWei,
    valueWei,
    revertReason,
  } = transaction;
  return facts([
    ["Status", statusTag(status)],
    ["Why", revertReason !== undefined && showText(revertReason)],
    [
      "Block",
      block &&
        html`${blockLink(network, block.number)} <span class="note">${count(block.confirmations, "confirmation")}</span>`,
    ],
    ["Time", block && time(block.at)],
    ["From", partyLink(network, from, { full: true })],
    ["To", to && partyLink(network, to, { full: true })],
    ["Created contract", created && partyLink(network, created, { full: true })],
    ["Called function", transaction.call && code(transaction.call.function)],
    ["Value", coin(valueWei, network)],
    ["Fee", gasUsed !== null && coin((BigInt(gasUsed) * BigInt(gasPriceWei)).toString(), network)],
    [
      "Gas",
      `${gasUsed === null ? "" : `${groupDigits(gasUsed)} used of `}${groupDigits(gasLimit)}, at ${units((BigInt(gasPriceWei) * 10n ** 9n).toString(), "gwei")}`,
    ],
    ["Nonce", String(transaction.nonce)],
    ["Place in block", transaction.index !== null && String(transaction.index)],
  ]);
}

function callSection({ network, to, call, input }: TransactionView): Html {
  const bytes = groupDigits(String((input.length - 2) / 2));
  if (to === null) {
    return html`<section class="panel" id="call"><h2>Creation</h2>${folded(`Creation code, ${bytes} bytes`, rawBytes(input, "Creation code"))}</section>`;
  }
  const decoded = call && html`<div class="scroll">${valueTable(call.arguments, network)}</div>`;
  return html`<section class="panel" id="call"><h2>Call</h2>
${call === null ? html`<p class="note">No interface known here has this function.</p>` : folded(html`Arguments of <code>${call.function}</code>`, decoded)}
${folded(`Calldata, ${bytes} bytes`, rawBytes(input, "Calldata"))}</section>`;
}

function eventPart({ logIndex, contract, event, fields, topics, data }: EventView, network: string): Html {
  const heading = html`<span class="index">${logIndex}</span> <b>${event ?? "Unknown event"}</b> <span class="note">${contract.name ?? contract.address}</span>`;
  const raw = html`<table class="values"><tbody>${topics.map((topic, i) => html`<tr><th scope="row">topic ${i}</th><td>${code(topic)}</td></tr>`)}<tr><th scope="row">data</th><td>${data.length > 200 ? rawBytes(data, "Data") : code(data)}</td></tr></tbody></table>`;
  return folded(
    heading,
    html`<p class="note">From ${partyLink(network, contract, { full: true })}</p><div class="scroll">${event === undefined ? raw : html`${valueTable(fields, network)}${folded("Topics and data", raw)}`}</div>`,
  );
}
