import type { Context } from "koa";
import { MAX_NAME_CHARACTERS } from "../../dapps/name.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { Facility } from "../../requests/service.ts";
import { code, time } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import type { Site } from "../site.ts";
import { formProblem } from "./parts.ts";

/** Adds `/`: the dapps, and the form that makes one. */
export function homeRoutes(site: Site): void {
  const { dapps } = site.deps;

  const show = async (
    ctx: Context,
    tried?: { readonly name: string; readonly problem: string },
  ): Promise<void> => {
    const list = await dapps.list();
    site.show(ctx, {
      title: "Dapps",
      section: "dapps",
      body: html`<h1>Dapps</h1>
<p class="lead">Each dapp has API keys and, on every network, subscriptions of its own.</p>
<ul class="cards">${list.map(
        ({ id, name, facilities, createdAt }) =>
          html`<li class="panel"><h2><a href="/dapps/${id}">${showText(name)}</a></h2><p>${code(id)}</p><p class="note">${facilities.join(" and ")}; created ${time(new Date(createdAt).toISOString())}</p></li>`,
      )}</ul>
<section class="panel" id="create"><h2>Create a dapp</h2>${createForm(site.formToken(ctx), tried)}</section>`,
    });
  };

  site.get("/", (ctx) => show(ctx));
  site.post("/dapps", async (ctx, form) => {
    const name = form.get("name").trim();
    const facilities = (["presets", "functions"] as const satisfies readonly Facility[]).filter((facility) =>
      form.has(facility),
    );
    try {
      if (facilities.length === 0)
        throw new InvalidParameterError([{ path: "/facilities", message: "choose at least one" }]);
      const { dapp } = await dapps.create(name, facilities);
      ctx.redirect(`/dapps/${dapp.id}`);
      ctx.status = 303;
    } catch (error) {
      if (!(error instanceof InvalidParameterError)) throw error;
      ctx.status = 400;
      await show(ctx, { name, problem: error.message });
    }
  });
}

function createForm(
  token: Html,
  tried: { readonly name: string; readonly problem: string } | undefined,
): Html {
  return html`${formProblem(tried?.problem)}<form method="post" action="/dapps" class="fields">${token}
<div class="field"><label for="name">Name</label><input id="name" name="name" value="${tried?.name}" required maxlength="${MAX_NAME_CHARACTERS}" autocomplete="off"></div>
<fieldset><legend>Permissions</legend><label class="check"><input type="checkbox" name="presets" checked> presets and random numbers</label><label class="check"><input type="checkbox" name="functions" checked> functions</label></fieldset>
<div><button class="action">Create</button></div></form>`;
}
