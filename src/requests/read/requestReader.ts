import type { Hex } from "viem";
import { NotFoundError } from "../../lib/errors.ts";
import { canonicalLabel, spellingOf } from "../../domain/label.ts";
import {
  listRequests,
  listRequestsByOracleIds,
  listRequestsByPrefix,
  listRequestsOnChain,
} from "../../store/requestLists.ts";
import { oracleIdOf, type OnDamaged, type StoredRequest } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import { listTransactionsByPrefix } from "../../store/transactions.ts";
import { assertCursor } from "../../domain/readPage.ts";
import {
  isLinking,
  ownParamsOf,
  parseStoredRequest,
  beaconOfRequest,
  type OpenRequest,
  type SubmittedRequest,
} from "../openRequest.ts";
import { DamagedRecordError } from "../../store/checksum.ts";
import { describeOpenly, presentRequest, resultLineOf } from "./present.ts";
import { findDappName } from "../../store/dapps.ts";
import type { RequestBook } from "../requestBook.ts";
import type { RequestSummary, SharedRequest, SearchHit, StateChange } from "../../api/types.ts";
import { titlesOf } from "../../text/parameterTitles.ts";
import type { PresetRegistry } from "../../presets/presetRegistry.ts";
import type { OnChainPage, RequestRecord, Service } from "../service.ts";
import { FIRST_DAPP_NAME } from "../../dapps/dapps.ts";
import type { Dapp } from "../../dapps/dapp.ts";
import type { ServiceNetwork } from "../serviceNetwork.ts";
import { readPatiently } from "../../store/databaseAway.ts";
import { isEnded, REQUEST_STATES } from "../../domain/vocabulary.ts";
import { nameFunction } from "../../text/sharedResult.ts";

/** An id that the oracle network assigned: 32 bytes. */
const ORACLE_ID = /^0x[0-9a-fA-F]{64}$/;

const OPEN_STATES = REQUEST_STATES.filter((state) => !isEnded(state));

/** Entries per page of the requests on chain. */
const PAGE_ENTRIES = 25;

/** Reads requests for callers. */
interface RequestReader extends Pick<
  Service,
  "getShared" | "listOnChain" | "searchPrefix" | "findOnChain" | "listRequests"
> {
  /** Returns the record of a request as stored. */
  readonly present: (request: OpenRequest) => RequestRecord;
  /** Returns the record with what a pending request waits for. Queries the chain. */
  readonly explain: (request: OpenRequest) => Promise<RequestRecord>;
  /** Reads one of the dapp's own requests, by its id or the oracle's. Throws `not_found` for an unknown id and for another dapp's request alike. */
  readonly getOwn: (dapp: Dapp, id: string) => Promise<OpenRequest>;
}

interface ReaderOptions {
  readonly store: Store;
  readonly book: RequestBook;
  /** By name. Requests of a network that isn't configured any more remain readable. */
  readonly networks: ReadonlyMap<string, ServiceNetwork>;
  readonly registry: Pick<PresetRegistry, "find">;
  /** Address of this service for callers, without a trailing slash. */
  readonly baseUrl: () => string;
}

