import type { RequestRecord } from "../../requests/service.ts";
import { age } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { resultOf, stateTag, summaryOf } from "./parts.ts";

/** Requests as a table, each with a link to its page. */
export function requestTable(requests: readonly RequestRecord[], dappId: string): Html {
  return html`<div class="scroll"><table class="list"><thead><tr><th>Request</th><th>State</th><th>Result</th><th>Network</th><th>Received</th></tr></thead><tbody>${requests.map(
    (request) =>
      html`<tr><td><a href="/dapps/${dappId}/requests/${request.id}">${showText(summaryOf(request))}</a></td><td>${stateTag(request.state)}</td><td class="outcome">${resultOf(request) ?? (request.why !== null && html`<span class="note">${showText(request.why)}</span>`)}</td><td>${request.network}</td><td>${age(new Date(request.createdAt).toISOString())}</td></tr>`,
  )}</tbody></table></div>`;
}
