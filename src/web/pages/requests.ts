import type { Context } from "koa";
import { REQUEST_KINDS, REQUEST_STATES } from "../../lib/vocabulary.ts";
import type { ListOptions, RequestRecord, ShownResult } from "../../requests/service.ts";
import { NotFoundError } from "../../requests/errors.ts";
import type { NetworkView } from "../../requests/views.ts";
import { refusalOf } from "../answer.ts";
import { age, code, copyButton, copyable, time, transactionLink } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { facts, folded, listing } from "../explorer/parts.ts";
import { getDapp, type Params, type Site } from "../site.ts";
import { checkPart, hashOf } from "./checkPart.ts";
import { dappPage } from "./dappFrame.ts";
import { FIRST_LOOK_MS, formProblem, hasEnded, stateTag, summaryOf } from "./parts.ts";
import { commandOf, curlOf, isRepeatable } from "./repeatRequest.ts";
import { requestTable } from "./requestTable.ts";
import { outcomePart } from "./resultParts.ts";
import { timelinePart } from "./timelinePart.ts";

const PAGE_SIZE = 25;

/** Adds `/dapps/{dappId}/requests`, a list that follows what happens, and the page of one request, which can be made again there. */
export function requestRoutes(site: Site): void {
  const { service } = site.deps;

  site.get("/dapps/:dappId/requests", async (ctx) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const filter = readFilter(ctx.query, service.networks());
    const cursor = typeof ctx.query["cursor"] === "string" ? { cursor: ctx.query["cursor"] } : {};
    const { items, nextCursor } = await service.listRequests(dapp, {
      limit: PAGE_SIZE,
      ...filter,
      ...cursor,
    });
    const older = new URLSearchParams({ ...filter, cursor: nextCursor ?? "" });
    const body = html`${filterForm(filter, service.networks())}
<section class="panel" id="requests" data-live aria-label="Requests">${items.length === 0 ? html`<p class="note">No requests here.</p>` : requestTable(items, dapp.id)}
<p class="note">What your own contracts ask for on chain is not listed here; <a href="/dapps/${dapp.id}/consumers">Consumers</a> says which of it waits, and why.</p>
${nextCursor !== null && html`<p class="pages"><a rel="next" href="?${older.toString()}">Older</a></p>`}</section>`;
    site.show(ctx, dappPage(dapp, "requests", body));
  });

  const show = async (ctx: Context & Params, problem?: string): Promise<void> => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const request = await service.getRequest(dapp, ctx.params["id"]!);
    const network = service.networks().find(({ name }) => name === request.network);
    const live = hasEnded(request) ? null : html` data-live`;
    const body = html`${formProblem(problem)}<div id="request"${live}>${requestParts(request, network, service.showResult(request))}</div>${isRepeatable(request) && repeatPart(request, site.formToken(ctx))}`;
    site.show(ctx, dappPage(dapp, "requests", body, summaryOf(request)));
  };

  site.get("/dapps/:dappId/requests/:id", (ctx) => show(ctx));
  site.post("/dapps/:dappId/requests/:id", async (ctx) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const request = await service.getRequest(dapp, ctx.params["id"]!);
    try {
      if (!isRepeatable(request)) throw new NotFoundError(`what request ${request.id} was made of`);
      const again = await service.submit(dapp, commandOf(request, service), {});
      await service.wait(again.id, { timeoutMs: FIRST_LOOK_MS });
      ctx.redirect(`/dapps/${dapp.id}/requests/${again.id}`);
      ctx.status = 303;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined || refusal.status === 404) throw error;
      ctx.status = refusal.status;
      await show(ctx, refusal.message);
    }
  });
}

function repeatPart(request: RequestRecord, token: Html): Html {
  return html`<section class="panel" aria-label="Again"><h2>Again</h2><form method="post">${token}<button>Run again</button> <span class="note">A new request with the same parameters.</span></form>
${folded("As curl", html`${listing(curlOf(request), "curl")}${copyButton(curlOf(request), "curl")}`)}</section>`;
}

type Filter = Pick<ListOptions, "state" | "kind" | "network">;

function readFilter(query: Readonly<Record<string, unknown>>, networks: readonly NetworkView[]): Filter {
  const { state, kind, network } = query;
  const knownState = REQUEST_STATES.find((one) => one === state);
  const knownKind = REQUEST_KINDS.find((one) => one === kind);
  const knownNetwork = networks.find(({ name }) => name === network)?.name;
  return {
    ...(knownState === undefined ? {} : { state: knownState }),
    ...(knownKind === undefined ? {} : { kind: knownKind }),
    ...(knownNetwork === undefined ? {} : { network: knownNetwork }),
  };
}

function filterForm(filter: Filter, networks: readonly NetworkView[]): Html {
  const select = (name: keyof Filter, label: string, values: readonly string[]): Html =>
    html`<span><label for="${name}">${label}</label> <select id="${name}" name="${name}"><option value="">any</option>${values.map((value) => html`<option${filter[name] === value && html` selected`}>${value}</option>`)}</select></span>`;
  return html`<form method="get" class="filter">${select("state", "State", REQUEST_STATES)}${select("kind", "Kind", REQUEST_KINDS)}${select(
    "network",
    "Network",
    networks.map(({ name }) => name),
  )}<button>Show</button></form>`;
}

function requestParts(
  request: RequestRecord,
  network: NetworkView | undefined,
  shown: ShownResult | undefined,
): Html {
  const { id, why, params, outcome, error, createdAt, payloadDeletedAt } = request;
  return html`<section class="panel" aria-label="Request"><h2>${showText(summaryOf(request))} on ${network?.title ?? request.network} ${stateTag(request.state)}</h2>
${outcomePart(request, shown)}
${error !== null && html`<div class="notice bad">${showText(error.message)} <code>${error.code}</code></div>`}
${why !== null && html`<p class="note">Waiting: ${showText(why)}</p>`}
${facts([...outcomeFacts(request), ["Request", copyable(id, "request id")], ["Received", age(new Date(createdAt).toISOString())], ["Share", outcome !== null && "requestId" in outcome && html`<a href="/r/${id}">a page for everybody</a>, with this result alone`]])}
${
  outcome !== null &&
  "result" in outcome &&
  folded(
    "Bytes and ids on chain",
    facts([
      ["Result", copyable(outcome.result, "result")],
      ["Function request", copyable(outcome.requestId, "function request")],
    ]),
  )
}
${payloadDeletedAt !== undefined && html`<p class="note">What was sent was deleted ${time(new Date(payloadDeletedAt).toISOString())}.</p>`}
${folded("Parameters", listing(JSON.stringify(params, null, 2), "Parameters"))}</section>
<section class="panel"><h2>Timeline</h2>${timelinePart(request)}</section>
${outcome !== null && "requestId" in outcome && checkPart(request.network, network, hashOf(outcome.url))}`;
}

/** Where it came from. */
function outcomeFacts({ outcome, network, kind }: RequestRecord): Parameters<typeof facts>[0] {
  if (outcome === null) return [];
  const link = (hash: string): Html => html`transaction ${transactionLink(network, hash)}`;
  if ("randomNumber" in outcome)
    return [
      ["Proof", link(outcome.transactionHash)],
      ["VRF request", code(outcome.requestId)],
    ];
  if (!("parsedResult" in outcome))
    return [[kind === "unlink" ? "Unlinked by" : "Linked by", link(outcome.transactionHash)]];
  return [
    ["Proof", "vrfv2Hash" in outcome && link(outcome.vrfv2Hash)],
    ["Delivered by", link(hashOf(outcome.url))],
  ];
}
