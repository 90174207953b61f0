import type { Hex } from "viem";
import type { OpenRequest } from "../openRequest.ts";

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
