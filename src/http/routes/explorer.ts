import { listOf } from "../../api/common.ts";
import { PresetView } from "../../api/catalogue.ts";
import * as views from "../../api/explorer.ts";
import type { Hex } from "viem";
import { SUBJECTS, type Explorer } from "../../explorer/explorer.ts";
import { parseCursor, type ListCursor } from "../../explorer/lists.ts";
import { createOwnRequests } from "../../explorer/ownRequests.ts";
import { createReadBudget } from "../../explorer/readBudget.ts";
import { untilSilent } from "../../explorer/untilSilent.ts";
import { addressGroup } from "../../lib/addressGroup.ts";
import { NotFoundError, TycheError } from "../../lib/errors.ts";
import { remember } from "../../lib/memo.ts";
import { countWithin, createCallCounter } from "../../lib/rateLimit.ts";
import { formatTime } from "../../lib/time.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { Service } from "../../requests/service.ts";
import type { Verifier } from "../../verify/verifier.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Described, type Operation, type OperationCall } from "../operation.ts";
import type { RequestSchemas } from "../../api/parameters/requestSchemas.ts";
import { searchEverywhere } from "../../explorer/searchEverywhere.ts";

/** How long chain data that many ask for are kept, in ms: a result that everybody looks at is read from the node six times a minute. */
const RECORDED_MS = 10_000;
/** Looks through a thousand requests for a text, per group of addresses: each takes a tenth of a second of this process. */
const SCANS = { policy: "scan", quota: 60, windowSeconds: 60 } as const;

/** What serves the explorer. */
interface ExplorerParts {
  readonly explorer: Explorer;
  readonly verifier: Pick<Verifier, "record">;
}

/** Creates an operation that reads chain data, within what everybody's reads may cost, and for no longer than the chain's node answers. */
type Reading = <Name extends keyof RequestSchemas = "none">(
  given: Described<Name> & {
    /** Returns the network whose chain is read. Default: the path's, if it has one. */
    readonly networkOf?: (param: OperationCall<unknown>["param"]) => Promise<string | undefined>;
  },
) => Operation;

/**
 * Chain data and shared results, for everyone who can reach the server, as on any public explorer: needs no key, changes nothing and
 * shows nothing that isn't on a chain.
 */
export function explorerOperations(deps: HttpDeps, parts: ExplorerParts): readonly Operation[] {
  const { service } = deps;
  const budget = createReadBudget();
  const operation = createOperations(deps, { tag: "Explorer", access: "everybody" });
  const errors = ["not_found", "chain_unavailable", "host_not_allowed", "origin_not_allowed"] as const;
  const reading: Reading = ({ run, networkOf, ...given }) =>
    operation({
      ...given,
      path: `/api/explorer${given.path}`,
      errors,
      async run(call) {
        const ofPath = given.path.includes("/:network") ? call.param("network") : undefined;
        const network = networkOf === undefined ? ofPath : await networkOf(call.param);
        let isGivenUp = false;
        const found = budget.read(
          { caller: addressGroup(call.ctx.ip), place: network ?? given.path },
          async () =>
            // Nobody reads what was asked for over a connection that is closed by now.
            isGivenUp || call.ctx.state.isClosed === true ? undefined : await run(call),
        );
        if (network === undefined) return await found;
        try {
          return await untilSilent(
            found,
            () => parts.explorer.isSilent(network),
            () => describeSilence(network, deps.service, parts.explorer),
          );
        } finally {
          isGivenUp = true;
        }
      },
    });
  return [
    reading({
      id: "exploreNetworks",
      path: "/networks",
      summary: "List networks that have an explorer",
      description: "The networks, each with its chain and status.",
      answer: listOf(views.ExplorerNetwork),
      run() {
        return {
          items: service.networks().map(({ contracts, ...network }) => {
            const seen = parts.explorer.findSeenHead(network.name);
            const head = seen && {
              number: seen.number.toString(),
              at: formatTime(Number(seen.timestamp) * 1000),
              agoMs: Math.round(seen.agoMs),
            };
            return {
              ...network,
              ...(contracts.presetConsumer === "0x" ? {} : { contracts }),
              ...(head && { head }),
            };
          }),
        };
      },
    }),
    reading({
      id: "explorePresets",
      path: "/presets",
      summary: "List presets, for everybody",
      description:
        "The presets that are installed, with their sources and the JSON Schemas of their parameters.",
      answer: listOf(PresetView),
      run: () => ({ items: service.presets() }),
    }),
    ...chainOperations(reading, service, parts),
    ...searchOperations(reading, service, parts),
    ...resultOperations(reading, service, parts),
  ];
}

