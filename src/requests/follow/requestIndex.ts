import type { Hex } from "viem";
import type { OpenRequest } from "../openRequest.ts";
import type { RawLog } from "../../evm/client.ts";
import { applyChange, isEnded } from "../change.ts";
import type { Change } from "../change.ts";

/** Finds open requests by their on-chain identifiers. */
export interface RequestIndex {
  /** Adds a request, or reindexes it by its current progress. */
  set(request: OpenRequest): void;
  delete(request: OpenRequest): void;
  ofTransaction(hash: Hex): readonly OpenRequest[];
  ofVrfRequest(id: Hex): readonly OpenRequest[];
  ofFunctionsRequest(id: Hex): readonly OpenRequest[];
  all(): readonly OpenRequest[];
}

/** Creates an empty index. */
export function createRequestIndex(): RequestIndex {
  /** By transaction hash, VRF request id and Functions request id: 32 bytes each, which don't collide. */
  const byName = new Map<Hex, Set<OpenRequest>>();
  const namesOf = new Map<OpenRequest, readonly Hex[]>();

  const remove = (request: OpenRequest): void => {
    for (const name of namesOf.get(request) ?? []) {
      const requests = byName.get(name);
      requests?.delete(request);
      if (requests?.size === 0) byName.delete(name);
    }
    namesOf.delete(request);
  };
  const find = (name: Hex): readonly OpenRequest[] => [...(byName.get(name) ?? [])];

  return {
    set(request) {
      remove(request);
      const { transactionHashes = [], vrfRequestId, functionsRequestId, parts = [] } = request.progress;
      const names = [...transactionHashes];
      if (vrfRequestId !== undefined) names.push(vrfRequestId);
      if (functionsRequestId !== undefined) names.push(functionsRequestId);
      // The first part has the request's own id.
      for (const { id } of parts.slice(1)) names.push(id);
      namesOf.set(request, names);
      for (const name of names) {
        const requests = byName.get(name);
        if (requests === undefined) byName.set(name, new Set([request]));
        else requests.add(request);
      }
    },
    delete: remove,
    ofTransaction: find,
    ofVrfRequest: find,
    ofFunctionsRequest: find,
    all: () => [...namesOf.keys()],
  };
}

/** Finds requests by their on-chain identifiers. */
export type RequestFinder = Pick<RequestIndex, "ofTransaction" | "ofVrfRequest" | "ofFunctionsRequest">;

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

  const finder =
    (by: keyof RequestFinder) =>
    (name: Hex): OpenRequest[] => [
      // A request that ended otherwise stays ended: late words change nothing.
      ...index[by](name).filter((request) => !drafts.has(request) && !isEnded(request.state)),
      ...draftIndex[by](name),
    ];

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
    ofTransaction: finder("ofTransaction"),
    ofVrfRequest: finder("ofVrfRequest"),
    ofFunctionsRequest: finder("ofFunctionsRequest"),
  };
}
