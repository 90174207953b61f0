import type { Context } from "koa";
import { getAddress, isAddress, type Hex } from "viem";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { TycheError } from "../../lib/errors.ts";
import { refusalOf } from "../answer.ts";
import type { ChainConsumer } from "../../dapps/chainConsumers.ts";
import type { WaitingRequestView } from "../../explorer/views.ts";
import { code, transactionLink } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { getDapp, type Params, type Site } from "../site.ts";
import { dappPage } from "./dappFrame.ts";
import { FIRST_LOOK_MS, networkSelect, problemAttributes, problemNote } from "./parts.ts";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Adds `/dapps/{dappId}/consumers`: the linked contracts, and the forms that link and unlink one. */
export function consumerRoutes(site: Site): void {
  const { service, readConfigVars, readChainConsumers, explorer } = site.deps;

  const show = async (
    ctx: Context & Params,
    tried?: { readonly consumer: string; readonly network: string; readonly problem: string },
  ): Promise<void> => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const [{ networks }, onChain] = await Promise.all([readConfigVars(dapp.id), readChainConsumers(dapp.id)]);
    const views = service.networks();
    const linked = networks.flatMap(({ network, consumers }) => {
      const own = views.find(({ name }) => name === network)?.contracts.presetConsumer;
      const found = onChain.get(network);
      const addresses = new Set([...consumers, ...(found?.keys() ?? [])]);
      if (own !== undefined) addresses.delete(own);
      return [...addresses].map((address) => ({
        network,
        address,
        state: describeLink(found && (found.get(address) ?? { isOnVrf: false, isOnFunctions: false })),
      }));
    });
    const waiting = await Promise.all(
      networks.map(async ({ network, vrfSubscriptionId, functionsSubscriptionId }) => {
        if (vrfSubscriptionId === undefined || functionsSubscriptionId === undefined) return [];
        const ids = { vrf: BigInt(vrfSubscriptionId), functions: BigInt(functionsSubscriptionId) };
        // A chain that can't be reached keeps nobody from linking on another.
        const found = await explorer.findWaiting(network, ids).catch(() => []);
        return found.map((request) => ({ ...request, network }));
      }),
    );
    const titleOf = (name: string): string => views.find((view) => view.name === name)?.title ?? name;
    const body = html`<section class="panel"><h2>Link a consumer</h2>
<p class="note">A consumer is a contract of yours that asks for random numbers or runs functions on this dapp's subscriptions. Deploy it with the ids of <a href="/dapps/${dapp.id}/config-vars">Fetch Config Vars</a>, then link it here.</p>
<form method="post" class="fields">${site.formToken(ctx)}
<div class="field wide"><label for="consumer">Contract address</label><input id="consumer" name="consumer" value="${tried?.consumer}" required spellcheck="false" autocomplete="off" placeholder="0x…" class="mono"${problemAttributes("consumer", tried?.problem)}>${problemNote("consumer", tried?.problem)}</div>
<div class="field">${networkSelect(views, tried?.network ?? "")}</div>
<div><button class="action">Link</button></div></form></section>
<section class="panel" id="linked"><h2>Linked consumers</h2>${linked.length === 0 ? html`<p class="note">None yet.</p>` : consumerTable(linked, titleOf, { action: `/dapps/${dapp.id}/consumers/remove`, token: site.formToken(ctx) })}</section>
${waitingSection(waiting.flat(), titleOf)}`;
    site.show(ctx, dappPage(dapp, "consumers", body));
  };

  site.get("/dapps/:dappId/consumers", (ctx) => show(ctx));
  site.post("/dapps/:dappId/consumers/remove", async (ctx, form) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const command = {
      kind: "unlink",
      network: form.get("network"),
      consumer: parseAddress(form.get("consumer")),
    } as const;
    const request = await service.submit(dapp, command, {});
    await service.wait(request.id, { timeoutMs: FIRST_LOOK_MS });
    ctx.redirect(`/dapps/${dapp.id}/requests/${request.id}`);
    ctx.status = 303;
  });
  site.post("/dapps/:dappId/consumers", async (ctx, form) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const [consumer, network] = [form.get("consumer").trim(), form.get("network")];
    try {
      const command = {
        kind: "consumer",
        network,
        dappId: dapp.id,
        consumer: parseAddress(consumer),
      } as const;
      const request = await service.submit(dapp, command, {});
      await service.wait(request.id, { timeoutMs: FIRST_LOOK_MS });
      ctx.redirect(`/dapps/${dapp.id}/requests/${request.id}`);
      ctx.status = 303;
    } catch (error) {
      const refusal = error instanceof TycheError ? refusalOf(error) : undefined;
      if (refusal === undefined || refusal.status === 404) throw error;
      ctx.status = refusal.status;
      await show(ctx, { consumer, network, problem: refusal.message.replace(/^(Consumer|Network): /, "") });
    }
  });
}

