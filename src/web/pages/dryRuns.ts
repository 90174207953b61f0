import type { DryRunView } from "../../requests/dryRuns.ts";
import { age } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { folded, listing, scrollable, tag } from "../explorer/parts.ts";
import { getDapp, type Site } from "../site.ts";
import { dappPage } from "./dappFrame.ts";

/** Adds `/dapps/{dappId}/dry-runs`: sources that were run once, with no request made of them. */
export function dryRunRoutes(site: Site): void {
  const { service } = site.deps;
  site.get("/dapps/:dappId/dry-runs", async (ctx) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const { items: runs } = await service.listDryRuns(dapp);
    const body = html`<section class="panel" id="dry-runs" data-live aria-label="Dry runs">
<p class="note">Dry runs, and calls that were refused because their dry run failed. No request was made of them. The last 100 are kept.</p>
${runs.length === 0 ? html`<p class="note">None yet.</p>` : runTable(runs)}</section>`;
    site.show(ctx, dappPage(dapp, "dry-runs", body));
  });
}

function runTable(runs: readonly DryRunView[]): Html {
  const table = html`<table class="list"><thead><tr><th>Source</th><th>State</th><th>Result</th><th>Network</th><th>Run</th></tr></thead><tbody>${runs.map(
    (run) =>
      html`<tr><td><code class="hex">${showText(run.title)}</code></td><td>${stateOf(run)}</td><td class="outcome">${resultOf(run)}</td><td>${run.network ?? html`<span class="note">any</span>`}</td><td>${age(run.at)}</td></tr>`,
  )}</tbody></table>`;
  return scrollable("The last dry runs", table);
}

function stateOf({ kind, success }: DryRunView): Html {
  if (kind !== "dry-run") return tag(`${kind} refused`, "bad");
  return success ? tag("dry run", "good") : tag("dry run failed", "bad");
}

function resultOf({ success, parsedResult, err, line, column, console }: DryRunView): Html {
  const place = line === undefined ? "" : ` (line ${line}:${column ?? 1})`;
  const result = success
    ? html`${showText(parsedResult)}`
    : html`<span class="bad-text">${showText(err)}${place}</span>`;
  return html`${result}${console !== "" && folded("Console", listing(console, "Console"))}`;
}
