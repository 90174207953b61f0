import type { Router } from "@koa/router";
import type { Context } from "koa";
import type { Explorer } from "../../explorer/explorer.ts";
import { REQUEST_REACH } from "../../explorer/search.ts";
import {
  describeTerms,
  MAX_SEARCH_CHARACTERS,
  parseSearch,
  type SearchTerms,
} from "../../explorer/searchTerms.ts";
import type { SearchHit } from "../../explorer/views.ts";
import { withDeadline } from "../../lib/deadline.ts";
import type { Service } from "../../requests/service.ts";
import type { NetworkView } from "../../requests/views.ts";
import { sendData, sendRefusal, wantsJson } from "../answer.ts";
import { code } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { sendPage, type Viewer } from "../layout.ts";

/** A chain that hangs keeps nobody from what another has. */
const DEADLINE_MS = 5_000;
/** Hits that are listed at most. */
const MAX_HITS = 50;

/** What was found, and which networks could not be asked. */
interface Found {
  readonly hits: readonly SearchHit[];
  readonly silent: readonly NetworkView[];
}

/**
 * Adds `/explorer/search?q=`, which looks on every network, and `/explorer/{network}/search?q=`, which prefers one. Where one thing is
 * found it leads there; several are listed. With `Accept: application/json` it gives what the text was taken for, and every hit.
 */
export function searchRoutes(
  router: Router,
  options: {
    readonly explorer: Pick<Explorer, "search" | "searchRequest">;
    readonly service: Pick<Service, "networks" | "getShared">;
    readonly guard: (ctx: Context) => Promise<void>;
    readonly viewerOf: (ctx: Context) => Viewer;
  },
): void {
  const { explorer, service, guard, viewerOf } = options;

  const ask = async (
    networks: readonly NetworkView[],
    look: (network: string) => Promise<readonly SearchHit[]>,
  ): Promise<Found> => {
    const silent: NetworkView[] = [];
    const answers = await Promise.all(
      networks.map((network) =>
        withDeadline(look(network.name), DEADLINE_MS).catch(() => {
          silent.push(network);
          return [];
        }),
      ),
    );
    return { hits: answers.flat().slice(0, MAX_HITS), silent };
  };
  /** Requests are looked for last: what is one is nothing else, and reading logs is work. */
  const find = async (networks: readonly NetworkView[], terms: SearchTerms): Promise<Found> => {
    const first = await ask(networks, (network) => explorer.search(network, terms));
    const { requestId } = terms;
    if (first.hits.length > 0 || requestId === undefined) return first;
    return await ask(networks, (network) => explorer.searchRequest(network, requestId));
  };
  const isShared = async (id: string): Promise<boolean> =>
    await service.getShared(id).then(
      () => true,
      () => false,
    );

  const search = async (ctx: Context, preferred: NetworkView | undefined): Promise<void> => {
    const text = String(ctx.query["q"] ?? "").trim();
    const terms = parseSearch(text);
    const takenFor = describeTerms(terms);
    const networks = service.networks();
    const { serviceRequest } = terms;
    const own = preferred === undefined ? undefined : await find([preferred], terms);
    const { hits, silent } = own !== undefined && own.hits.length > 0 ? own : await find(networks, terms);
    const paths = hits.map(pathOf);
    if (serviceRequest !== undefined && (await isShared(serviceRequest))) paths.push(`/r/${serviceRequest}`);

    if (wantsJson(ctx)) {
      sendData(ctx, { query: text.slice(0, MAX_SEARCH_CHARACTERS), takenFor, hits, paths });
      return;
    }
    const [only] = paths;
    if (only !== undefined && paths.length === 1) {
      ctx.redirect(only);
      return;
    }
    if (paths.length > 0) {
      const page = { title: "Search", section: "explorer", trail: TRAIL } as const;
      sendPage(
        ctx,
        { ...page, body: hitsPage({ text, takenFor, hits, networks, preferred }) },
        viewerOf(ctx),
      );
      return;
    }
    const message = describeNothing(text, terms, silent);
    const hint = searchForm(preferred?.name, text);
    sendRefusal(
      ctx,
      { status: 404, code: "not_found", title: "Nothing found", message, hint },
      viewerOf(ctx),
    );
  };

  const findNetwork = (wanted: unknown): NetworkView | undefined =>
    service.networks().find(({ name }) => name === wanted);
  router.get("/explorer/search", async (ctx) => {
    await guard(ctx);
    await search(ctx, findNetwork(ctx.query["network"]));
  });
  router.get("/explorer/:network/search", async (ctx) => {
    await guard(ctx);
    await search(ctx, findNetwork(ctx.params["network"]));
  });
}

