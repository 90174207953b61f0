import type { Hex } from "viem";
import type { RawLog } from "../evm/client.ts";
import { applyChange, isEnded } from "./change.ts";
import type { Change } from "./change.ts";
import type { OpenRequest } from "./openRequest.ts";
import { createRequestIndex } from "./requestIndex.ts";
import type { RequestIndex } from "./requestIndex.ts";

/** Finds requests by what the chain calls them. */
export type RequestFinder = Pick<RequestIndex, "ofTransaction" | "ofVrfRequest" | "ofFunctionsRequest">;

/** What the logs of one block change. Each log is read as if what the ones before it change were stored already. */
export interface BlockDraft extends RequestFinder {
  /** The changes so far, each of a stored request. */
  readonly changes: readonly Change[];
  /** Adds a change that a log brings, of a request that this draft has found. */
  add(change: Change, log: Pick<RawLog, "blockNumber" | "blockHash">): void;
}

/** Creates an empty draft over the requests of an index, which it leaves as they are. */
export function createBlockDraft(index: RequestFinder): BlockDraft {
  const changes: Change[] = [];
  const drafts = new Map<OpenRequest, OpenRequest>();
  const originals = new Map<OpenRequest, OpenRequest>();
  const draftIndex = createRequestIndex();

  const finder =
    (by: keyof RequestFinder) =>
    (name: Hex): OpenRequest[] => [
      // What ended otherwise stays so: words that come too late change nothing.
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
