import type {
  ConsumerResult,
  DappDeletion,
  FunctionResult,
  PresetResult,
  RandomResult,
  SimulateResult,
} from "../../requests/read/results.ts";
import type { RequestView } from "../requestView.ts";
import {
  DAPP_ID,
  FLIP_ID,
  FLIP_PROOF_TX,
  FLIP_REPORT_TX,
  FLIP_REQUEST_TX,
  GAME_CONTRACT,
  KEY_HASH,
  LINK_TX,
  WORDS,
  WORDS_ID,
  WORDS_PROOF_TX,
  WORDS_REQUEST_ID,
  WORDS_REQUEST_TX,
  requestUrl,
  shareUrl,
  transactionUrl,
} from "./values.ts";

const FUNCTION_ID = "req_01m87yrkgbam9yzfdcbvf7dryf";
const CONSUMER_ID = "req_01m87yrrawapf82s1d6hb3wn7v";

/** A coin flip. */
export const presetAnswer: PresetResult = {
  success: true,
  id: FLIP_ID,
  vrfv2Hash: FLIP_PROOF_TX,
  vrfv2EventHash: transactionUrl(FLIP_PROOF_TX),
  requestId: "0x4c07469d6ec6ebb66c14c6403f620e625cf68468a220ffd053d21072048a4a5c",
  result: "0x0000000000000000000000000000000000000000000000000000000000000001",
  parsedResult: "1",
  value: true,
  err: "0x",
  url: transactionUrl(FLIP_REPORT_TX),
  shareUrl: shareUrl(FLIP_ID),
};

/** A coin flip that was accepted. */
export const acceptedPreset = accepted({
  id: FLIP_ID,
  kind: "preset",
  state: "received",
  at: "2026-11-24T23:37:53.144Z",
  params: { preset: "coinflip" },
});

/** Three random numbers. */
export const randomAnswer: RandomResult = {
  success: true,
  id: WORDS_ID,
  requestId: WORDS_REQUEST_ID,
  transactionHash: WORDS_PROOF_TX,
  url: transactionUrl(WORDS_PROOF_TX),
  shareUrl: shareUrl(WORDS_ID),
  randomNumber: WORDS,
  value: WORDS,
};

/** A request for random numbers that was accepted. */
export const acceptedRandom = accepted({
  id: WORDS_ID,
  kind: "random",
  state: "received",
  at: "2026-11-24T23:37:57.853Z",
  params: { numWords: 3, confirmations: 1, keyHash: KEY_HASH },
});

/** A function that doubles a number. */
export const functionAnswer: FunctionResult = {
  success: true,
  id: FUNCTION_ID,
  requestId: "0x0000f30e2794bb697579e80ef2e28b90379e058b5027f5158daa98d3d79bcd07",
  result: "0x000000000000000000000000000000000000000000000000000000000000002a",
  parsedResult: "42",
  value: "42",
  err: "0x",
  url: transactionUrl("0x2216294c78c2a610d97cbeb7c3745304e87294a8b82685a6d79b97b9b555eab2"),
  shareUrl: shareUrl(FUNCTION_ID),
};

/** A function that was accepted. */
export const acceptedFunction = accepted({
  id: FUNCTION_ID,
  kind: "function",
  state: "checking",
  at: "2026-11-24T23:37:54.443Z",
  params: {
    source: "return Functions.encodeUint256(BigInt(args[0]) * 2n);",
    args: ["21"],
    returnType: "uint256",
  },
});

/** A dry run of the same function. */
export const dryRunAnswer: SimulateResult = {
  success: true,
  result: "0x000000000000000000000000000000000000000000000000000000000000002a",
  parsedResult: "42",
  value: "42",
  err: "0x",
  console: "",
  consoleTruncated: false,
  timeMs: 7.8,
  memoryBytes: 883034,
  httpRequests: 0,
};

/** A contract that was linked or unlinked. */
export const consumerAnswer: ConsumerResult = { success: true, id: CONSUMER_ID, transactionHash: LINK_TX };

