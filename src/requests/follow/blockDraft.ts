import type { Hex } from "viem";
import type { RawLog } from "../../evm/client.ts";
import { applyChange, isEnded } from "../change.ts";
import type { Change } from "../change.ts";
import type { OpenRequest } from "../openRequest.ts";
import { createRequestIndex } from "./requestIndex.ts";
import type { RequestIndex } from "./requestIndex.ts";

/** Finds requests by their on-chain identifiers. */
export type RequestFinder = Pick<RequestIndex, "ofTransaction" | "ofVrfRequest" | "ofFunctionsRequest">;

/** The changes that one block's logs bring. Each log is read as if the changes of the earlier ones were already stored. */
export interface BlockDraft extends RequestFinder {
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
