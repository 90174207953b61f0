import type { NetworkView, RequestSummary, SearchHit, SearchResult } from "../api/types.ts";
import type { Explorer } from "./explorer.ts";
import type { ListCursor } from "./lists.ts";
import { PREFIX_BLOCKS, REQUEST_REACH, type FoundLabels } from "./search.ts";
import {
  describeTerms,
  isAsShortened,
  MIN_PREFIX_DIGITS,
  parseSearch,
  type SearchTerms,
} from "./searchTerms.ts";
import { withDeadline } from "../lib/deadline.ts";
import { untilSilent } from "./untilSilent.ts";
import { NotFoundError } from "../lib/errors.ts";
import { canonicalLabel, findLabelProblem, spellingOf } from "../domain/label.ts";
import { MAX_SEARCH_CHARACTERS } from "../domain/vocabulary.ts";
import { hitOf } from "../requests/read/requestReader.ts";
import type { Service } from "../requests/service.ts";

/** A chain that hangs doesn't hold up the hits of the others. */
const DEADLINE_MS = 5_000;
/** Hex digits of a hash. */
const HASH_DIGITS = 64;
/** Maximum number of hits of one network, and of those listed of all if a search ends with them. */
const MAX_HITS = 50;

type Searched = Pick<Explorer, "search" | "searchRequest" | "searchLabel" | "isSilent">;

/** What was found, which networks could not be queried, and which have older blocks to search. */
interface Found {
  readonly hits: readonly SearchHit[];
  readonly silent: readonly NetworkView[];
  readonly older: SearchResult["older"];
}

/**
 * Searches every network for a text, the preferred network first; with `before`, only that one, for a label in older blocks. Rejects if the
 * text is a request's id and the database can't be read, or if nothing but requests could be found, and they can't be looked through.
 */
export async function searchEverywhere(
  given: string,
  options: {
    readonly explorer: Searched;
    readonly service: Pick<
      Service,
      "networks" | "presets" | "getShared" | "findOnChain" | "searchPrefix" | "listOnChain"
    >;
    readonly preferred: string | undefined;
    readonly before?: ListCursor | undefined;
    /** Counts that requests are looked through for a text; throws if that was too often. */
    readonly countScan: () => Promise<void>;
  },
): Promise<SearchResult> {
  const { explorer, service } = options;
  const text = given.trim();
  const terms = parseSearch(text);
  const networks = service.networks();
  const preferred = networks.filter(({ name }) => name === options.preferred);
  const { serviceRequest } = terms;
  const { before } = options;
  const own = await find(explorer, preferred, text, { terms, before });
  const label = canonicalLabel(text);
  // A part of a label here doesn't hide the label itself elsewhere.
  const isFound = before !== undefined || own.hits.some((hit) => hit.kind !== "label" || hit.label === label);
  const others = networks.filter((network) => !own.silent.includes(network));
  const found = isFound ? own : await find(explorer, others, text, { terms });
  const silent = networks.filter((network) => own.silent.includes(network) || found.silent.includes(network));
  const { older } = found;
  const beginning = terms.prefix ?? terms.servicePrefix;
  const begun =
    beginning === undefined ? { transactions: [], requests: [] } : await service.searchPrefix(beginning);
  const isMeantBy = (...ids: readonly string[]): boolean => ids.some((id) => isAsShortened(id, terms));
  const transactions = begun.transactions.filter(
    (hit) => hit.kind === "transaction" && isMeantBy(hit.transactionHash),
  );
  const requests = begun.requests.filter(({ id, requestId }) => isMeantBy(id, requestId));
  const known = uniquePages(await recognize(service, joinHits(found.hits, transactions)));
  known.push(...requests.flatMap(pagesOf));
  const isLabel = known.some(({ hit }) => hit.kind === "label" && hit.label === label);
  // A number that is of no block and no request may be a result.
  const { name, hash, requestId, blockNumber } = terms;
  const isNumber = blockNumber !== undefined || (requestId !== undefined && hash === undefined);
  const isWanted = name !== undefined || (isNumber && known.every(({ hit }) => hit.kind === "label"));
  const isScanned = before === undefined && isWanted && !isLabel;
  const pages =
    before !== undefined || name === undefined
      ? []
      : [
          ...named(service.presets(), name).map((preset) => `/presets/${preset}`),
          ...named(networks, name).map((network) => `/explorer/${network}`),
        ];
  let matches: SearchResult["matches"];
  let isLookedThrough = isScanned;
  if (isScanned) {
    const page = await options
      .countScan()
      .then(() => service.listOnChain({ text }))
      .catch((error: unknown) => {
        if (known.length + pages.length === 0) throw error;
        isLookedThrough = false;
        return { items: [], matches: undefined };
      });
    // Random numbers hold most short ones.
    const isMeant = ({ result = "" }: RequestSummary): boolean =>
      name !== undefined || result.split(/\D+/).includes(text);
    const items = page.items.filter(isMeant);
    matches = page.matches && { ...page.matches, ...(name === undefined ? { count: items.length } : {}) };
    const ids = new Set(known.map(({ hit }) => "requestId" in hit && hit.requestId));
    known.push(...items.filter(({ requestId }) => !ids.has(requestId)).flatMap(pagesOf));
  }
  // Where the next search goes on below what a network gave, what isn't listed now would never be.
  const listed = known.toSorted(byTime).slice(0, older.length > 0 ? undefined : MAX_HITS);
  const paths = listed.map(({ path }) => path);
  if (serviceRequest !== undefined && (await hasPage(service, serviceRequest)))
    paths.push(`/r/${serviceRequest}`);
  paths.push(...pages);
  const takenFor = describeTerms(terms, isLookedThrough);
  return {
    query: text.slice(0, MAX_SEARCH_CHARACTERS),
    takenFor,
    hits: listed.map(({ hit }) => hit),
    paths,
    silent: silent.map(({ title }) => title),
    older,
    ...(matches === undefined ? {} : { matches }),
    ...(paths.length === 0 ? { reason: describeNothing(text, { terms, takenFor, networks, silent }) } : {}),
  };
}

