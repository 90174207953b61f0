import type { Router } from "@koa/router";
import type { Context } from "koa";
import type { Service, SharedResult } from "../../requests/service.ts";
import type { NetworkView } from "../../requests/views.ts";
import { sendData, wantsJson } from "../answer.ts";
import { age, code, copyable } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { facts, folded } from "../explorer/parts.ts";
import { sendPage, type Viewer } from "../layout.ts";
import { checkPart, hashOf } from "./checkPart.ts";
import { outcomePart } from "./resultParts.ts";

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
<section class="panel" aria-label="Result">${outcomePart(shared, shared.shown)}
${facts([
  ...links.map(({ name, url }) => [name, html`<a href="${url}">${code(hashOf(url))}</a>`] as const),
  ["Date", age(new Date(updatedAt).toISOString())],
])}
${folded(
  "Bytes and ids on chain",
  facts([
    ["Result", "result" in outcome && copyable(outcome.result, "result")],
    ["Request", copyable(outcome.requestId, "request")],
  ]),
)}</section>
${checkPart(shared.network, network, hashOf(links[0]!.url))}`;
}

/** Explorer pages of the transactions, the one that delivered the result first. */
function linksOf({ outcome }: SharedResult): readonly { readonly name: string; readonly url: string }[] {
  return [
    { name: "randomNumber" in outcome ? "Proof" : "Delivered by", url: outcome.url },
    ...("vrfv2EventHash" in outcome ? [{ name: "Proof", url: outcome.vrfv2EventHash }] : []),
  ];
}