/** Parses an address; of one in mixed case the checksum (EIP-55) is verified. Throws {@link InvalidParameterError}. */
export function parseAddress(text: string, path = "/consumer"): Hex {
  const violation = (message: string): InvalidParameterError =>
    new InvalidParameterError([{ path, message }]);
  if (!ADDRESS.test(text)) throw violation("an address is 0x and 40 hex digits");
  const lower = text.toLowerCase() as Hex;
  const isMixed = text.slice(2) !== lower.slice(2) && text.slice(2) !== text.slice(2).toUpperCase();
  if (isMixed && !isAddress(text)) throw violation(`the checksum is wrong: is ${getAddress(lower)} meant?`);
  return getAddress(lower);
}

/** What the dapp's own contracts have asked for and not got: such requests are on chain only, and no requests of the API. */
function waitingSection(
  waiting: readonly (WaitingRequestView & { readonly network: string })[],
  titleOf: (network: string) => string,
): Html | undefined {
  if (waiting.length === 0) return undefined;
  return html`<section class="panel" id="waiting"><h2>Requests of your contracts that wait</h2>
<div class="scroll"><table class="list"><thead><tr><th>Transaction</th><th>Network</th><th>Contract</th><th>Why</th></tr></thead><tbody>${waiting.map(
    ({ network, transactionHash, consumer, waitsFor }) =>
      html`<tr><td>${transactionLink(network, transactionHash)}</td><td>${titleOf(network)}</td><td>${code(consumer.address)}</td><td>${showText(waitsFor)}</td></tr>`,
  )}</tbody></table></div></section>`;
}

/** Says what the chain has of a linked contract; `undefined`: it could not be asked. */
function describeLink(found: ChainConsumer | undefined): string {
  if (found === undefined) return "not known: the network doesn't answer";
  if (found.isOnVrf && found.isOnFunctions) return "linked";
  if (found.isOnVrf) return "random numbers only: link it again";
  if (found.isOnFunctions) return "functions only: link it again";
  return "not linked: the chain has lost it, link it again";
}

function consumerTable(
  linked: readonly { readonly network: string; readonly address: string; readonly state: string }[],
  titleOf: (network: string) => string,
  remove: { readonly action: string; readonly token: Html },
): Html {
  return html`<div class="scroll"><table class="list"><thead><tr><th>Contract</th><th>Network</th><th>On the chain</th><th><span class="visually-hidden">Unlink</span></th></tr></thead><tbody>${linked.map(
    ({ network, address, state }) =>
      html`<tr><td><a href="/explorer/${network}/address/${address}">${code(address)}</a></td><td>${titleOf(network)}</td><td>${state}</td><td><form method="post" action="${remove.action}" data-confirm="Unlink this contract? Its requests are refused from then on.">${remove.token}<input type="hidden" name="consumer" value="${address}"><input type="hidden" name="network" value="${network}"><button class="danger">Unlink<span class="visually-hidden"> ${address} on ${titleOf(network)}</span></button></form></td></tr>`,
  )}</tbody></table></div>`;
}
