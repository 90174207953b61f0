import type { Context } from "koa";
import { TycheError } from "../../lib/errors.ts";
import type { NetworkReadiness, NetworkView } from "../../requests/views.ts";
import { FUNDED_ACCOUNTS } from "../../dapps/faucet.ts";
import { refusalOf } from "../answer.ts";
import { age, code, coin, copyButton, copyable, groupDigits, shortHex, transactionLink } from "../format.ts";
import { html, type Html } from "../html.ts";
import { facts, folded, scrollable, tag } from "../explorer/parts.ts";
import type { Site } from "../site.ts";
import { parseAddress } from "./consumers.ts";
import { formProblem, networkSelect } from "./parts.ts";

/** Adds `/networks`: how each network stands, and where your own tools reach it. */
export function networkRoutes(site: Site): void {
  const { service } = site.deps;
  const show = async (ctx: Context, given?: Html): Promise<void> => {
    const [{ networks }, views] = await Promise.all([service.readiness(), service.networksWithNodes()]);
    site.show(ctx, {
      title: "Networks",
      section: "networks",
      body: html`<h1>Networks</h1>
<p class="lead">Contracts, oracle and state of each network that is served here.</p>
${faucetForm(site.formToken(ctx), service.networks(), given)}
<div id="networks" data-live>${views.map((network) => networkSection(network, networks[network.name]))}</div>`,
    });
  };

  site.get("/networks", (ctx) => show(ctx));
  // Where the form's answer is: its live parts ask for the page again.
  site.get("/networks/faucet", (ctx) => show(ctx));
  site.post("/networks/faucet", async (ctx, form) => {
    const network = form.get("network");
    try {
      const address = parseAddress(form.get("address").trim(), "/address");
      const { transactionHashes } = await service.useFaucet({ network, address });
      const links = transactionHashes.map((hash) => html` ${transactionLink(network, hash)}`);
      await show(ctx, html`<div class="notice" role="status">10 coins and 100 LINK are sent:${links}</div>`);
    } catch (error) {
      const refusal = error instanceof TycheError ? refusalOf(error) : undefined;
      if (refusal === undefined) throw error;
      ctx.status = refusal.status;
      await show(ctx, formProblem(refusal.message));
    }
  });
}

/** Coin and LINK for an address; absent where no chain is embedded. */
function faucetForm(
  token: Html,
  networks: readonly NetworkView[],
  given: Html | undefined,
): Html | undefined {
  const embedded = networks.filter((network) => network.embedded);
  if (embedded.length === 0) return undefined;
  return html`<section class="panel" id="faucet"><h2>Faucet</h2>${given}<p class="note">Sends 10 coins and 100 LINK, which cost nothing on an embedded chain.</p>
<form method="post" action="/networks/faucet" class="fields">${token}
<div class="field"><label for="address">Address</label><input id="address" name="address" required placeholder="0x…" autocomplete="off" spellcheck="false" class="mono"></div>
<div class="field">${networkSelect(embedded, embedded[0]!.name)}</div>
<div><button class="action">Send</button></div></form>
${folded(`${FUNDED_ACCOUNTS.length} funded accounts`, fundedAccounts())}</section>`;
}

function fundedAccounts(): Html {
  const rows = FUNDED_ACCOUNTS.map(
    ({ address, secretKey }) =>
      html`<tr><td><a href="/explorer/search?q=${address}">${code(address)}</a>${copyButton(address, `address ${address}`)}</td><td>${code(secretKey)}${copyButton(secretKey, `secret key of ${address}`)}</td></tr>`,
  );
  return html`<p class="note">They hold 10,000 coins each on every embedded network from its first block on, as in any Anvil or Hardhat. <b>Everybody knows their keys:</b> never use them where coin is worth something.</p>${scrollable("Funded accounts", html`<table class="list"><thead><tr><th>Address</th><th>Secret key</th></tr></thead><tbody>${rows}</tbody></table>`)}`;
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
${nodeTable(network)}
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

/** The nodes of several operators; what is said of each is what the others say. */
function nodeTable({ explorerUrl, nodes }: NetworkView): Html | undefined {
  if (nodes === undefined) return undefined;
  return html`<h3>Oracle nodes</h3>
<div class="scroll"><table class="list"><thead><tr><th>Node</th><th>Signer</th><th>State</th><th>Last seen</th><th>Agreed</th><th>Last transmission</th></tr></thead><tbody>${nodes.map(
    ({ url, signer, answers, accusers, lastSeen, agreementRate, lastTransmission: hash }) =>
      html`<tr><td>${code(url)}</td><td>${copyable(signer, "signer")}</td><td>${answers ? tag("answers", "good") : tag("does not answer", "bad")}${accusers > 0 && html` ${tag("contradicted itself", "bad")}`}</td><td>${lastSeen === undefined ? "not yet" : age(lastSeen)}</td><td>${agreementRate === undefined ? "no answers yet" : `${(100 * agreementRate).toFixed(1)} %`}</td><td>${hash === undefined ? "none yet" : html`<a href="${explorerUrl}/tx/${hash}">${shortHex(hash)}</a>`}</td></tr>`,
  )}</tbody></table></div>`;
}

const LABELS: Readonly<Record<string, string>> = {
  link: "LINK token",
  vrfCoordinator: "VRF coordinator",
  functionsRouter: "Functions router",
  functionsCoordinator: "Functions coordinator",
  presetConsumer: "PresetConsumer",
  subscriptionOwner: "SubscriptionOwner",
};

/** How a network stands, as a coloured word. */
export function statusTag(status: NetworkView["status"]): Html {
  if (status === "serving") return tag(status, "good");
  return tag(status, status === "starting" ? "busy" : "bad");
}
