import type {
  FunctionRequestView,
  FunctionResultView,
  ProgramView,
  ReportView,
} from "../../explorer/views.ts";
import { code, count, groupDigits, partyLink, transactionLink, units } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { facts, folded, listing, tag } from "./parts.ts";

/** The answer of the oracle network to one request. */
export function functionResultSection(result: FunctionResultView, network: string): Html {
  const { requestId, response, readings, err, transmitter, totalCostJuels, program, requestedBy } = result;
  return html`<section class="panel" data-function-result="${requestId}"><h2>Result of a function</h2>
${facts([
  ["Outcome", outcomeTag(result)],
  ["As text", readings.text !== undefined && html`<span class="result">${showText(readings.text)}</span>`],
  ["As number", readings.uint256 !== undefined && html`<span class="result">${readings.uint256}</span>`],
  [
    "As signed number",
    readings.int256 !== undefined &&
      readings.int256 !== readings.uint256 &&
      html`<span class="result">${readings.int256}</span>`,
  ],
  ["Response", html`${code(response)} <span class="note">${count((response.length - 2) / 2, "byte")}</span>`],
  ["Error", err !== "" && html`<span class="result">${showText(err)}</span>`],
  ["Callback", result.callbackReason !== undefined && showText(result.callbackReason)],
  ["Function request", code(requestId)],
  ["Requested by", requestedBy !== undefined && html`transaction ${transactionLink(network, requestedBy)}`],
  ["Delivered by", partyLink(network, transmitter, { full: true })],
  ["Cost", totalCostJuels !== undefined && units(totalCostJuels, "LINK")],
])}
${program === null ? html`<p class="note">The request itself is not in reach any more.</p>` : programPart(program)}</section>`;
}

/** A request to run a function. */
export function functionRequestSection(request: FunctionRequestView, network: string): Html {
  const { requestId, subscriptionId, consumer, callbackGasLimit, program, word, answeredBy, waitsFor } =
    request;
  return html`<section class="panel" data-function-request="${requestId}"><h2>Request to run a function</h2>
${facts([
  ["Function request", code(requestId)],
  [
    "Answered by",
    answeredBy === undefined ? "not answered yet" : html`transaction ${transactionLink(network, answeredBy)}`,
  ],
  ["Waiting", waitsFor !== undefined && showText(waitsFor)],
  ["Random word", word !== undefined && html`word ${word.item} of VRF request ${code(word.vrfRequestId)}`],
  ["Consumer", partyLink(network, consumer, { full: true })],
  ["Subscription", subscriptionId],
  ["Callback gas", groupDigits(String(callbackGasLimit))],
])}
${program === null ? html`<p class="note">Its data is no request that an oracle node could run.</p>` : programPart(program)}</section>`;
}

/** The signed report that brought results. */
export function reportSection(report: ReportView, network: string): Html {
  const { configDigest, epoch, round, digest, requestIds, signatures } = report;
  return html`<section class="panel"><h2>Signed report</h2>
${facts([
  ["Answers", count(requestIds.length, "request")],
  [html`Signed hash <small>keccak256(keccak256(report), context)</small>`, code(digest)],
  ["Configuration", code(configDigest)],
  ["Epoch and round", `${epoch}, ${round}`],
])}
<h3>Signatures <span class="count">${signatures.length}</span></h3>
<div class="scroll"><table class="values"><tbody>${signatures.map(
    ({ r, s, recoveryId, signer }) =>
      html`<tr><th scope="row">${signer === null ? "not a signature" : partyLink(network, signer, { full: true })}</th><td><span class="coordinate">r ${code(r)}</span><span class="coordinate">s ${code(s)}</span><span class="coordinate">v ${code(String(recoveryId))}</span></td></tr>`,
  )}</tbody></table></div>
<p class="note">The signer is recovered from each signature. The contract took the report only with enough signatures of its configured nodes.</p></section>`;
}

/** Source and arguments. */
function programPart({ source, args, bytesArgs }: ProgramView): Html {
  return html`<h3>Source</h3>${listing(source, "Source")}
${args.length > 0 && html`<h3>Arguments</h3><ol class="arguments" start="0">${args.map((arg) => html`<li>${arg.length > 300 ? folded(count(arg.length, "character"), listing(arg, "Argument")) : html`<code class="hex">${showText(arg)}</code>`}</li>`)}</ol>`}
${bytesArgs.length > 0 && html`<h3>Byte arguments</h3><ol class="arguments" start="0">${bytesArgs.map((arg) => html`<li>${code(arg)}</li>`)}</ol>`}`;
}

function outcomeTag({ outcome, err }: FunctionResultView): Html {
  if (outcome !== "FULFILLED" && outcome !== "USER_CALLBACK_ERROR") return tag(outcome, "bad");
  const run = err === "" ? tag("the function returned", "good") : tag("the function failed", "bad");
  return outcome === "FULFILLED" ? run : html`${run} ${tag("the consumer's callback failed", "bad")}`;
}
