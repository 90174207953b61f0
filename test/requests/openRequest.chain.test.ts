import { expect, test } from "vitest";
import { REQUEST_KINDS } from "../../src/domain/vocabulary.ts";
import { parseStoredRequest } from "../../src/requests/openRequest.ts";
import { makeRequest } from "../support/pipelineWorld.ts";
import type { StoredRequest } from "../../src/store/requests.ts";

const HASH = `0x${"12".repeat(32)}`;
const ADDRESS = `0x${"34".repeat(20)}`;

test.each(REQUEST_KINDS)("a %s request is parsed as it was stored", (kind) => {
  const request = JSON.parse(JSON.stringify(makeRequest(kind, ADDRESS))) as StoredRequest;
  expect(parseStoredRequest(structuredClone(request))).toEqual(request);
});

test.each([
  ["a preset without its arguments", "preset", { progress: { sourceHash: HASH } }],
  [
    "a function whose source is no text",
    "function",
    { params: { source: 1, args: [], returnType: "string" } },
  ],
  ["random words without a number", "random", { params: { confirmations: 1, keyHash: HASH } }],
  ["a linking of no address", "consumer", { params: { dappId: "dapp_1", consumer: "somewhere" } }],
  ["an unlinking with a nonce that is no number", "unlink", { progress: { nonce: "7" } }],
  ["an outcome without its transaction", "random", { outcome: { requestId: HASH, words: ["1"] } }],
] as const)("%s is a damaged record", (_, kind, change) => {
  const stored = { ...makeRequest(kind, ADDRESS), ...change } as StoredRequest;
  expect(() => parseStoredRequest(stored)).toThrow(
    `the ${kind} request ${stored.id} in the database is damaged`,
  );
});
