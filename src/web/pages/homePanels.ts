import { MAX_COUNTED, type ActiveHour, type RequestCounts } from "../../requests/activity.ts";
import type { KeyView } from "../../dapps/dapps.ts";
import type { NetworkView, Readiness } from "../../requests/views.ts";
import { barChart } from "../barChart.ts";
import { copyable, copyButton, count, groupDigits } from "../format.ts";
import { folded, listing, scrollable } from "../explorer/parts.ts";
import { html, showText, type Html } from "../html.ts";
import { DEFAULT_NETWORK, maskedKey, networkSelect } from "./parts.ts";
import { statusTag } from "./networks.ts";

/** What a first call needs: a button that makes it, and key and command for a terminal. */
export function startPanel(options: {
  readonly token: Html;
  readonly networks: readonly NetworkView[];
  readonly dapp: { readonly id: string; readonly name: string };
  /** A live one of the dapp; absent where it has none. */
  readonly key: KeyView | undefined;
  /** Address of this service, as the reader reaches it. */
  readonly origin: string;
  readonly isFirstVisit: boolean;
}): Html {
  const { token, networks, dapp, key, origin, isFirstVisit } = options;
  const network = networks.find(({ name }) => name === DEFAULT_NETWORK) ?? networks[0];
  const command = `curl -sS -X POST "$TYCHE_URL/api/vrfv2/presets?preset=coinflip&network=${network?.name}" \\
  -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' -d '{}'`;
  return html`<section class="panel" id="start"><h2>Flip a coin now</h2>
${
  isFirstVisit &&
  html`<ol class="note"><li>A coin flip asks for a random word on chain; the oracle answers with a proof that the coordinator contract checks.</li>
<li>The word goes to a function, and its result comes back on chain: the page that follows links to both transactions, and verifies them.</li>
<li>Your programs do the same with one HTTP call, and without gas, tokens or subscriptions of their own.</li></ol>`
}
<form method="post" action="/presets/coinflip" class="flip">${token}<input type="hidden" name="dapp" value="${dapp.id}"><div class="field">${networkSelect(networks, DEFAULT_NETWORK)}</div><div><button class="action">Flip a coin</button></div></form>
${key !== undefined && html`<h3>API key of ${showText(dapp.name)}</h3><div class="key-row">${maskedKey(key.id, `/dapps/${dapp.id}/keys`, token)}</div>`}
${folded("As curl", html`<p class="note">In a terminal with <code>TYCHE_URL</code> and <code>TYCHE_API_KEY</code> set: ${copyable(`export TYCHE_URL=${origin}`, "address")}</p>${listing(command, "curl")}${copyButton(command, "curl")}`)}</section>`;
}

/** Networks and their oracles, in a line each. */
export function runningPanel(networks: readonly NetworkView[], readiness: Readiness["networks"]): Html {
  const rows = networks.map(({ name, title, status }) => {
    const { ready, why, blockNumber, pendingRequests, oracle } = readiness[name] ?? {};
    const state = oracle === undefined ? "elsewhere" : oracle.caughtUp ? "caught up" : "reading the chain";
    return html`<tr><td><a href="/explorer/${name}">${title}</a></td><td>${statusTag(status)}${!ready && why !== undefined && html` <span class="note">${showText(why)}</span>`}</td><td class="number">${blockNumber !== undefined && groupDigits(String(blockNumber))}</td><td>${state}</td><td class="number">${groupDigits(String(pendingRequests ?? 0))}</td></tr>`;
  });
  const table = html`<table class="list"><thead><tr><th>Network</th><th>Status</th><th class="number">Block</th><th>Oracle</th><th class="number">In work</th></tr></thead><tbody>${rows}</tbody></table>`;
  return html`<section class="panel" id="running" data-live><h2>What is running</h2>${scrollable("Networks", table)}</section>`;
}

/** Draws the requests of each hour as a bar. */
export function activityPanel(hours: readonly ActiveHour[]): Html {
  const most = Math.max(...hours.map(({ requests }) => requests));
  const sumOf = (of: keyof RequestCounts): number => hours.reduce((sum, hour) => sum + hour[of], 0);
  const failed = groupDigits(String(sumOf("failed")));
  const total = `${hours.some(({ requests }) => requests === MAX_COUNTED) ? "more than " : ""}${count(sumOf("requests"), "request")}`;
  const bars = hours.map((hour) => ({
    ...hour,
    title: `${hourOf(hour)}: ${count(hour.requests, "request")}, ${groupDigits(String(hour.failed))} failed`,
  }));
  const rows = hours.map(
    (hour) =>
      html`<tr><td>${hourOf(hour)}</td><td class="number">${groupDigits(String(hour.requests))}</td><td class="number">${groupDigits(String(hour.failed))}</td></tr>`,
  );
  const table = html`<table class="list"><thead><tr><th>Hour (UTC)</th><th class="number">Requests</th><th class="number">Failed</th></tr></thead><tbody>${rows}</tbody></table>`;
  return html`<section class="panel" id="activity" data-live><h2>Requests of the last 24 hours</h2>
${barChart(bars, `${total} in 24 hours, ${failed} failed, at most ${most} an hour`)}
<p class="chart-axis note"><span>${hourOf(hours[0]!)}</span><span>${total}, ${failed} failed; at most ${groupDigits(String(most))} an hour</span><span>${hourOf(hours.at(-1)!)}</span></p>
${folded("As a table", scrollable("Requests by hour", table))}</section>`;
}

function hourOf({ from }: ActiveHour): string {
  return new Date(from).toISOString().slice(11, 16);
}
