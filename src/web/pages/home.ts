import type { Context } from "koa";
import { MAX_NAME_CHARACTERS } from "../../dapps/name.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { version } from "../../lib/version.ts";
import type { Facility } from "../../requests/service.ts";
import { age, code } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import type { Site } from "../site.ts";
import { activityPanel, runningPanel, startPanel } from "./homePanels.ts";
import { formProblem } from "./parts.ts";

/** Adds `/`: a coin to flip, what is running and was asked for, the dapps, and the form that makes one. */
export function homeRoutes(site: Site): void {
  const { dapps, service } = site.deps;

  /** The dapp that flips a coin, with a key of it. */
  const findFlipper = async (list: Awaited<ReturnType<typeof dapps.list>>) => {
    const dapp = list.find(({ facilities }) => facilities.includes("presets"));
    if (dapp === undefined || !service.presets().some(({ name }) => name === "coinflip")) return undefined;
    return { dapp, key: (await dapps.keys(dapp.id)).find(({ revokedAt }) => revokedAt === null) };
  };

  const show = async (
    ctx: Context,
    tried?: { readonly name: string; readonly problem: string },
  ): Promise<void> => {
    const list = await dapps.list();
    const [flipper, hours, { networks }] = await Promise.all([
      findFlipper(list),
      service.activity(),
      service.readiness(),
    ]);
    site.show(ctx, {
      title: "Home",
      section: "home",
      body: html`<h1>Tyche <span class="note">${version}</span></h1>
<p class="lead">Verifiable random numbers and oracle functions over HTTP.</p>
${
  flipper !== undefined &&
  startPanel({
    ...flipper,
    token: site.formToken(ctx),
    networks: service.networks(),
    origin: ctx.origin,
    isFirstVisit: hours.every(({ requests }) => requests === 0),
  })
}
${runningPanel(service.networks(), networks)}
${activityPanel(hours)}
<h2>Dapps</h2>
<p class="note">Each dapp has API keys and, on every network, subscriptions of its own.</p>
<ul class="cards">${list.map(
        ({ id, name, facilities, createdAt }) =>
          html`<li class="panel"><h3><a href="/dapps/${id}">${showText(name)}</a></h3><p>${code(id)}</p><p class="note">${facilities.join(" and ")}; created ${age(new Date(createdAt).toISOString())}</p></li>`,
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