const TRAIL = [{ href: "/explorer", text: "Explorer" }] as const;

/** The box that takes whatever is searched for. `network`: one whose hits are preferred. */
export function searchForm(network?: string, value = ""): Html {
  return html`<form class="search" method="get" action="/explorer/search" role="search">${network !== undefined && html`<input type="hidden" name="network" value="${network}">`}<label class="visually-hidden" for="q">Transaction, block, address, contract name or request id</label><input id="q" name="q" value="${value.slice(0, MAX_SEARCH_CHARACTERS)}" required maxlength="${MAX_SEARCH_CHARACTERS}" spellcheck="false" autocapitalize="none" autocomplete="off" placeholder="Transaction, block, address, contract or request"><button>Find</button></form>`;
}

function pathOf(hit: SearchHit): string {
  const base = `/explorer/${hit.network}`;
  if (hit.kind === "block") return `${base}/block/${hit.number}`;
  return hit.kind === "address"
    ? `${base}/address/${hit.party.address}`
    : `${base}/tx/${hit.transactionHash}`;
}

function hitsPage(options: {
  readonly text: string;
  readonly takenFor: readonly string[];
  readonly hits: readonly SearchHit[];
  readonly networks: readonly NetworkView[];
  readonly preferred: NetworkView | undefined;
}): Html {
  const { text, takenFor, hits, networks, preferred } = options;
  const titleOf = (name: string): string => networks.find((one) => one.name === name)?.title ?? name;
  return html`<h1>Search</h1>
${searchForm(preferred?.name, text)}
<p class="lead">Taken for ${takenFor.join(", or ")}.</p>
<section class="panel" aria-label="Found"><ul class="hits">${hits.map(
    (hit) =>
      html`<li><a href="${pathOf(hit)}">${describeHit(hit)}</a> <span class="note">on ${titleOf(hit.network)}</span></li>`,
  )}</ul>${hits.length === MAX_HITS && html`<p class="note">The first ${MAX_HITS} are shown.</p>`}</section>`;
}

function describeHit(hit: SearchHit): Html {
  switch (hit.kind) {
    case "transaction":
      return html`Transaction ${code(hit.transactionHash)}`;
    case "block":
      return html`Block ${hit.number}`;
    case "address":
      return html`${showText(hit.party.name ?? "Address")} ${code(hit.party.address)}`;
    default: {
      const what = hit.kind === "random" ? "VRF request" : "Function request";
      return html`${what}, ${hit.isAnswered ? "answered by" : "not answered yet, made by"} ${code(hit.transactionHash)}`;
    }
  }
}

function describeNothing(text: string, terms: SearchTerms, silent: readonly NetworkView[]): string {
  const takenFor = describeTerms(terms);
  if (text.length > MAX_SEARCH_CHARACTERS)
    return `The text has ${text.length} characters; nothing that can be found here has more than ${MAX_SEARCH_CHARACTERS}.`;
  if (takenFor.length === 0)
    return `${JSON.stringify(text)} is no hash, address, block number, request id or name of a contract.`;
  const range = terms.requestId === undefined ? "" : ` ${REQUEST_REACH}`;
  const unasked =
    silent.length === 0 ? "" : ` ${silent.map(({ title }) => title).join(", ")} could not be asked.`;
  return `${text} was taken for ${takenFor.join(", or ")}. No network here has it.${range}${unasked}`;
}