/** Creates the reader of all networks' requests. */
export function createRequestReader(options: ReaderOptions): RequestReader {
  const { store, book, networks } = options;
  const { present, openly, withoutResult, isWanted, summarize } = createViews(options);

  /** Says why a network sends nothing. */
  const describeAbsence = (name: string): string => {
    const network = networks.get(name);
    if (network === undefined) return `${name} is not configured any more`;
    return `${name} does not serve: ${network.view().statusDetail ?? "it is starting"}`;
  };

  /** Reads a page of requests without the damaged ones, and the ids of all of them, newest first. */
  const readPage = async (
    read: (onDamaged: OnDamaged) => Promise<StoredRequest[]>,
  ): Promise<{ readonly rows: readonly OpenRequest[]; readonly ids: readonly string[] }> => {
    const ids: string[] = [];
    const rows = await book.damaged.read(async (onDamaged) => {
      const found = await read((row) => {
        ids.push(row.id);
        onDamaged(row);
      });
      ids.push(...found.map(({ id }) => id));
      return found;
    });
    return { rows, ids: ids.toSorted((a, b) => (a < b ? 1 : -1)) };
  };

  return {
    present,
    async listOnChain({ network, preset, kind, state, text, dapp, cursor }) {
      assertCursor(cursor, "req");
      const page = {
        networks: network === undefined ? [...networks.keys()] : [network],
        limit: PAGE_ENTRIES + 1,
        before: cursor,
        preset,
        kind,
        dappId: dapp,
        states: state === "waiting" ? OPEN_STATES : state && [state],
        accepts: text === undefined && dapp === undefined ? undefined : isWanted({ text, dapp }),
      };
      let end: string | null = null;
      let matches: OnChainPage["matches"];
      const { rows, ids } = await readPage(async (onDamaged) => {
        const found = await listRequestsOnChain(store.db, page, onDamaged);
        ({ end, matches } = found);
        return found.rows;
      });
      const last = ids.length > PAGE_ENTRIES ? ids[PAGE_ENTRIES - 1]! : end;
      const items = rows.filter(({ id }) => last === null || id >= last).flatMap(summarize);
      return { items, nextCursor: last, ...(matches === undefined ? {} : { matches }) };
    },
    async searchPrefix(prefix) {
      const { rows } = await readPage((onDamaged) => listRequestsByPrefix(store.db, prefix, onDamaged));
      const transactions = prefix.startsWith("0x") ? await listTransactionsByPrefix(store.db, prefix) : [];
      return {
        transactions: transactions
          .filter(({ network }) => networks.has(network))
          .map(({ network, hash }): SearchHit => ({ network, kind: "transaction", transactionHash: hash })),
        requests: rows.flatMap(summarize),
      };
    },
    async findOnChain(network, oracleIds) {
      const asked = { network, oracleIds };
      const { rows } = await readPage((onDamaged) => listRequestsByOracleIds(store.db, asked, onDamaged));
      return rows.flatMap(summarize);
    },
    async explain(request) {
      if (isEnded(request.state) || request.state === "checking") return present(request);
      const intake = networks.get(request.network)?.intake();
      return present({
        ...request,
        why: intake === undefined ? describeAbsence(request.network) : await intake.explain(request),
      });
    },
    async getOwn(dapp, id) {
      const request = ORACLE_ID.test(id)
        ? await book.findByOracleId(dapp.id, id.toLowerCase() as Hex)
        : await book.find(id);
      if (request?.dappId !== dapp.id) throw new NotFoundError(`request ${id}`);
      return request;
    },
    async getShared(id) {
      const request = await book.find(id);
      if (request === undefined || isLinking(request))
        throw new NotFoundError(`result ${JSON.stringify(id)}`);
      const { network, updatedAt, shown, outcome } = present(request);
      const shared =
        outcome === null || !("requestId" in outcome)
          ? withoutResult(request)
          : {
              id,
              network,
              updatedAt,
              outcome,
              ...openly(request),
              ...(shown === undefined ? {} : { shown }),
            };
      const dappName = shared.dappId && (await findDappName(store.db, shared.dappId));
      return { ...shared, ...(dappName === undefined || dappName === FIRST_DAPP_NAME ? {} : { dappName }) };
    },
    async listRequests(dapp, { limit, cursor, ...filter }) {
      assertCursor(cursor, "req");
      const page = { dappId: dapp.id, limit: limit + 1, before: cursor, ...filter };
      const { rows, ids } = await readPage((onDamaged) => listRequests(store.db, page, onDamaged));
      const last = ids.length > limit ? ids[limit - 1]! : null;
      const items = rows
        .filter(({ id }) => last === null || id >= last)
        .map((row) => {
          if (isEnded(row.state) || row.state === "checking") return present(row);
          const intake = networks.get(row.network)?.intake();
          const why =
            intake === undefined
              ? describeAbsence(row.network)
              : (row.why ?? intake.explained(row.id)?.why ?? null);
          return present({ ...row, why });
        });
      return { items, nextCursor: last };
    },
  };
}