/** What is on one chain. */
function chainOperations(
  reading: Reading,
  service: Service,
  { explorer }: ExplorerParts,
): readonly Operation[] {
  const find = createFind(service, explorer);
  /** Reads what is at the path's address; `missing` says why there is nothing at one. */
  const findAt = <View extends object>(
    read: (network: string, address: Hex, before: ListCursor | undefined) => Promise<View | undefined>,
    missing: (address: string) => string = isNoAddress,
  ) => {
    const isAddress = (text: string): text is Hex => SUBJECTS.address.test(text);
    return find(
      async (network, param, before) => {
        const address = param("address");
        return isAddress(address) ? await read(network, address, before) : undefined;
      },
      (_, param) => {
        const address = param("address");
        return isAddress(address) ? missing(address) : isNoAddress(address);
      },
    );
  };
  const ownRequests = createOwnRequests((network, ids) => service.findOnChain(network, ids));
  const isUnread = (title: string): string => `${title} can't be read now.`;
  return [
    reading({
      id: "exploreNetwork",
      path: "/networks/:network",
      summary: "Read the head of a chain",
      description: "The newest blocks and transactions of a chain, and the service's contracts on it.",
      answer: views.ChainOverview,
      run: find(async (network) => {
        const found = await explorer.findOverview(network);
        return found && (await ownRequests.addTo(network, found)).view;
      }, isUnread),
    }),
    reading({
      id: "exploreTransaction",
      path: "/networks/:network/transactions/:hash",
      summary: "Read a transaction",
      description:
        "A transaction with everything decoded from it: the call, the events, VRF proofs with their words, requests, results and signed reports.",
      answer: views.TransactionView,
      run: find(
        async (network, param) => {
          if (!SUBJECTS.tx.test(param("hash"))) return undefined;
          const found = await explorer.findTransaction(network, param("hash") as Hex);
          if (found === undefined) return undefined;
          const requests = await ownRequests.findIn(network, found);
          return requests.length === 0 ? found : { ...found, requests };
        },
        (title, param) =>
          SUBJECTS.tx.test(param("hash"))
            ? `${title} has no transaction ${param("hash")}. It may have been sent to a chain that has since been replaced, or its retention period may be over.`
            : `A transaction hash is 0x and 64 hex digits; ${param("hash")}${describeDigits(param("hash"), 64)}.`,
      ),
    }),
    reading({
      id: "exploreTransactions",
      path: "/networks/:network/transactions",
      summary: "List transactions",
      description: "The transactions of a chain, newest first, page by page.",
      request: "before",
      answer: views.TransactionList,
      run: find(async (network, _, before) => {
        const found = await explorer.findTransactions(network, before);
        return found && (await ownRequests.addTo(network, found)).view;
      }, isUnread),
    }),
    reading({
      id: "exploreBlocks",
      path: "/networks/:network/blocks",
      summary: "List blocks",
      description: "The blocks of a chain, newest first, page by page.",
      request: "before",
      answer: views.BlockListView,
      run: find((network, _, before) => explorer.findBlocks(network, before?.block), isUnread),
    }),
    reading({
      id: "exploreBlock",
      path: "/networks/:network/blocks/:number",
      summary: "Read a block",
      description:
        "A block with its transactions, and those of the service's own requests that they make or answer.",
      answer: views.BlockView,
      run: find(
        async (network, param) => {
          if (!SUBJECTS.block.test(param("number"))) return undefined;
          const found = await explorer.findBlock(network, BigInt(param("number")));
          if (found === undefined) return undefined;
          if (found.transactions.length === 0) return { ...found, transactions: [] };
          // Nodes that prune logs, or have no calls to spare, have the block all the same.
          const ids = await explorer.findRequestIds(network, BigInt(found.number)).catch(() => []);
          const { view, listed } = await ownRequests.addTo(network, found, ids);
          return { ...view, ...listed };
        },
        (title, param) => `${title} has no block ${param("number")}.`,
      ),
    }),
    reading({
      id: "exploreAddress",
      path: "/networks/:network/addresses/:address",
      summary: "Read an address",
      description:
        "What an address holds, and its transactions, newest first, page by page, with the requests and its events in them.",
      request: "before",
      answer: views.AddressView,
      run: findAt(async (network, address, before) => {
        const page = await explorer.findAddress(network, address, before);
        if (page === undefined) return undefined;
        const { view, listed } = await ownRequests.addTo(network, page);
        return { ...view, ...listed };
      }),
    }),
    reading({
      id: "exploreTransfers",
      path: "/networks/:network/addresses/:address/transfers",
      summary: "List an address's transfers of LINK",
      description:
        "The LINK that an address sent and received, newest first, page by page; of the token itself, all that was moved. A page may be empty although older pages are not: `searched` has the blocks that it covers.",
      request: "before",
      answer: views.TransferList,
      run: findAt(async (network, address, before) => {
        const page = await explorer.findTransfers(network, address, before);
        return page && (await ownRequests.addTo(network, page)).view;
      }),
    }),
    reading({
      id: "exploreContractRequests",
      path: "/networks/:network/addresses/:address/contractRequests",
      summary: "List requests that a contract made",
      description:
        "The requests that a contract other than the service's own made itself, newest first, page by page, each with its outcome; of the contracts that take requests, those of all such contracts. `searched` has the blocks that a page covers.",
      request: "before",
      answer: views.ContractRequestList,
      run: findAt((network, address, before) => explorer.findContractRequests(network, address, before)),
    }),
    reading({
      id: "exploreContract",
      path: "/networks/:network/addresses/:address/contract",
      summary: "Read a contract's code and source",
      description:
        "The code of a contract; of the service's own, source, interface and build, compared with that code.",
      answer: views.ContractView,
      run: findAt(
        (network, address) => explorer.findContract(network, address),
        (address) => `${address} is not a contract: it has no code.`,
      ),
    }),
  ];
}

