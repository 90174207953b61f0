import type { RequestRecord, RequestState, TimelineEntry } from "../../requests/service.ts";
import { age, transactionLink } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { hasEnded } from "./parts.ts";

/** The states that a request of a kind comes through when all goes well. */
const STEPS: Readonly<Record<RequestRecord["kind"], readonly RequestState[]>> = {
  preset: ["received", "submitted", "randomness", "executing", "fulfilled"],
  function: ["received", "submitted", "executing", "fulfilled"],
  random: ["received", "submitted", "fulfilled"],
  consumer: ["received", "submitted", "fulfilled"],
  unlink: ["received", "submitted", "fulfilled"],
};

/** What happens in a state, for whoever sees the word for the first time. */
const MEANINGS: Readonly<Record<RequestState, string>> = {
  checking: "the source is run once",
  received: "stored",
  submitted: "its transaction is sent",
  randomness: "the VRF proof is on chain",
  executing: "the oracle's nodes run the function",
  fulfilled: "the result is on chain",
  failed: "ended without a result",
};

/** Where a request stands: what it came through, the step under way, and those ahead. */
export function timelinePart(request: RequestRecord): Html {
  const { timeline } = request;
  const steps = STEPS[request.kind];
  // Some states are no step of each request of the kind: the run before `received`, words that are joined.
  const reached = Math.max(...timeline.map(({ state }) => steps.indexOf(state)));
  const ahead = hasEnded(request) ? [] : steps.slice(reached + 1);
  return html`<ol class="timeline">${timeline.map((entry, i) => pastStep(entry, timeline[i - 1], { request, isLast: i === timeline.length - 1 }))}${ahead.map((step) => html`<li class="ahead"><b>${step}</b> <span class="note">${MEANINGS[step]}</span></li>`)}</ol>`;
}

function pastStep(
  { state, at, transactionHash, detail }: TimelineEntry,
  before: TimelineEntry | undefined,
  { request, isLast }: { readonly request: RequestRecord; readonly isLast: boolean },
): Html {
  const moment = new Date(at).toISOString();
  const isCurrent = isLast && !hasEnded(request);
  const since =
    before === undefined
      ? age(moment)
      : html`<time datetime="${moment}" title="${moment}">${at - before.at} ms later</time>`;
  return html`<li class="${state}${isCurrent && " current"}"${isCurrent && html` aria-current="step"`}><b>${state}</b> <span class="note">${MEANINGS[state]}; ${since}</span>
${transactionHash !== undefined && html`<br>${transactionLink(request.network, transactionHash)}`}${detail !== undefined && html`<br><span class="note">${showText(detail)}</span>`}</li>`;
}
