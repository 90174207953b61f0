import type { Context } from "koa";
import { NotFoundError } from "../../requests/errors.ts";
import type { Service } from "../../requests/service.ts";
import type { PresetView } from "../../requests/views.ts";
import { TycheError } from "../../lib/errors.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { refusalOf } from "../answer.ts";
import type { Form } from "../form.ts";
import { scrollable } from "../explorer/parts.ts";
import { html, plainText, showText, type Html } from "../html.ts";
import { getDapp, type Params, type Site } from "../site.ts";
import {
  DEFAULT_NETWORK,
  FIRST_LOOK_MS,
  formProblem,
  networkSelect,
  problemAttributes,
  problemNote,
} from "./parts.ts";
import { brokenPresets } from "./brokenPresets.ts";
import { createFields, readParams, type PresetField } from "./presetFields.ts";

/** Adds `/presets`, what is installed, and `/presets/{name}`, with a form to run it. */
export function presetRoutes(site: Site): void {
  const { service, dapps } = site.deps;

  site.get("/presets", async (ctx) => {
    const query =
      typeof ctx.query["dapp"] === "string" ? `?dapp=${encodeURIComponent(ctx.query["dapp"])}` : "";
    site.show(ctx, {
      title: "Presets",
      section: "presets",
      body: html`<h1>Presets</h1>
<p class="lead">One call draws a random word and feeds it to a function, both on chain.</p>
<ul class="cards">${service
        .presets()
        .map(
          ({ name, title, description }) =>
            html`<li class="panel"><h2><a href="/presets/${encodeURIComponent(name)}${query}">${showText(title)}</a></h2><p><code>${showText(name)}</code></p><p class="note">${showText(description)}</p></li>`,
        )}</ul>${brokenPresets(service.presetProblems())}`,
    });
  });

  const show = async (ctx: Context & Params, tried?: Tried): Promise<void> => {
    const preset = getPreset(service, ctx.params["name"]!);
    const users = (await dapps.list()).filter(({ facilities }) => facilities.includes("presets"));
    const wanted = tried?.dappId ?? ctx.query["dapp"];
    const problems = tried?.problems ?? new Map<string, string>();
    const firstWrong = createFields(preset).find(({ name }) => problems.has(name))?.name;
    site.show(ctx, {
      title: preset.title,
      section: "presets",
      trail: [{ href: "/presets", text: "Presets" }],
      body: html`<h1>${showText(preset.title)}</h1>
<p class="lead">${showText(preset.description)}</p>
<section class="panel"><h2>Run it</h2>${formProblem(tried?.problem)}
${
  users.length === 0
    ? html`<p class="note">No dapp is permitted to use presets: <a href="/">create one that is</a>.</p>`
    : html`<form method="post" class="fields">${site.formToken(ctx)}
${createFields(preset).map((field) => fieldPart(field, tried?.values.get(field.name), problems.get(field.name), field.name === firstWrong))}
<div class="field">${networkSelect(service.networks(), tried?.network ?? DEFAULT_NETWORK)}</div>
<div class="field"><label for="dapp">Dapp that pays</label><select id="dapp" name="dapp">${users.map(({ id, name }) => html`<option value="${id}"${id === wanted && html` selected`}>${plainText(name)}</option>`)}</select></div>
<div><button class="action">Run</button></div></form>`
}</section>
${examples(preset)}`,
    });
  };

  site.get("/presets/:name", (ctx) => show(ctx));
  site.post("/presets/:name", async (ctx, form) => {
    const preset = getPreset(service, ctx.params["name"]!);
    const [network, dappId] = [form.get("network"), form.get("dapp")];
    try {
      const dapp = await getDapp(site.deps, dappId);
      const params = service.parsePresetParams(
        preset.name,
        readParams(preset, (name) => form.get(`param.${name}`)),
        { network },
      );
      const request = await service.submit(
        dapp,
        { kind: "preset", network, preset: preset.name, params },
        {},
      );
      await service.wait(request.id, { timeoutMs: FIRST_LOOK_MS });
      ctx.redirect(`/dapps/${dapp.id}/requests/${request.id}`);
      ctx.status = 303;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      ctx.status = refusal.status;
      await show(ctx, {
        network,
        dappId,
        ...sortProblems(error, preset, refusal.message),
        values: valuesOf(preset, form),
      });
    }
  });
}