/** Returns what wraps a read on the path's network: it returns what was found, or throws why nothing was. `before`: where the page begins. */
function createFind(service: Service, explorer: Explorer) {
  const titleOf = (network: string): string => service.findNetwork(network)?.title ?? network;
  /** Throws if a network has nothing to show at all, with the reason. */
  const checkNetwork = (network: string): void => {
    const view = service.findNetwork(network);
    if (view === undefined || !explorer.has(network)) {
      const names = service.networks().map(({ name }) => name);
      throw new TycheError(
        `There is no network ${JSON.stringify(network)} here. There are ${names.join(", ")}.`,
        { code: "not_found", blame: "caller" },
      );
    }
    if (view.status !== "serving") {
      const seen = explorer.findSeenHead(network);
      throw new UnreadableChainError(view.title, view.statusDetail ?? "it is starting", seen?.number);
    }
  };
  return <View extends object>(
    read: (
      network: string,
      param: (name: string) => string,
      before: ListCursor | undefined,
    ) => Promise<View | undefined>,
    missing: (title: string, param: (name: string) => string) => string,
  ) =>
    async ({ param, values }: OperationCall<{ readonly before?: string }>): Promise<View> => {
      const network = param("network");
      const view = service.findNetwork(network)
        ? await read(network, param, parseBefore(values.before)).catch((error: unknown) => {
            // What is known of the network says more than that its node broke off.
            checkNetwork(network);
            throw error;
          })
        : undefined;
      if (view !== undefined) return view;
      checkNetwork(network);
      throw new TycheError(missing(titleOf(network), param), { code: "not_found", blame: "caller" });
    };
}

/** What is looked for on all chains. */
function searchOperations(
  reading: Reading,
  service: Service,
  { explorer }: ExplorerParts,
): readonly Operation[] {
  const counter = createCallCounter();
  const countScan = (who: string): Promise<void> =>
    countWithin(
      counter,
      { ...SCANS, who },
      `More than ${SCANS.quota} lists of requests with a text or of an organiser, or searches for a text, in a minute from one address`,
    );
  return [
    reading({
      id: "exploreRequests",
      path: "/requests",
      summary: "List requests on chain",
      description:
        "The presets, functions and random numbers that were requested of this service, of all dapps, newest first, page by page: what is on chain of them. What contracts request by themselves is not listed.",
      request: "onChain",
      answer: views.RequestSummaryPage,
      async run({ ctx, values }) {
        if (values.text !== undefined || values.dapp !== undefined) await countScan(addressGroup(ctx.ip));
        return await service.listOnChain(values);
      },
    }),
    reading({
      id: "search",
      path: "/search",
      summary: "Search all chains",
      description:
        "Searches every network for a transaction or block hash or its beginning (8 digits or more), a block number, an address, part of the name of a contract, preset or network, the id of a request, part of its label or (of the newest thousand) its title or result, or the id of the dapp that gave it the label, with or without `0x`.",
      request: "search",
      answer: views.SearchResult,
      run({ ctx, values: { q, network, before } }) {
        if (before !== undefined && network === undefined)
          throw new InvalidParameterError([
            { path: "/before", message: "needs a network; send network, too" },
          ]);
        return searchEverywhere(q, {
          explorer,
          service,
          preferred: network,
          before: parseBefore(before),
          countScan: () => countScan(addressGroup(ctx.ip)),
        });
      },
    }),
  ];
}

