import type { NetworkBalances } from "../../dapps/balances.ts";
import type { RequestRecord } from "../../requests/service.ts";
import { time, units } from "../format.ts";
import { html, type Html } from "../html.ts";
import { getDapp, type Site } from "../site.ts";
import { facts, scrollable } from "../explorer/parts.ts";
import { dappPage } from "./dappFrame.ts";
import { requestTable } from "./requestTable.ts";

const RECENT_REQUESTS = 8;

/** Adds `/dapps/{dappId}`: what a dapp is, what its subscriptions hold, its latest requests. */
export function dappRoutes(site: Site): void {
  const { service, readBalances } = site.deps;
  site.get("/dapps/:dappId", async (ctx) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const [page, balances] = await Promise.all([
      service.listRequests(dapp, { limit: RECENT_REQUESTS }),
      readBalances(dapp.id),
    ]);
    const body = html`<section class="panel" aria-label="About">${facts([
      [
        "Permissions",
        dapp.facilities.map((one) => (one === "presets" ? "presets and random numbers" : one)).join(", "),
      ],
      ["Created", time(new Date(dapp.createdAt).toISOString())],
      [
        "Try",
        html`<a href="/presets?dapp=${dapp.id}">run a preset from here</a>, or call the <a href="/docs">API</a> with a key from <a href="/dapps/${dapp.id}/config-vars">Fetch Config Vars</a>`,
      ],
    ])}</section>
<section class="panel" id="balances" data-live><h2>Subscriptions</h2>${balanceTable(service.networks(), balances)}</section>
<section class="panel" id="recent" data-live><h2>Latest requests</h2>${recent(page.items, dapp.id)}</section>`;
    site.show(ctx, dappPage(dapp, "overview", body));
  });
}

function balanceTable(
  networks: readonly { readonly name: string; readonly title: string }[],
  balances: ReadonlyMap<string, NetworkBalances>,
): Html {
  const table = html`<table class="list"><thead><tr><th>Network</th><th class="number">For random numbers</th><th class="number">For functions</th></tr></thead><tbody>${networks.map(
    ({ name, title }) => {
      const held = balances.get(name);
      return html`<tr><td>${title}</td>${held === undefined ? html`<td class="number note" colspan="2">not there yet</td>` : html`<td class="number">${units(held.vrfJuels, "LINK")}</td><td class="number">${units(held.functionsJuels, "LINK")}</td>`}</tr>`;
    },
  )}</tbody></table>`;
  return html`${scrollable("Balances", table)}<p class="note">The service tops them up automatically.</p>`;
}

function recent(requests: readonly RequestRecord[], dappId: string): Html {
  if (requests.length === 0) return html`<p class="note">None yet.</p>`;
  return html`${requestTable(requests, dappId)}<p><a href="/dapps/${dappId}/requests">All requests</a></p>`;
}
