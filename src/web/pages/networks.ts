import type { NetworkReadiness, NetworkView } from "../../requests/views.ts";
import { code, coin, copyable, groupDigits } from "../format.ts";
import { html, type Html } from "../html.ts";
import { facts, folded, tag } from "../explorer/parts.ts";
import type { Site } from "../site.ts";

/** Adds `/networks`: how each network stands, and where your own tools reach it. */
export function networkRoutes(site: Site): void {
  const { service } = site.deps;
  site.get("/networks", async (ctx) => {
    const { networks } = await service.readiness();
    site.show(ctx, {
      title: "Networks",
      section: "networks",
      body: html`<h1>Networks</h1>
<p class="lead">Contracts, oracle and state of each network that is served here.</p>
<div id="networks" data-live>${service.networks().map((network) => networkSection(network, networks[network.name]))}</div>`,
    });
  });
}

function networkSection(network: NetworkView, readiness: NetworkReadiness | undefined): Html {
  const { name, title, chainId, embedded, rpcUrl, status, statusDetail, contracts, vrf, functions } = network;
  return html`<section class="panel"><h2>${title} ${statusTag(status)}</h2>
${facts([
  ["Why", statusDetail ?? readiness?.why],
  ["Name", code(name)],
  ["Chain id", String(chainId)],
  ["RPC URL", rpcUrl !== undefined && copyable(rpcUrl, "RPC URL")],
  [
    "Chain",
    embedded
      ? html`embedded: <a href="/explorer/${name}">its explorer</a>`
      : html`<a href="${network.explorerUrl}" rel="noreferrer">its explorer</a>`,
  ],
  ["Block", readiness?.blockNumber !== undefined && groupDigits(String(readiness.blockNumber))],
  ["Requests in progress", readiness?.pendingRequests !== undefined && String(readiness.pendingRequests)],
  [
    "Operator's balance",
    readiness?.operatorBalanceWei !== undefined && coin(readiness.operatorBalanceWei, name),
  ],
  ["Confirmations", `${vrf.minConfirmations} to ${vrf.maxConfirmations}`],
  ["Longest result", `${groupDigits(String(functions.maxResponseBytes))} bytes`],
])}
${folded(
  "Contracts and keys",
  facts([
    ...Object.entries(contracts).map(
      ([contract, address]) =>
        [LABELS[contract] ?? contract, copyable(address, LABELS[contract] ?? contract)] as const,
    ),
    ...vrf.keyHashes.map((keyHash) => ["Key hash", copyable(keyHash, "key hash")] as const),
    ["DON id", copyable(functions.donId, "DON id")],
  ]),
)}</section>`;
}

const LABELS: Readonly<Record<string, string>> = {
  link: "LINK token",
  vrfCoordinator: "VRF coordinator",
  functionsRouter: "Functions router",
  functionsCoordinator: "Functions coordinator",
  presetConsumer: "PresetConsumer",
  subscriptionOwner: "SubscriptionOwner",
};

function statusTag(status: NetworkView["status"]): Html {
  if (status === "serving") return tag(status, "good");
  return tag(status, status === "starting" ? "busy" : "bad");
}
