import type { Context } from "koa";
import { MAX_NAME_CHARACTERS } from "../../dapps/name.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { html, showText, type Html } from "../html.ts";
import { getDapp, type Params, type Site } from "../site.ts";
import { dappPage } from "./dappFrame.ts";
import { problemAttributes, problemNote } from "./parts.ts";

/** What was sent and not taken. */
interface Tried {
  readonly field: "name" | "confirmation";
  readonly value: string;
  readonly problem: string;
}

/** Adds `/dapps/{dappId}/settings`: the forms that rename and delete a dapp. */
export function settingsRoutes(site: Site): void {
  const { dapps, service, log } = site.deps;

  const show = async (ctx: Context & Params, tried?: Tried): Promise<void> => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const token = site.formToken(ctx);
    const path = `/dapps/${dapp.id}`;
    const body = html`<section class="panel"><h2>Rename</h2>
<form method="post" action="${path}/rename" class="fields">${token}${textField({ id: "name", label: "Name", tried, value: dapp.name })}<div><button class="action">Rename</button></div></form></section>
<section class="panel" id="delete"><h2>Delete</h2>
<p>This can't be undone.</p>
<ul><li>All API keys of the dapp stop at once.</li><li>Its contracts are unlinked: they can't request random numbers or functions any more.</li><li>Its pages here are gone. Nobody can list its requests any more.</li></ul>
<p>What stays: requests in work end as they would, shared results keep their pages, what is on chain is on chain, and the sums of usage are kept.</p>
<form method="post" action="${path}/delete" class="fields">${token}${textField({ id: "confirmation", label: html`Type the dapp’s name, <b>${showText(dapp.name)}</b>`, tried, value: "" })}<div><button class="danger">Delete this dapp</button></div></form></section>`;
    site.show(ctx, dappPage(dapp, "settings", body));
  };

  site.get("/dapps/:dappId/settings", (ctx) => show(ctx));
  site.post("/dapps/:dappId/rename", async (ctx, form) => {
    const { id } = await getDapp(site.deps, ctx.params["dappId"]!);
    const name = form.get("name").trim();
    try {
      await dapps.rename(id, name);
    } catch (error) {
      if (!(error instanceof InvalidParameterError)) throw error;
      ctx.status = 400;
      await show(ctx, { field: "name", value: name, problem: error.message });
      return;
    }
    ctx.redirect(`/dapps/${id}`);
    ctx.status = 303;
  });
  site.post("/dapps/:dappId/delete", async (ctx, form) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const value = form.get("confirmation").trim();
    if (value !== dapp.name.trim()) {
      ctx.status = 400;
      const problem = "This is not the dapp’s name. Nothing is deleted.";
      await show(ctx, { field: "confirmation", value, problem });
      return;
    }
    await service.deleteDapp(dapp, dapp.id);
    log.info({ dapp: dapp.id }, "dapp deleted");
    ctx.redirect("/");
    ctx.status = 303;
  });
}

function textField(options: {
  readonly id: Tried["field"];
  readonly label: Html | string;
  readonly value: string;
  readonly tried: Tried | undefined;
}): Html {
  const { id, label, tried } = options;
  const { value, problem } = tried?.field === id ? tried : { value: options.value, problem: undefined };
  return html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${id}" value="${value}" required maxlength="${MAX_NAME_CHARACTERS}" autocomplete="off" spellcheck="false"${problemAttributes(id, problem)}${problem !== undefined && html` autofocus`}>${problemNote(id, problem)}</div>`;
}
