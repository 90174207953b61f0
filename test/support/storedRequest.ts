import type { StoredRequest } from "../../src/store/requests.ts";

/** Creates a stored request; ids sort as the numbers they are made from. */
export const makeStoredRequest = (id: string, change: Partial<StoredRequest> = {}): StoredRequest => ({
  id: `req_${id.padStart(26, "0")}`,
  dappId: "dapp_a",
  kind: "random",
  network: "sepolia",
  params: { numWords: 1 },
  idempotencyKey: null,
  bodyHash: "hash",
  createdAt: 5,
  updatedAt: 5,
  state: "received",
  why: null,
  timeline: [{ seq: 1, state: "received", at: 5 }],
  progress: {},
  outcome: null,
  error: null,
  endedIn: null,
  version: 1,
  ...change,
});
