import { MAX_COUNTED, type ActiveHour, type RequestCounts } from "../../requests/activity.ts";
import type { KeyView } from "../../dapps/dapps.ts";
import type { NetworkView, Readiness } from "../../requests/views.ts";
import { copyable, copyButton, count, groupDigits } from "../format.ts";
import { folded, listing, scrollable } from "../explorer/parts.ts";
import { html, showText, type Html } from "../html.ts";
import { DEFAULT_NETWORK, networkSelect } from "./parts.ts";
import { statusTag } from "./networks.ts";

/** Of the drawing, in its own units. */
const WIDTH = 720;
const HEIGHT = 120;

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
${key !== undefined && keyPart(key, { dapp, token })}
${folded("As curl", html`<p class="note">In a terminal with <code>TYCHE_URL</code> and <code>TYCHE_API_KEY</code> set: ${copyable(`export TYCHE_URL=${origin}`, "address")}</p>${listing(command, "curl")}${copyButton(command, "curl")}`)}</section>`;
}

/** The key is only sent when it is asked for. */
function keyPart(
  { id }: KeyView,
  { dapp, token }: { readonly dapp: { readonly id: string; readonly name: string }; readonly token: Html },
): Html {
  return html`<h3>API key of ${showText(dapp.name)}</h3><div class="key-row"><span class="secret"><code class="hex masked">tyche_••••••••••••••••</code></span><form method="post" action="/dapps/${dapp.id}/keys/${id}/reveal" data-reveal>${token}<button>Reveal<span class="visually-hidden"> key ${id}</span></button></form></div>`;
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

/** Draws the requests of each hour as a bar, the part that failed in another colour at its foot. */
export function activityPanel(hours: readonly ActiveHour[]): Html {
  const most = Math.max(...hours.map(({ requests }) => requests));
  const sumOf = (of: keyof RequestCounts): number => hours.reduce((sum, hour) => sum + hour[of], 0);
  const failed = groupDigits(String(sumOf("failed")));
  const total = `${hours.some(({ requests }) => requests === MAX_COUNTED) ? "more than " : ""}${count(sumOf("requests"), "request")}`;
  const step = WIDTH / hours.length;
  const bar = (kind: string, i: number, from: number, to: number): Html | false =>
    to > from &&
    html`<rect class="${kind}" x="${((i + 0.1) * step).toFixed(2)}" y="${(HEIGHT * (1 - to / most)).toFixed(2)}" width="${(step * 0.8).toFixed(2)}" height="${(HEIGHT * ((to - from) / most)).toFixed(2)}"/>`;
  const bars = hours.map(
    (hour, i) =>
      html`<g><title>${hourOf(hour)}: ${count(hour.requests, "request")}, ${groupDigits(String(hour.failed))} failed</title>${bar("bad", i, 0, hour.failed)}${bar("good", i, hour.failed, hour.requests)}</g>`,
  );
  const rows = hours.map(
    (hour) =>
      html`<tr><td>${hourOf(hour)}</td><td class="number">${groupDigits(String(hour.requests))}</td><td class="number">${groupDigits(String(hour.failed))}</td></tr>`,
  );
  const table = html`<table class="list"><thead><tr><th>Hour (UTC)</th><th class="number">Requests</th><th class="number">Failed</th></tr></thead><tbody>${rows}</tbody></table>`;
  return html`<section class="panel" id="activity" data-live><h2>Requests of the last 24 hours</h2>
<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${total} in 24 hours, ${failed} failed, at most ${most} an hour">${bars}</svg>
<p class="chart-axis note"><span>${hourOf(hours[0]!)}</span><span>${total}, ${failed} failed; at most ${groupDigits(String(most))} an hour</span><span>${hourOf(hours.at(-1)!)}</span></p>
${folded("As a table", scrollable("Requests by hour", table))}</section>`;
}

function hourOf({ from }: ActiveHour): string {
  return new Date(from).toISOString().slice(11, 16);
}