/** Joins what chains and the database found, each transaction once. */
function joinHits(hits: readonly SearchHit[], more: readonly SearchHit[]): readonly SearchHit[] {
  const hashes = new Set(hits.map((hit) => hit.kind === "transaction" && hit.transactionHash));
  return [...hits, ...more.filter((hit) => hit.kind !== "transaction" || !hashes.has(hit.transactionHash))];
}

/** Leaves out labels of requests that this service didn't make which their page, a transaction, has already. */
function uniquePages(found: readonly Recognized[]): Recognized[] {
  const pages = new Map(
    found.map((one, i) => {
      const { hit, path } = one;
      return [hit.kind === "label" && hit.at === undefined ? `${path} ${hit.label}` : i, one];
    }),
  );
  return [...pages.values()];
}

/** Compares hits: requests whose time is known come newest first, behind what is no request, and before the others. */
function byTime({ hit: a }: { readonly hit: SearchHit }, { hit: b }: { readonly hit: SearchHit }): number {
  const timeOf = (hit: SearchHit): string =>
    "requestId" in hit || hit.kind === "label" ? (hit.at ?? "") : "9999";
  return timeOf(b).localeCompare(timeOf(a));
}

/** Returns the hit and the page of a request of this service; empty if it isn't on chain yet. */
function pagesOf(request: RequestSummary): Recognized[] {
  return hitOf(request).map((hit) => ({ hit, path: `/r/${request.id}` }));
}

/** A hit and its page. */
interface Recognized {
  readonly hit: SearchHit;
  readonly path: string;
}

/** Returns the hits with their pages; what has a label, with what it is and its result, if this service made it. */
async function recognize(service: Pick<Service, "findOnChain">, hits: readonly SearchHit[]) {
  const labelled = Map.groupBy(
    hits.flatMap((hit) => (hit.kind === "label" && hit.requestId !== undefined ? hit : [])),
    ({ network }) => network,
  );
  const found = [...labelled].map(([network, own]) =>
    service.findOnChain(
      network,
      own.flatMap(({ requestId = [] }) => requestId),
    ),
  );
  const requests = new Map(
    (await Promise.all(found)).flat().map((one) => [`${one.network} ${one.requestId}`, one]),
  );
  return hits.map((hit): Recognized => {
    if (hit.kind !== "label") return { hit, path: pathOf(hit) };
    const request = requests.get(`${hit.network} ${hit.requestId}`);
    if (request === undefined) return { hit, path: pathOf(hit) };
    const { id, title, result, at } = request;
    const members = {
      ...spellingOf(request),
      ...(title === undefined ? {} : { title }),
      ...(result === undefined ? {} : { result }),
    };
    return { hit: { ...hit, ...members, at }, path: `/r/${id}` };
  });
}

