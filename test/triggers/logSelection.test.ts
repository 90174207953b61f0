import { concat, encodeAbiParameters, encodeEventTopics, parseAbi, parseAbiParameters, type Hex } from "viem";
import { expect, test } from "vitest";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { parseSelection, readValues } from "../../src/triggers/logSelection.ts";

const EVENT = "event Told(uint256 indexed number, bytes[] list)";
const SELECTION = parseSelection({ addresses: [`0x${"11".repeat(20)}`], event: EVENT });

const logWith = (data: Hex): RawLog => ({
  address: `0x${"11".repeat(20)}`,
  topics: [encodeEventTopics({ abi: parseAbi([EVENT]), eventName: "Told" })[0], toWord(7n)],
  data,
  blockNumber: 1n,
  blockHash: `0x${"22".repeat(32)}`,
  transactionHash: `0x${"33".repeat(32)}`,
  logIndex: 0,
});

test("takes an event as it stands in a contract", () => {
  const event = "\n  event Told(\n    uint256 indexed number,\n    bytes[] list\n  );";
  expect(parseSelection({ addresses: [], event }).topics).toEqual(SELECTION.topics);
});

test.each([
  [{ event: "Told(uint256 number)" }, "event: must begin with the word event, such as event Rolled("],
  [
    { event: "event Told(uint25 number)" },
    "event: can't be read: Unknown type; expected one such as event Rolled(",
  ],
  [
    { event: EVENT, filters: { number: "x", list: "y" } },
    "filters.number: must be an integer in decimal digits, for uint256; filters.list: is not an indexed argument of the event; those are number",
  ],
])("says what is wrong with %j", (given, message) => {
  expect(() => parseSelection({ addresses: [], ...given })).toThrow(message);
});

test("a log's values are read by name", () => {
  const data = encodeAbiParameters(parseAbiParameters("bytes[]"), [["0x01", "0x02"]]);
  expect(readValues(SELECTION, logWith(data))).toMatchObject({
    number: "7",
    list: '["0x01","0x02"]',
    $logIndex: "0",
  });
});

test("of a log that points at the same bytes many times only what every log has is read", () => {
  // 1,300 times the same 100,000 bytes: 260 MB of text.
  const data = concat([
    toWord(32n),
    toWord(1_300n),
    ...Array.from({ length: 1_300 }, () => toWord(32n * 1_300n)),
    toWord(100_000n),
    `0x${"00".repeat(100_000)}`,
  ]);
  const values = readValues(SELECTION, logWith(data));
  expect(Object.keys(values).filter((name) => !name.startsWith("$"))).toEqual([]);
});
