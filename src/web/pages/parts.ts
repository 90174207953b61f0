import type { RequestRecord, RequestState } from "../../requests/service.ts";
import type { NetworkView } from "../../requests/views.ts";
import { html, showText, type Html } from "../html.ts";
import { count } from "../format.ts";
import { tag } from "../explorer/parts.ts";

/** How long a form waits for its request to end, so that the page it leads to can show the result at once; else that page follows. */
export const FIRST_LOOK_MS = 600;

/** What the form of a preset begins with. */
export const DEFAULT_NETWORK = "polygon_mumbai";

/** Where a request stands, as a coloured word. */
export function stateTag(state: RequestState): Html {
  if (state === "fulfilled") return tag(state, "good");
  return state === "failed" ? tag(state, "bad") : tag(state, "busy");
}

/** Whether nothing about a request changes any more. */
export function hasEnded({ state }: RequestRecord): boolean {
  return state === "fulfilled" || state === "failed";
}

/** What a request is for, in a few words. */
export function summaryOf({ kind, params }: RequestRecord): string {
  const { preset, numWords, consumer } = params as { preset?: string; numWords?: number; consumer?: string };
  if (kind === "preset") return preset ?? "preset";
  if (kind === "random") return count(numWords ?? 0, "random number");
  if (kind === "unlink") return `unlink ${shorten(consumer ?? "")}`;
  return kind === "consumer" ? `link ${shorten(consumer ?? "")}` : "function";
}

/** What came out of a request, to be shown in a list; nothing while it is under way. */
export function resultOf({ outcome, error }: RequestRecord): Html | undefined {
  if (error !== null) return html`<span class="bad-text">${showText(cut(error.message))}</span>`;
  if (outcome === null) return undefined;
  if ("randomNumber" in outcome) return html`${cut(outcome.randomNumber.join(", "))}`;
  if ("parsedResult" in outcome)
    return outcome.success
      ? html`${showText(cut(outcome.parsedResult))}`
      : html`<span class="bad-text">${showText(cut(outcome.err))}</span>`;
  return undefined;
}

/** Stands for an API key, which is only sent when it is asked for, by the form beside it. `path`: of the dapp's keys. */
export function maskedKey(id: string, path: string, token: Html): Html {
  return html`<span class="secret"><code class="hex masked">tyche_••••••••••••••••</code></span>
<form method="post" action="${path}/${id}/reveal" data-reveal>${token}<button>Reveal<span class="visually-hidden"> key ${id}</span></button></form>`;
}

/** A choice of networks. */
export function networkSelect(networks: readonly NetworkView[], selected: string, id = "network"): Html {
  return html`<label for="${id}">Network</label><select id="${id}" name="network">${networks.map(({ name, title }) => html`<option value="${name}"${name === selected && html` selected`}>${title}</option>`)}</select>`;
}

/** What is wrong with a field, tied to it by `aria-describedby="${id}-problem"`. */
export function problemNote(id: string, problem: string | undefined): Html | undefined {
  return problem === undefined
    ? undefined
    : html`<p class="problem" id="${id}-problem">${showText(problem)}</p>`;
}

/** Attributes of a field with a problem. */
export function problemAttributes(id: string, problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html` aria-invalid="true" aria-describedby="${id}-problem"`;
}

/** The message above a form that was not taken. */
export function formProblem(message: string | undefined): Html | undefined {
  return message === undefined
    ? undefined
    : html`<div class="notice bad" role="alert">${showText(message)}</div>`;
}

function shorten(address: string): string {
  return `${address.slice(0, 8)}…${address.slice(-4)}`;
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
