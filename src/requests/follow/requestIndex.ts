import type { Hex } from "viem";
import type { OpenRequest } from "../openRequest.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";
import { applyChange, type Change } from "../requestBook.ts";
import { isEnded } from "../../lib/vocabulary.ts";

/** Finds open requests by their on-chain identifiers. */
export interface RequestIndex {
  /** Adds a request, or reindexes it by its current progress. */
  set(request: OpenRequest): void;
  delete(request: OpenRequest): void;
  /** Returns the requests with a transaction hash, a VRF request id or a Functions request id: 32 bytes each, which don't collide. */
  find(id: Hex): readonly OpenRequest[];
  all(): readonly OpenRequest[];
}

/** Creates an empty index. */
export function createRequestIndex(): RequestIndex {
  const byId = new Map<Hex, Set<OpenRequest>>();
  const idsOf = new Map<OpenRequest, readonly Hex[]>();

  const remove = (request: OpenRequest): void => {
    for (const id of idsOf.get(request) ?? []) {
      const requests = byId.get(id);
      requests?.delete(request);
      if (requests?.size === 0) byId.delete(id);
    }
    idsOf.delete(request);
  };

  return {
    set(request) {
      remove(request);
      const { transactionHashes = [], vrfRequestId, functionsRequestId, parts = [] } = request.progress;
      const ids = [...transactionHashes];
      if (vrfRequestId !== undefined) ids.push(vrfRequestId);
      if (functionsRequestId !== undefined) ids.push(functionsRequestId);
      // The first part has the request's own id.
      for (const { id } of parts.slice(1)) ids.push(id);
      idsOf.set(request, ids);
      for (const id of ids) {
        const requests = byId.get(id);
        if (requests === undefined) byId.set(id, new Set([request]));
        else requests.add(request);
      }
    },
    delete: remove,
    find: (id) => [...(byId.get(id) ?? [])],
    all: () => [...idsOf.keys()],
  };
}

/** Finds requests by their on-chain identifiers. */
export type RequestFinder = Pick<RequestIndex, "find">;

/** The changes that one block's logs bring. Each log is read as if the changes of the earlier ones were already stored. */
interface BlockDraft extends RequestFinder {
  /** The changes so far; each refers to the stored request, not to its draft. */
  readonly changes: readonly Change[];
  /** Adds the change that a log brings to a request found through this draft. */
  add(change: Change, log: Pick<RawLog, "blockNumber" | "blockHash">): void;
}

/** Creates an empty draft over the requests of an index, without modifying them. */
export function createBlockDraft(index: RequestFinder): BlockDraft {
  const changes: Change[] = [];
  const drafts = new Map<OpenRequest, OpenRequest>();
  const originals = new Map<OpenRequest, OpenRequest>();
  const draftIndex = createRequestIndex();

  return {
    changes,
    add(change, { blockNumber, blockHash }) {
      const request = originals.get(change.request) ?? change.request;
      const drafted = drafts.get(request) ?? { ...request };
      applyChange(drafted, change, Date.now());
      drafts.set(request, drafted);
      originals.set(drafted, request);
      if (isEnded(drafted.state)) {
        draftIndex.delete(drafted);
        changes.push({ ...change, request, endedIn: { number: Number(blockNumber), hash: blockHash } });
      } else {
        draftIndex.set(drafted);
        changes.push({ ...change, request });
      }
    },
    find: (id) => [
      // A request that ended otherwise stays ended: late words change nothing.
      ...index.find(id).filter((request) => !drafts.has(request) && !isEnded(request.state)),
      ...draftIndex.find(id),
    ],
  };
}