/** A link that was accepted. */
export const acceptedConsumer = accepted({
  id: CONSUMER_ID,
  kind: "consumer",
  state: "received",
  at: "2026-11-24T23:37:59.388Z",
  params: { dappId: DAPP_ID, consumer: GAME_CONTRACT },
});

/** The removal of a link that was accepted. */
export const acceptedUnlink = accepted({
  id: "req_01m87yrv5ta63rv982ttrh4dch",
  kind: "unlink",
  state: "received",
  at: "2026-11-24T23:38:02.298Z",
  params: { consumer: GAME_CONTRACT },
});

/** The coin flip with its timeline. */
export const requestAnswer: RequestView = {
  id: FLIP_ID,
  kind: "preset",
  network: "sepolia",
  params: { preset: "coinflip" },
  state: "fulfilled",
  why: null,
  createdAt: "2026-11-24T23:37:53.144Z",
  updatedAt: "2026-11-24T23:37:53.495Z",
  timeline: [
    { seq: 1, state: "received", at: "2026-11-24T23:37:53.144Z" },
    {
      seq: 2,
      state: "submitted",
      at: "2026-11-24T23:37:53.183Z",
      transactionHash: FLIP_REQUEST_TX,
      url: transactionUrl(FLIP_REQUEST_TX),
    },
    {
      seq: 3,
      state: "randomness",
      at: "2026-11-24T23:37:53.302Z",
      transactionHash: FLIP_PROOF_TX,
      url: transactionUrl(FLIP_PROOF_TX),
    },
    {
      seq: 4,
      state: "executing",
      at: "2026-11-24T23:37:53.302Z",
      transactionHash: FLIP_PROOF_TX,
      url: transactionUrl(FLIP_PROOF_TX),
    },
    {
      seq: 5,
      state: "fulfilled",
      at: "2026-11-24T23:37:53.495Z",
      transactionHash: FLIP_REPORT_TX,
      url: transactionUrl(FLIP_REPORT_TX),
    },
  ],
  outcome: presetAnswer,
  shown: { as: "coin", side: "Heads", index: 1 },
  error: null,
  statusUrl: requestUrl(FLIP_ID),
  shareUrl: shareUrl(FLIP_ID),
};

/** A page of requests. */
export const requestPage: { readonly items: readonly RequestView[]; readonly nextCursor: null } = {
  items: [
    {
      id: WORDS_ID,
      kind: "random",
      network: "sepolia",
      params: { numWords: 3, confirmations: 1, keyHash: KEY_HASH },
      state: "fulfilled",
      why: null,
      createdAt: "2026-11-24T23:37:57.853Z",
      updatedAt: "2026-11-24T23:37:58.022Z",
      timeline: [
        { seq: 1, state: "received", at: "2026-11-24T23:37:57.853Z" },
        {
          seq: 2,
          state: "submitted",
          at: "2026-11-24T23:37:57.887Z",
          transactionHash: WORDS_REQUEST_TX,
          url: transactionUrl(WORDS_REQUEST_TX),
        },
        {
          seq: 3,
          state: "fulfilled",
          at: "2026-11-24T23:37:58.022Z",
          transactionHash: WORDS_PROOF_TX,
          url: transactionUrl(WORDS_PROOF_TX),
        },
      ],
      outcome: randomAnswer,
      error: null,
      statusUrl: requestUrl(WORDS_ID),
      shareUrl: shareUrl(WORDS_ID),
    },
    requestAnswer,
  ],
  nextCursor: null,
};

/** A dapp that was deleted. */
export const deletionAnswer: DappDeletion = { success: true, dappId: DAPP_ID };

/** Returns a request just after it was accepted. */
function accepted(
  request: Pick<RequestView, "id" | "kind" | "state" | "params"> & { readonly at: string },
): RequestView {
  const { at, state, ...rest } = request;
  return {
    ...rest,
    network: "sepolia",
    state,
    why: null,
    createdAt: at,
    updatedAt: at,
    timeline: [{ seq: 1, state, at }],
    outcome: null,
    error: null,
    statusUrl: requestUrl(rest.id),
    ...(rest.kind === "consumer" || rest.kind === "unlink" ? {} : { shareUrl: shareUrl(rest.id) }),
  };
}
