import { encodeErrorResult, parseAbi, type Hex } from "viem";
import { expect, test } from "vitest";
import type { ChainEvent } from "../../../src/chainlink/events.ts";
import { changesOf } from "../../../src/requests/follow/logChanges.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import { makeRequest } from "../../support/pipelineWorld.ts";

const WORD_IN: Hex = `0x${"ab".repeat(32)}`;
const reason = encodeErrorResult({ abi: parseAbi(["error InvalidConsumer()"]) });

/** Returns the state and the error that an event in the word's transaction leaves a preset with. */
function endOf(event: ChainEvent): unknown {
  const made = makeRequest("preset", "0x");
  const progress = {
    ...made.progress,
    item: 0,
    ...(event.name === "RequestTimedOut" ? { wordTransactionHash: WORD_IN } : {}),
  };
  const request = { ...made, progress } as OpenRequest;
  const find = {
    ofVrfRequest: () => [request],
    ofTransaction: () => [],
    ofFunctionsRequest: () => [request],
  };
  return changesOf(event, { transactionHash: WORD_IN, blockNumber: 7n }, find, () => ({})).at(-1);
}

test.each<[string, ChainEvent, string]>([
  [
    "whose function request is refused",
    { name: "PresetRefused", vrfRequestId: "0x7", item: 0, reason },
    "the function request did not follow: InvalidConsumer",
  ],
  [
    "whose callback fails",
    { name: "RandomWordsFulfilled", requestId: "0x7", outputSeed: 1n, paymentJuels: 5n, success: false },
    "the function request did not follow: the callback that passes the word on ran out of gas",
  ],
  [
    "whose function is never answered",
    { name: "RequestTimedOut", requestId: "0x8" },
    "the oracle network gave no result in time",
  ],
])("error: a preset %s says that its word had come, and where", (_what, event, why) => {
  expect(endOf(event)).toMatchObject({
    state: "failed",
    error: {
      message: expect.stringContaining(
        `the random word was on chain in the transaction ${WORD_IN}, but ${why}`,
      ) as string,
    },
  });
});