/** Creates what is shown of requests: to their dapp, and to anybody. */
function createViews({ networks, registry, baseUrl }: ReaderOptions) {
  const shareUrlOf = (id: string): string => `${baseUrl()}/r/${id}`;

  const present = (request: OpenRequest): RequestRecord =>
    presentRequest(request, {
      explorer: networks.get(request.network)?.explorerUrl,
      share: shareUrlOf(request.id),
    });

  /** Names what a request on chain runs; nothing for random numbers, and for what isn't known here any more. */
  const titleOf = ({ kind, params, payloadDeletedAt }: OpenRequest): { readonly title?: string } => {
    const title =
      kind === "preset"
        ? registry.find(params.preset)?.title
        : kind === "function" && payloadDeletedAt === undefined
          ? nameFunction(params)
          : undefined;
    return title === undefined ? {} : { title };
  };

  /** Returns what anybody may know of a request that is on chain; of a label, how it was spelled, which only its canonical form fixes there. */
  const openly = (request: SubmittedRequest) => {
    const { kind, dappId, params, progress, payloadDeletedAt } = request;
    const installed = kind === "preset" ? registry.find(params.preset) : undefined;
    const requestedIn = progress.transactionHashes?.at(-1);
    return {
      ...(kind === "preset" ? { preset: params.preset } : {}),
      ...titleOf(request),
      ...(installed === undefined ? {} : { parameterTitles: titlesOf(installed) }),
      ...(payloadDeletedAt === undefined ? inputsOf(request) : {}),
      ...(params.label === undefined ? {} : { dappId, ...spellingOf(request.progress) }),
      ...(requestedIn === undefined ? {} : { requestedIn }),
    };
  };

  /** Returns what anybody may know of a request without a result: nothing that is neither on chain nor in its id. */
  const withoutResult = (request: SubmittedRequest): SharedRequest => {
    const { id, kind, network, createdAt, progress, state } = request;
    const beacon = beaconOfRequest(request);
    const isWaiting = state !== "failed";
    const common: SharedRequest = {
      id,
      state: isWaiting ? "waiting" : "failed",
      why: describeOpenly(request, networks.get(request.network)?.intake()?.explained(id)?.isBeaconLate),
      createdAt: new Date(createdAt).toISOString(),
      shareUrl: shareUrlOf(id),
      ...(isWaiting && beacon !== undefined ? { beacon } : {}),
    };
    if (progress.acceptedBlock === undefined) return common;
    const { label } = request.params;
    const requestId = (oracleIdOf(request) as Hex | null) ?? progress.vrfRequestId;
    return {
      ...common,
      kind,
      network,
      ...(requestId === undefined ? {} : { requestId }),
      ...(label === undefined ? {} : { label }),
      ...openly(request),
    };
  };

  /**
   * Returns a filter by what a list shows of a request: its preset's name, its title, label or result contains the text; with its label, its
   * dapp is on chain.
   */
  const isWanted = ({
    text,
    dapp,
  }: {
    readonly text?: string | undefined;
    readonly dapp?: string | undefined;
  }) => {
    const wanted = canonicalLabel(text ?? "");
    return (stored: StoredRequest): boolean => {
      const request = findIntact(stored);
      // The page leaves it out, and reports it.
      if (request === undefined) return true;
      const { label } = request.params as { readonly label?: string };
      if (dapp !== undefined && label === undefined) return false;
      const preset = request.kind === "preset" ? request.params.preset : undefined;
      const shown = [preset, titleOf(request).title, label, resultLineOf(request)];
      return shown.some((one) => one?.toLowerCase().includes(wanted) ?? false);
    };
  };

  const summarize = (request: OpenRequest): RequestSummary[] => {
    const requestId = oracleIdOf(request) as Hex | null;
    if (requestId === null || isLinking(request)) return [];
    const { id, dappId, network, kind, params, createdAt, state } = request;
    const { label } = params;
    const { timeline } = present(request);
    const result = resultLineOf(request);
    const { transactionHash } = timeline.findLast((one) => one.transactionHash !== undefined) ?? {};
    return [
      {
        id,
        requestId,
        network,
        kind,
        at: new Date(createdAt).toISOString(),
        state,
        ...titleOf(request),
        ...(label === undefined ? {} : { label, dappId, ...spellingOf(request.progress) }),
        ...(result === null ? {} : { success: state === "fulfilled", result }),
        ...(transactionHash === undefined ? {} : { transactionHash: transactionHash as Hex }),
      },
    ];
  };

  return { present, openly, withoutResult, isWanted, summarize };
}