interface Tried {
  readonly network: string;
  readonly dappId: string;
  readonly values: ReadonlyMap<string, string>;
  /** By parameter. */
  readonly problems: ReadonlyMap<string, string>;
  /** What belongs to none. */
  readonly problem?: string;
}

function getPreset(service: Service, name: string): PresetView {
  const preset = service.presets().find((one) => one.name === name);
  if (preset === undefined) throw new NotFoundError(`preset ${JSON.stringify(name)}`);
  return preset;
}

function valuesOf(preset: PresetView, form: Form): ReadonlyMap<string, string> {
  return new Map(createFields(preset).map(({ name }) => [name, form.get(`param.${name}`)]));
}

/** Puts each violation to its field; what has none goes above the form. */
function sortProblems(
  error: unknown,
  preset: PresetView,
  message: string,
): Pick<Tried, "problem" | "problems"> {
  const violations =
    error instanceof TycheError && error.code === "invalid_parameter"
      ? ((error.details ?? []) as readonly ParameterViolation[])
      : [];
  const problems = new Map<string, string>();
  const names = new Set(createFields(preset).map(({ name }) => name));
  for (const { path, message: reason } of violations) {
    const [, name = "", item] = path.split("/");
    if (!names.has(name)) return { problem: message, problems };
    const text = item === undefined ? reason : `entry ${Number(item) + 1} ${reason}`;
    problems.set(name, problems.has(name) ? `${problems.get(name)}; ${text}` : text);
  }
  return problems.size === 0 ? { problem: message, problems } : { problems };
}

function fieldPart(
  field: PresetField,
  value: string | undefined,
  problem: string | undefined,
  hasFocus: boolean,
): Html {
  const { name, title, description, kind, fallback, isRequired, isNumeric } = field;
  const id = `param.${name}`;
  const shared = html` id="${id}" name="${id}"${isRequired && html` required`}${hasFocus && html` autofocus`}${problemAttributes(id, problem)}`;
  const typed = html`${shared} spellcheck="false" autocomplete="off"`;
  const text = value ?? fallback;
  const control =
    field.choices !== undefined
      ? choice(shared, field.choices, { chosen: text, isRequired })
      : kind === "text"
        ? html`<input${typed}${isNumeric && html` inputmode="numeric"`} value="${text}">`
        : html`<textarea${typed} rows="5" class="${kind === "json" && "mono"}">${text}</textarea>`;
  const label =
    title === undefined ? showText(name) : html`${showText(title)} <code>${showText(name)}</code>`;
  return html`<div class="field wide"><label for="${id}">${label}</label>${control}<p class="note">${showText(description)}${kind === "lines" && " One entry a line: a list can be pasted."}${kind === "json" && field.choices === undefined && " As JSON."}</p>${problemNote(id, problem)}</div>`;
}

/** The empty choice stands for an absent parameter. */
function choice(
  attributes: Html,
  choices: readonly string[],
  { chosen, isRequired }: { readonly chosen: string; readonly isRequired: boolean },
): Html {
  const listed = isRequired && chosen !== "" ? choices : ["", ...choices];
  return html`<select${attributes}>${listed.map((one) => html`<option value="${one}"${one === chosen && html` selected`}>${plainText(one)}</option>`)}</select>`;
}

function examples({ examples: list }: PresetView): Html | undefined {
  const shown = list
    .filter(({ params, parsedResult }) => JSON.stringify(params).length + parsedResult.length < 400)
    .slice(0, 6);
  if (shown.length === 0) return undefined;
  const table = html`<table class="list"><thead><tr><th>Parameters</th><th>Result</th></tr></thead><tbody>${shown.map(
    ({ params, parsedResult }) =>
      html`<tr><td><code class="hex">${showText(JSON.stringify(params))}</code></td><td>${showText(parsedResult)}</td></tr>`,
  )}</tbody></table>`;
  return html`<section class="panel"><h2>Examples</h2><p class="note">What some parameters gave with some random word.</p>${scrollable("Examples", table)}</section>`;
}