/** Whether there is a page for everyone of a request, which may still wait for its result. Rejects if the database can't be read. */
async function hasPage(service: Pick<Service, "getShared">, id: string): Promise<boolean> {
  try {
    await service.getShared(id);
    return true;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

/** Returns the names of the networks or presets whose name or title contains a lower-case text. */
function named(all: readonly { readonly name: string; readonly title: string }[], text: string): string[] {
  return all
    .filter(({ name, title }) => [name, title].some((one) => one.toLowerCase().includes(text)))
    .map(({ name }) => name);
}

/**
 * Looks for requests, by id and then by label, only where there is nothing else: reading logs is expensive. What may be a name may be part of
 * a label, too.
 */
async function find(
  explorer: Searched,
  networks: readonly NetworkView[],
  text: string,
  { terms, before }: { readonly terms: SearchTerms; readonly before?: ListCursor | undefined },
): Promise<Found> {
  const silent: NetworkView[] = [];
  // Whoever doesn't answer one question isn't waited for with the next.
  const ask = (look: (network: string) => Promise<FoundLabels>) =>
    askNetworks(networks, { explorer, silent, look });
  const lookFor = (look: (network: string) => Promise<readonly SearchHit[]>) =>
    ask(async (network) => ({ hits: await look(network), older: null }));
  const { requestId, serviceRequest = terms.servicePrefix } = terms;
  let { hits }: Pick<Found, "hits"> = { hits: [] };
  if (before === undefined) ({ hits } = await lookFor((network) => explorer.search(network, terms)));
  if (before === undefined && hits.length === 0 && requestId !== undefined)
    ({ hits } = await lookFor((network) => explorer.searchRequest(network, requestId)));
  const isOther = hits.length > 0 && terms.name === undefined;
  if (isOther || serviceRequest !== undefined || findLabelProblem(text) !== undefined)
    return { hits, silent, older: [] };
  const { dapp } = terms;
  const label = canonicalLabel(text);
  const wanted = dapp === undefined ? { label } : { dapp };
  const labelled = await ask((network) => explorer.searchLabel(network, wanted, before));
  const exact = labelled.hits.filter((hit) => hit.kind === "label" && hit.label === label);
  return { hits: [...hits, ...(exact.length > 0 ? exact : labelled.hits)], silent, older: labelled.older };
}

/** Asks the networks that aren't `silent` at once, and adds those to it that fail, are slow, or are known not to answer. */
async function askNetworks(
  networks: readonly NetworkView[],
  {
    explorer,
    silent,
    look,
  }: {
    readonly explorer: Searched;
    readonly silent: NetworkView[];
    readonly look: (network: string) => Promise<FoundLabels>;
  },
): Promise<Omit<Found, "silent">> {
  const asked = networks.filter((network) => !silent.includes(network));
  const answers = await Promise.all(
    asked.map(async (network) => {
      const { name } = network;
      const nothing: FoundLabels = { hits: [], older: null };
      const { hits, older } = await untilSilent(
        withDeadline(look(name), DEADLINE_MS),
        () => explorer.isSilent(name),
        () => new Error(`the node of ${name} doesn't answer`),
      ).catch(() => {
        silent.push(network);
        return nothing;
      });
      // Each network has its newest ones first; those of all are put in order once it is known when they were.
      return {
        hits: hits.slice(0, MAX_HITS),
        older: older === null ? [] : [{ network: name, before: older }],
      };
    }),
  );
  return { hits: answers.flatMap(({ hits }) => hits), older: answers.flatMap(({ older }) => older) };
}

/** Returns the application page that shows a hit. */
function pathOf(hit: SearchHit): string {
  const base = `/explorer/${hit.network}`;
  if (hit.kind === "block") return `${base}/block/${hit.number}`;
  return hit.kind === "address"
    ? `${base}/address/${hit.party.address}`
    : `${base}/tx/${hit.transactionHash}`;
}

function describeNothing(
  text: string,
  {
    terms,
    takenFor,
    networks,
    silent,
  }: {
    readonly terms: SearchTerms;
    readonly takenFor: readonly string[];
    readonly networks: readonly NetworkView[];
    readonly silent: readonly NetworkView[];
  },
): string {
  if (text.length > MAX_SEARCH_CHARACTERS)
    return `The text has ${text.length} characters; nothing that can be found here has more than ${MAX_SEARCH_CHARACTERS}.`;
  const digits = /^0x([0-9a-f]+)$/i.exec(text)?.[1]?.length ?? 0;
  if (digits > HASH_DIGITS)
    return `${text} has ${digits} hex digits, ${digits - HASH_DIGITS} too many: a hash and the id of a request have ${HASH_DIGITS}, an address has 40.`;
  if (takenFor.length === 0)
    return `${JSON.stringify(text)} is not a hash, address, block number, id, label or name.`;
  const { prefix, suffix } = terms;
  const { length: unasked } = silent;
  const gap =
    unasked === 0
      ? ""
      : `${silent.map(({ title }) => title).join(", ")} could not be searched, so it may be there: search again once ${unasked === 1 ? "its node answers" : "their nodes answer"}. `;
  if (unasked === networks.length) return gap.trim();
  const begun = /^0x([0-9a-f]+)(?:…|\.\.|$)/i.exec(text)?.[1]?.length ?? 0;
  const tooFew =
    begun > 0 && begun < MIN_PREFIX_DIGITS
      ? `The beginning of a hash, an address or an id needs ${MIN_PREFIX_DIGITS} hex digits at least; ${text} has ${begun}. `
      : /^dapp_/i.test(text) && terms.dapp === undefined
        ? "The id of an organiser is needed in full: dapp_ and 26 characters. "
        : "";
  if (prefix !== undefined)
    return `${gap}${suffix === undefined ? `${text} has ${prefix.length - 2} hex digits; a hash and the id of a request have 64, an address has 40. Nothing begins so` : `Nothing begins and ends as ${text}`} among the requests of this service, its own transactions, and the newest ${PREFIX_BLOCKS} blocks of embedded networks.`;
  const range = terms.requestId === undefined ? "" : ` ${REQUEST_REACH}`;
  const shown = terms.name === undefined ? text : JSON.stringify(text);
  return `${gap}${tooFew}No ${unasked === 0 ? "network here" : "network that was searched"} knows ${shown} as ${takenFor.join(", or ")}.${range}`;
}
