import { encodeAbiParameters, encodeEventTopics, parseAbiParameters, type Hex } from "viem";
import { expect, test } from "vitest";
import { decodeLog, EVENT_TOPICS, FULFILL_RESULTS } from "../../../src/chainlink/events.ts";
import { functionsCoordinatorAbi } from "../../../src/chainlink/contracts/abi.ts";
import { loadArtifacts } from "../../../src/chainlink/contracts/artifacts.ts";
import { readFunctionsOutcomes, toOracleRequest } from "../../../src/oracle/functions/oracleRequest.ts";
import { fromHexText } from "../../../src/lib/hex.ts";
import { ORACLE_TOPICS } from "../../../src/oracle/topics.ts";
import { idOf, logOf } from "../support/logs.ts";

const consumer = "0x00000000000000000000000000000000000000aa";

test("a request has its commitment as the bytes of the log", () => {
  const commitment = {
    requestId: idOf(1n),
    coordinator: consumer,
    estimatedTotalCostJuels: 1n,
    client: consumer,
    subscriptionId: 5n,
    callbackGasLimit: 5_000,
    adminFee: 2n,
    donFee: 3n,
    gasOverheadBeforeCallback: 105_000,
    gasOverheadAfterCallback: 50_000,
    timeoutTimestamp: 4,
  };
  const event = functionsCoordinatorAbi.find(
    (entry) => entry.type === "event" && entry.name === "OracleRequest",
  )!;
  const unindexed = event.inputs.filter((input) => !("indexed" in input && input.indexed));
  const values = [consumer, 5n, consumer, "0x010203", 1, idOf(0n), 5_000n, commitment];
  const topics = encodeEventTopics({
    abi: functionsCoordinatorAbi,
    eventName: "OracleRequest",
    args: { requestId: idOf(1n), requestingContract: consumer },
  });
  const decoded = decodeLog(logOf(topics as Hex[], encodeAbiParameters(unindexed, values as never)));
  if (decoded?.name !== "OracleRequest") throw new Error("another event");
  expect(toOracleRequest(decoded, 9n)).toEqual({
    requestId: idOf(1n),
    client: consumer,
    subscriptionId: 5n,
    data: Uint8Array.of(1, 2, 3),
    dataVersion: 1,
    callbackGasLimit: 5_000,
    gasOverheadAfterCallback: 50_000,
    commitment: fromHexText(encodeAbiParameters([unindexed.at(-1)!], [commitment as never])),
    blockNumber: 9n,
  });
});

test("every result code is told by its name", () => {
  const processed = (code: number) =>
    encodeAbiParameters(parseAbiParameters("uint96, address, uint8, bytes, bytes, bytes"), [
      1n,
      consumer,
      code,
      "0x01",
      "0x",
      "0xdead",
    ]);
  const notProcessed = (code: number) =>
    encodeAbiParameters(parseAbiParameters("address, address, uint8"), [consumer, consumer, code]);
  const logs = FULFILL_RESULTS.map((_, code) =>
    code < 2
      ? logOf([EVENT_TOPICS.RequestProcessed, idOf(BigInt(code)), idOf(5n)], processed(code))
      : logOf([EVENT_TOPICS.RequestNotProcessed, idOf(BigInt(code))], notProcessed(code)),
  );
  expect([...readFunctionsOutcomes(logs)]).toEqual(
    FULFILL_RESULTS.map((result, code) => [
      idOf(BigInt(code)),
      { result, callbackReturnData: code < 2 ? "0xdead" : "0x" },
    ]),
  );
});

test("the oracle's own topics are those of the compiled contracts", () => {
  const artifacts = loadArtifacts();
  const topicOf = (contract: keyof typeof artifacts, eventName: string) =>
    encodeEventTopics({ abi: artifacts[contract].abi, eventName })[0];
  expect(ORACLE_TOPICS).toEqual({
    SubscriptionFunded: topicOf("VRFCoordinatorV2", "SubscriptionFunded"),
    SubscriptionFundedV2Plus: topicOf("VRFCoordinatorV2_5", "SubscriptionFunded"),
    SubscriptionFundedWithNative: topicOf("VRFCoordinatorV2_5", "SubscriptionFundedWithNative"),
    ConfigSet: topicOf("FunctionsCoordinator", "ConfigSet"),
    CommitmentDeleted: topicOf("FunctionsCoordinator", "CommitmentDeleted"),
  });
  expect(topicOf("FunctionsRouter", "SubscriptionFunded")).toBe(ORACLE_TOPICS.SubscriptionFunded);
});
