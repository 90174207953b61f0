import type { Router } from "@koa/router";
import type { Context } from "koa";
import type { Service, SharedResult } from "../../requests/service.ts";
import type { NetworkView } from "../../requests/views.ts";
import { sendData, wantsJson } from "../answer.ts";
import { code, copyable, time } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { facts } from "../explorer/parts.ts";
import { sendPage, type Viewer } from "../layout.ts";
import { outcomePart } from "./requests.ts";

/**
 * Adds `/r/{id}`: a result to share with strangers. It needs no sign-in and shows nothing of the dapp, its other requests or the
 * parameters; all that it shows is on the chain.
 */
export function sharedResultRoutes(
  router: Router,
  options: {
    readonly service: Pick<Service, "getShared" | "networks">;
    readonly guard: (ctx: Context) => Promise<void>;
    readonly viewerOf: (ctx: Context) => Viewer;
  },
): void {
  const { service, guard, viewerOf } = options;
  router.get("/r/:id", async (ctx) => {
    await guard(ctx);
    const shared = await service.getShared((ctx.params as Readonly<Record<string, string>>)["id"]!);
    const network = service.networks().find(({ name }) => name === shared.network);
    if (wantsJson(ctx)) sendData(ctx, shared);
    else sendPage(ctx, { title: titleOf(shared), body: sharedPage(shared, network) }, viewerOf(ctx));
  });
}

function titleOf({ preset, outcome }: SharedResult): string {
  return preset ?? ("randomNumber" in outcome ? "Random numbers" : "Function");
}

function sharedPage(shared: SharedResult, network: NetworkView | undefined): Html {
  const { outcome, updatedAt } = shared;
  const links = linksOf(shared);
  return html`<h1>${showText(titleOf(shared))} on ${network?.title ?? shared.network}</h1>
<section class="panel" aria-label="Result">${outcomePart(shared)}
${facts([
  ["Result", "result" in outcome && code(outcome.result)],
  ...links.map(({ name, url }) => [name, html`<a href="${url}">${code(hashOf(url))}</a>`] as const),
  [network?.embedded ? "Request on chain" : "Oracle's request", code(outcome.requestId)],
  ["Date", time(new Date(updatedAt).toISOString())],
])}</section>
<section class="panel" id="check"><h2>Check it without us</h2>${checkPart(shared, network, hashOf(links[0]!.url))}</section>`;
}

/** Explorer pages of the transactions, the one that delivered the result first. */
function linksOf({ outcome }: SharedResult): readonly { readonly name: string; readonly url: string }[] {
  return [
    { name: "randomNumber" in outcome ? "Proof" : "Delivered by", url: outcome.url },
    ...("vrfv2EventHash" in outcome ? [{ name: "Proof", url: outcome.vrfv2EventHash }] : []),
  ];
}

function hashOf(url: string): string {
  return url.split("/").at(-1) ?? "";
}

function checkPart({ network: name }: SharedResult, network: NetworkView | undefined, hash: string): Html {
  const rpcUrl = network?.rpcUrl;
  const fields = new URLSearchParams({ tx: hash, ...(rpcUrl === undefined ? {} : { rpc: rpcUrl }) });
  const command = `npx tyche verify ${name} ${hash} --rpc-url ${rpcUrl ?? "https://ANY-NODE"}`;
  return html`<p>Everything that decides this result is on chain. Two ways to check it take nobody's word but a node's:</p>
<ul><li><a href="/verifier.html#${fields.toString()}">The page that verifies</a> computes every step in your browser. It is a single file: save it, read it, open it from anywhere.</li>
<li>The command, on a machine of yours: ${copyable(command, "command")}</li></ul>
${network?.embedded && html`<p class="note">The operator of this service runs this chain and its oracle. The checks show that nothing was changed afterwards; they list what remains to be trusted.</p>`}`;
}