/** A request's result, and what a check of it reads. */
function resultOperations(
  reading: Reading,
  service: Service,
  { verifier }: ExplorerParts,
): readonly Operation[] {
  const networkOfResult = remember(RECORDED_MS, async (id: string) => (await service.getShared(id)).network);
  const record = remember(RECORDED_MS, async (id: string) => {
    const shared = await service.getShared(id);
    if (!("outcome" in shared)) throw new NotFoundError(`chain data of ${id}: ${shared.why}`);
    const { network, outcome } = shared;
    const tx = outcome.url.split("/").at(-1) as Hex;
    return await verifier.record({ network, tx, requestId: outcome.requestId });
  });
  return [
    reading({
      id: "readSharedResult",
      path: "/results/:id",
      summary: "Read a shared result",
      description:
        "The result of a request, with its parameters, and its dapp's id if it has a label: the content of the page `/r/{id}`. " +
        "Of a request without a result, `why` says what it waits for, or that it failed.",
      answer: views.Shared,
      run: ({ param }) => service.getShared(param("id")),
    }),
    reading({
      id: "readChainData",
      path: "/results/:id/chainData",
      summary: "Read the chain data of a shared result",
      description:
        "All that a check of the result reads of the chain, as the service's node answers: the page `/r/{id}` makes that check in the browser. " +
        "It takes no other requests with the same label from further back than `verifyTransaction` does. `/verifier.html` takes it as chain data.",
      answer: views.ChainData,
      networkOf: (param) => networkOfResult(param("id")),
      run: ({ param }) => record(param("id")),
    }),
  ];
}

function isNoAddress(text: string): string {
  return `An address is 0x and 40 hex digits; ${text}${describeDigits(text, 40)}.`;
}

/** Says in what a hash or address is not one. */
function describeDigits(text: string, wanted: number): string {
  const digits = /^0x([0-9a-f]*)$/i.exec(text)?.[1]?.length;
  if (digits === undefined) return " is not";
  const difference = Math.abs(digits - wanted);
  return ` has ${digits}, ${difference} too ${digits < wanted ? "few" : "many"}`;
}

/** Returns why nothing is read of a network whose node doesn't answer. */
function describeSilence(network: string, service: Service, explorer: Explorer): UnreadableChainError {
  const { title = network, statusDetail } = service.findNetwork(network) ?? {};
  const { number, agoMs = 0 } = explorer.findSeenHead(network) ?? {};
  const reason = statusDetail ?? `its node has not answered for ${Math.round(agoMs / 1000)} seconds`;
  return new UnreadableChainError(title, reason, number);
}

/** Parses the position at which a page begins. Throws {@link InvalidParameterError}. */
export function parseBefore(before: string | undefined): ListCursor | undefined {
  if (before === undefined) return undefined;
  const cursor = parseCursor(before);
  if (cursor !== undefined) return cursor;
  const message = "must be a block number, or one with a position in the block, such as 120.3";
  throw new InvalidParameterError([{ path: "/before", message }]);
}

/** A chain is temporarily unreadable. */
export class UnreadableChainError extends TycheError {
  /** @param seen the newest block that was seen of it. */
  constructor(title: string, reason: string, seen?: bigint) {
    const known = seen === undefined ? "" : ` The newest block seen here is ${seen}.`;
    super(`${title} can't be read now: ${reason}.${known} Try again in a few seconds.`, {
      code: "chain_unavailable",
      blame: "us",
      expose: true,
      retryable: true,
      details: { retryAfterMs: 2000 },
    });
  }
}
