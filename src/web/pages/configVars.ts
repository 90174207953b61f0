import type { Context } from "koa";
import { formatNetworkEnv } from "../../dapps/configEnv.ts";
import type { NetworkConfigVars } from "../../dapps/configVars.ts";
import { formatSampleConsumer } from "../../dapps/sampleConsumer.ts";
import type { KeyView } from "../../dapps/dapps.ts";
import { NotFoundError } from "../../requests/errors.ts";
import type { NetworkView } from "../../requests/views.ts";
import { sendData, wantsJson } from "../answer.ts";
import { age, code, copyButton, copyable } from "../format.ts";
import { html, type Html } from "../html.ts";
import { facts, folded, tag } from "../explorer/parts.ts";
import { getDapp, type Params, type Site } from "../site.ts";
import { dappPage } from "./dappFrame.ts";
import { maskedKey } from "./parts.ts";

/**
 * Adds `/dapps/{dappId}/config-vars`, the "Fetch Config Vars" view: API keys, and by network what a consumer contract is built with. A key is
 * only sent when it is asked for, by a form: no page that is merely opened holds one.
 */
export function configVarsRoutes(site: Site): void {
  const { dapps, service, readConfigVars } = site.deps;

  const show = async (ctx: Context & Params, revealed?: KeyView): Promise<void> => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const { keys, networks } = await readConfigVars(dapp.id);
    const path = `/dapps/${dapp.id}/keys`;
    const token = site.formToken(ctx);
    const body = html`<section class="panel" id="keys"><h2>API keys</h2>
<p class="note">Send one in the <code>Authorization</code> header of every call.</p>
<ul class="keys">${keys.map((key) => keyItem(key, { path, token, isRevealed: key.id === revealed?.id }))}</ul>
<form method="post" action="${path}">${token}<button>Add a key</button></form></section>
<div id="networks" data-live>${networks.map((vars) =>
      networkSection(
        vars,
        service.networks().find(({ name }) => name === vars.network),
      ),
    )}</div>`;
    site.show(ctx, dappPage(dapp, "config", body));
  };
  /** The key of the path, if it is the dapp's. */
  const getKey = async (ctx: Context & Params): Promise<KeyView> => {
    const { dappId, keyId } = ctx.params as { dappId: string; keyId: string };
    await dapps.get(dappId);
    const key = (await dapps.keys(dappId)).find(({ id }) => id === keyId);
    if (key === undefined || key.apiKey === null) throw new NotFoundError(`live key ${keyId}`);
    return key;
  };
  const goBack = (ctx: Context & Params): void => {
    ctx.redirect(`/dapps/${ctx.params["dappId"]!}/config-vars`);
    ctx.status = 303;
  };

  site.get("/dapps/:dappId/config-vars", (ctx) => show(ctx));
  site.post("/dapps/:dappId/keys", async (ctx) => {
    const { id } = await getDapp(site.deps, ctx.params["dappId"]!);
    await dapps.addKey(id);
    goBack(ctx);
  });
  site.post("/dapps/:dappId/keys/:keyId/reveal", async (ctx) => {
    const key = await getKey(ctx);
    if (wantsJson(ctx)) sendData(ctx, { apiKey: key.apiKey });
    else await show(ctx, key);
  });
  site.post("/dapps/:dappId/keys/:keyId/revoke", async (ctx) => {
    await dapps.revokeKey((await getKey(ctx)).id);
    goBack(ctx);
  });
}

function keyItem(
  key: KeyView,
  options: { readonly path: string; readonly token: Html; readonly isRevealed: boolean },
): Html {
  const { id, apiKey, createdAt, revokedAt } = key;
  const { path, token, isRevealed } = options;
  const created = html`<span class="note">${code(id)}, created ${age(new Date(createdAt).toISOString())}</span>`;
  if (revokedAt !== null || apiKey === null)
    return html`<li class="revoked">${tag("revoked", "quiet")} ${created}</li>`;
  const secret = isRevealed
    ? html`<span class="secret">${copyable(apiKey, "API key")}</span>`
    : maskedKey(id, path, token);
  return html`<li><div class="key-row">${secret}
<form method="post" action="${path}/${id}/revoke" data-confirm="Revoke this key? Calls that use it will be refused at once.">${token}<button class="danger">Revoke<span class="visually-hidden"> key ${id}</span></button></form></div>${created}</li>`;
}

function networkSection(vars: NetworkConfigVars, network: NetworkView | undefined): Html {
  const { vrfSubscriptionId, functionsSubscriptionId, contracts, keyHash, donId, rpcUrl } = vars;
  const value = (text: string | undefined, what: string): Html =>
    text === undefined ? html`<span class="note">created within a second</span>` : copyable(text, what);
  const env = formatNetworkEnv(vars);
  return html`<section class="panel"><h2>${network?.title ?? vars.network} ${copyButton(env, `config vars of ${vars.network}`, "Copy all")}</h2>
${facts([
  ["VRF subscription id", value(vrfSubscriptionId, "VRF subscription id")],
  ["Functions subscription id", value(functionsSubscriptionId, "Functions subscription id")],
  [
    "VRF coordinator",
    contracts.vrfCoordinator !== undefined && copyable(contracts.vrfCoordinator, "VRF coordinator"),
  ],
  ["Key hash", keyHash !== undefined && copyable(keyHash, "key hash")],
  [
    "Functions router",
    contracts.functionsRouter !== undefined && copyable(contracts.functionsRouter, "Functions router"),
  ],
  ["DON id", copyable(donId, "DON id")],
  ["Chain id", copyable(String(vars.chainId), "chain id")],
  ["LINK token", contracts.link !== undefined && copyable(contracts.link, "LINK token")],
  ["RPC URL", rpcUrl !== undefined && copyable(rpcUrl, "RPC URL")],
])}
${samplePart(vars)}
${folded("As environment variables", html`<pre class="listing" tabindex="0" role="region" aria-label="Environment variables">${env}</pre>`)}</section>`;
}

/** A consumer contract with these values; nothing while there are no subscriptions to fill in. */
function samplePart(vars: NetworkConfigVars): Html | undefined {
  if (vars.vrfSubscriptionId === undefined || vars.contracts.vrfCoordinator === undefined) return undefined;
  if (vars.keyHash === undefined) return undefined;
  const source = formatSampleConsumer(vars);
  return folded(
    "Sample contract",
    html`<p class="note">A consumer with this dapp's values. Deploy it with your own tools, then link its address under Consumers. ${copyButton(source, `sample contract of ${vars.network}`)}</p><pre class="listing" tabindex="0" role="region" aria-label="Sample contract">${source}</pre>`,
  );
}