/** Returns what is on chain of what a request gave its source. */
function inputsOf({ kind, params }: SubmittedRequest): Pick<SharedRequest, "params" | "args"> {
  if (kind === "preset") return { params: ownParamsOf(params) };
  return kind === "function" ? { args: params.args } : {};
}

function findIntact(stored: StoredRequest): OpenRequest | undefined {
  try {
    return parseStoredRequest(stored);
  } catch (error) {
    if (error instanceof DamagedRecordError) return undefined;
    throw error;
  }
}

/** A request as a search finds it; none until a transaction of it is known. */
export function hitOf(request: RequestSummary): SearchHit[] {
  const { network, kind, requestId, label, title, result, at, transactionHash } = request;
  if (transactionHash === undefined) return [];
  const isAnswered = result !== undefined;
  return [
    {
      network,
      kind,
      requestId,
      isAnswered,
      transactionHash,
      at,
      ...(label === undefined ? {} : { label }),
      ...spellingOf(request),
      ...(title === undefined ? {} : { title }),
      ...(result === undefined ? {} : { result }),
    },
  ];
}

/**
 * Waits until a request has ended, `timeoutMs` has passed or `signal` aborts; returns the request as it is then. Retries
 * while the database is away.
 *
 * @throws {NotFoundError} for an unknown id.
 */
export async function waitForEnd(
  book: RequestBook,
  id: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<OpenRequest> {
  const { promise: woken, resolve: wake } = Promise.withResolvers<OpenRequest | undefined>();
  const stop = book.listen(id, (request) => {
    if (isEnded(request.state)) wake(request);
  });
  const over = new AbortController();
  const giveUp = (): void => {
    over.abort();
    wake(undefined);
  };
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener("abort", giveUp);
  try {
    if (book.get(id) === undefined) {
      const stored = await readPatiently(() => getRequest(book, id), over.signal);
      if (isEnded(stored.state)) return stored;
    }
    const ended = signal?.aborted ? undefined : await woken;
    return ended ?? (await readPatiently(() => getRequest(book, id), over.signal));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    stop();
  }
}

async function getRequest(book: RequestBook, id: string): Promise<OpenRequest> {
  const request = await book.find(id);
  if (request === undefined) throw new NotFoundError(`request ${id}`);
  return request;
}

/**
 * Yields every entry of a request's timeline after `afterSeq` as it is stored; returns after the one that ends the request,
 * or when `signal` aborts.
 *
 * @param read reads the stored request; what it throws ends the watch, except while the database is away.
 */
export async function* watchTimeline(
  book: RequestBook,
  id: string,
  options: {
    readonly read: () => Promise<RequestRecord>;
    readonly afterSeq: number;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<StateChange, void> {
  const { read, signal } = options;
  let changed = Promise.withResolvers<void>();
  const stop = book.listen(id, () => changed.resolve());
  const end = (): void => changed.resolve();
  signal.addEventListener("abort", end);
  try {
    let seen = options.afterSeq;
    while (!signal.aborted) {
      const next = Promise.withResolvers<void>();
      const request = await readPatiently(read, signal);
      for (const entry of request.timeline) {
        if (entry.seq <= seen) continue;
        seen = entry.seq;
        yield entry;
      }
      if (isEnded(request.state)) return;
      await changed.promise;
      changed = next;
    }
  } finally {
    signal.removeEventListener("abort", end);
    stop();
  }
}
