import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeArgs, encodeSourcePrefix } from "../../../src/chainlink/functionsRequest.ts";
import { MAX_JOINED_KEYS } from "../../../src/lib/vocabulary.ts";
import { MAX_VRF_CALLBACK_GAS } from "../../../src/chainlink/limits.ts";
import {
  JOINED_CALLBACK_GAS,
  PART_CALLBACK_GAS,
  presetCallbackGas,
} from "../../../src/chainlink/presetBatch.ts";
import { VRF_VERSIONS, type VrfVersion } from "../../../src/chainlink/vrfVersion.ts";
import { provisionDapp, storeSource, submitJoined } from "../../support/consumer.ts";
import { deliverWords, eventsOf } from "../../support/delivery.ts";
import { startTestStack, type TestStack } from "../../support/stack.ts";

/** Bytes that the key, the word and so on add to source and arguments. */
const REQUEST_OVERHEAD_BYTES = encodeSourcePrefix("").length + 45;
const SOURCES_BYTES = [100, 1_000, 24_000];

describe.each(VRF_VERSIONS)("%s", (vrfVersion: VrfVersion) => {
  let stack: TestStack;
  const sources = new Map<number, number>();
  let dapps = 0;
  beforeAll(async () => {
    stack = await startTestStack({ vrfVersion, vrfKeys: MAX_JOINED_KEYS });
    for (const bytes of SOURCES_BYTES) sources.set(bytes, await storeSource(stack, "x".repeat(bytes)));
  });
  afterAll(() => stack.close());

  /** Joins the maximum number of words for equal presets, on an unused subscription. */
  const run = async (sourceBytes: number, count: number, argsBytes: number) => {
    const dapp = await provisionDapp(stack, `dapp ${++dapps}`, { functionsJuels: 10_000n * 10n ** 18n });
    const args = argsBytes === 0 ? [] : ["y".repeat(argsBytes)];
    const requestBytes =
      sourceBytes + REQUEST_OVERHEAD_BYTES + (argsBytes === 0 ? 0 : 5 + encodeArgs(args).length);
    const sizes = Array.from({ length: count }, () => requestBytes);
    const callbackGasLimit = presetCallbackGas(sizes, 0) + PART_CALLBACK_GAS;
    const items = sizes.map(() => ({ sourceId: sources.get(sourceBytes)!, args }));
    const submitted = await submitJoined(stack, [{ dapp, keys: MAX_JOINED_KEYS, items, callbackGasLimit }]);
    const delivered = await deliverWords(stack, submitted);
    return {
      callbackGasLimit,
      succeeded: eventsOf(delivered, "RandomWordsFulfilled").filter(({ success }) => success).length,
      sent: eventsOf(delivered, "PresetSent").length,
      refused: eventsOf(delivered, "PresetRefused").length,
    };
  };

  test.each([
    [100, 1, 0],
    [100, 1, 20_000],
    [100, 10, 2_300],
    [1_000, 10, 0],
    [24_000, 2, 0],
  ])(
    "behaviour: the gas of a part is enough: source of %i bytes, %i items, arguments of %i",
    async (...size) => {
      const { callbackGasLimit, ...outcome } = await run(...size);
      expect(outcome).toEqual({ succeeded: MAX_JOINED_KEYS, sent: size[1], refused: 0 });
      expect(callbackGasLimit).toBeLessThanOrEqual(MAX_VRF_CALLBACK_GAS);
    },
  );

  test("behaviour: the gas of a part is enough for random numbers alone", async () => {
    const dapp = await provisionDapp(stack, `dapp ${++dapps}`);
    const join = { dapp, keys: MAX_JOINED_KEYS, callbackGasLimit: JOINED_CALLBACK_GAS };
    const delivered = await deliverWords(stack, await submitJoined(stack, [join]));
    expect(eventsOf(delivered, "RandomWordsFulfilled").map(({ success }) => success)).toEqual(
      Array.from({ length: MAX_JOINED_KEYS }, () => true),
    );
    expect(eventsOf(delivered, "WordsJoined")).toHaveLength(1);
  });
});
