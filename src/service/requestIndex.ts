import type { Hex } from "viem";
import type { OpenRequest } from "./requestBook.ts";

/** Finds the requests in work by what the chain calls them. Remove one before its progress changes, and add it again after. */
export interface RequestIndex {
  add(request: OpenRequest): void;
  remove(request: OpenRequest): void;
  ofTransaction(hash: Hex): readonly OpenRequest[];
  ofVrfRequest(id: Hex): readonly OpenRequest[];
  ofFunctionsRequest(id: Hex): OpenRequest | undefined;
  all(): readonly OpenRequest[];
}

/** Makes an empty index. */
export function createRequestIndex(): RequestIndex {
  const byTransaction = new Map<Hex, OpenRequest[]>();
  const byVrfRequest = new Map<Hex, OpenRequest[]>();
  const byFunctionsRequest = new Map<Hex, OpenRequest>();

  return {
    add(request) {
      const { transactionHashes = [], vrfRequestId, functionsRequestId } = request.progress;
      for (const hash of transactionHashes) addTo(byTransaction, hash, request);
      if (vrfRequestId !== undefined) addTo(byVrfRequest, vrfRequestId, request);
      if (functionsRequestId !== undefined) byFunctionsRequest.set(functionsRequestId, request);
    },
    remove(request) {
      const { transactionHashes = [], vrfRequestId, functionsRequestId } = request.progress;
      for (const hash of transactionHashes) removeFrom(byTransaction, hash, request);
      if (vrfRequestId !== undefined) removeFrom(byVrfRequest, vrfRequestId, request);
      if (functionsRequestId !== undefined) byFunctionsRequest.delete(functionsRequestId);
    },
    ofTransaction: (hash) => byTransaction.get(hash) ?? [],
    ofVrfRequest: (id) => byVrfRequest.get(id) ?? [],
    ofFunctionsRequest: (id) => byFunctionsRequest.get(id),
    all: () => [...new Set([...byTransaction.values()].flat())],
  };
}

function addTo(map: Map<Hex, OpenRequest[]>, key: Hex, request: OpenRequest): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [request]);
  else if (!list.includes(request)) list.push(request);
}

function removeFrom(map: Map<Hex, OpenRequest[]>, key: Hex, request: OpenRequest): void {
  const rest = map.get(key)?.filter((one) => one !== request) ?? [];
  if (rest.length === 0) map.delete(key);
  else map.set(key, rest);
}
