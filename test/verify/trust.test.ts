import type { RequestVerification } from "../../src/api/types.ts";
import { encodeAbiParameters, parseAbiItem, type Hex } from "viem";
import { expect, test } from "vitest";
import { configDigestOf, nodeConfigOf, type NodeConfig } from "../../src/chainlink/nodeConfig.ts";
import { encodeNodeUrls } from "../../src/chainlink/offchainConfig.ts";
import { findReportOperators, type ReportSigners } from "../../src/verify/reportOperators.ts";
import { findSignerSet, type SignerSet } from "../../src/verify/signerSet.ts";
import { remainingTrust } from "../../src/verify/trust.ts";

const CHAIN = 31_337;
const COORDINATOR = `0x${"c0".repeat(20)}` as const;
const CONFIG_SET = parseAbiItem(
  "event ConfigSet(uint32 previousConfigBlockNumber, bytes32 configDigest, uint64 configCount, address[] signers, address[] transmitters, uint8 f, bytes onchainConfig, uint64 offchainConfigVersion, bytes offchainConfig)",
);
const addressOf = (value: number): Hex => `0x${value.toString(16).padStart(40, "0")}`;
const configOf = (nodes: number, hasUrls = true): NodeConfig => {
  const numbers = Array.from({ length: nodes }, (_, index) => 100 + index);
  const offchainConfig = encodeNodeUrls(numbers.map((number) => `https://node${number}.example`));
  return nodeConfigOf({
    signers: numbers.map((number) => addressOf(number)),
    transmitters: numbers.map((number) => addressOf(1_000 + number)),
    offchainConfig: hasUrls ? offchainConfig : "0x",
  });
};
const digestOf = (config: NodeConfig, count: number): Hex =>
  configDigestOf(config, { chainId: CHAIN, coordinator: COORDINATOR, count: BigInt(count) });

/** Creates a chain on which the coordinator had these configurations, in blocks 1, 2, …, and reports under some of them. */
function meansOf(configs: readonly NodeConfig[], { hasLogs = true } = {}) {
  const latest = configs.length;
  const dataOf = (config: NodeConfig, count: number): Hex =>
    encodeAbiParameters(CONFIG_SET.inputs, [
      count - 1,
      digestOf(config, count),
      BigInt(count),
      config.signers,
      config.transmitters,
      config.faulty,
      config.onchainConfig,
      config.offchainConfigVersion,
      config.offchainConfig,
    ]);
  const facts = {
    once: (_: string, work: () => unknown) => work(),
    async call() {
      const types = [{ type: "uint32" }, { type: "uint32" }, { type: "bytes32" }] as const;
      return { data: encodeAbiParameters(types, [latest, latest, digestOf(configs[latest - 1]!, latest)]) };
    },
    async readLogData(_: unknown, block: bigint) {
      return hasLogs ? [dataOf(configs[Number(block) - 1]!, Number(block))] : [];
    },
    getStorage: async () => "0x0",
  };
  const book = { known: () => ({ functionsCoordinator: COORDINATOR }) };
  const means = { facts, book, chainId: CHAIN } as unknown as Parameters<typeof findReportOperators>[1];
  return { ...means, configs };
}

/** Returns the remaining trust in requests with reports under these configurations, by number; `undefined`: without a report. */
async function trustOf(
  means: ReturnType<typeof meansOf>,
  ...counts: readonly (number | undefined)[]
): Promise<readonly string[]> {
  const place = { coordinator: COORDINATOR, chainId: CHAIN };
  const signers: ReportSigners[] = [];
  for (const count of counts)
    signers.push(
      count === undefined
        ? "unsigned"
        : ((await findSignerSet(
            digestOf(means.configs[count - 1]!, count),
            place,
            means.facts,
          )) as SignerSet),
    );
  const operators = await findReportOperators(signers, means);
  const requests = [{ kind: "function" }] as unknown as Parameters<typeof remainingTrust>[0];
  return remainingTrust(requests, { isEmbedded: false, operators }).slice(0, -2);
}
const several = (agreeing: number, nodes: number): string =>
  `To forge a result, ${agreeing} of the ${nodes} operators of this network's nodes would have to agree on it; the chain can't show whether they are independent.`;

test.each([
  [4, 2],
  [5, 2],
  [7, 3],
  [31, 11],
])("of %i nodes %i operators have to agree to forge a result", async (nodes, agreeing) => {
  expect(await trustOf(meansOf([configOf(nodes)]), 1)).toEqual([several(agreeing, nodes)]);
});

test("a report from before a change of the nodes is told by the nodes that signed it", async () => {
  const means = meansOf([configOf(4), configOf(7), configOf(10)]);
  expect(await trustOf(means, 1)).toEqual([several(2, 4)]);
  expect(await trustOf(means, 2)).toEqual([several(3, 7)]);
  expect(await trustOf(means, 1, 3, 1)).toEqual([several(2, 4), several(4, 10)]);
});

test("a digest that hashes none of the coordinator's configurations is none, however many there were", async () => {
  const { facts } = meansOf([configOf(4), configOf(7)]);
  const place = { coordinator: COORDINATOR, chainId: CHAIN } as const;
  const find = (config: NodeConfig, count: number) => findSignerSet(digestOf(config, count), place, facts);
  expect(await find(configOf(4), 2)).toBe("none");
  expect(await find(configOf(4), 1)).toMatchObject({ count: 1n });
});

test("without a report it is the present configuration that counts", async () => {
  expect(await trustOf(meansOf([configOf(4), configOf(7)]), undefined)).toEqual([several(3, 7)]);
});

test("a report of an oracle that held all keys stays one operator's word", async () => {
  const [sentence, ...rest] = await trustOf(meansOf([configOf(4, false), configOf(4)]), 1);
  expect([sentence, rest]).toEqual([expect.stringContaining("holds the keys of all its nodes"), []]);
});

test("where the chain's node has lost the list of signers, nothing is claimed of the operators", async () => {
  const sentence = expect.stringContaining("can't be told") as string;
  expect(await trustOf(meansOf([configOf(4), configOf(7)], { hasLogs: false }), undefined)).toEqual([
    sentence,
  ]);
  const requests = [{ kind: "function" }] as unknown as Parameters<typeof remainingTrust>[0];
  const operators = await findReportOperators([undefined], meansOf([configOf(4)]));
  expect(remainingTrust(requests, { isEmbedded: false, operators })[0]).toEqual(sentence);
});

test("a preset's result can only be withheld, by whoever knows its word first", () => {
  const requests = [{ kind: "preset", label: null }] as unknown as Parameters<typeof remainingTrust>[0];
  expect(remainingTrust(requests, { isEmbedded: false, operators: [] })).toContainEqual(
    expect.stringMatching(/can only keep silent.* how many requests failed before this one/),
  );
});

test("a label is one dapp's, and a preset without one may follow others that failed", () => {
  const say = (label: object | null) =>
    remainingTrust([{ kind: "preset", label } as RequestVerification], {
      isEmbedded: false,
      operators: [],
    }).join(" ");
  const uncounted = "These checks don't show how many requests failed before this one.";
  expect(say(null)).toContain(uncounted);
  const labelled = say({ label: "raffle", searched: { provenFrom: null } });
  expect(labelled).not.toContain(uncounted);
  expect(labelled).toContain("A label is one dapp's: others can use the same.");
});

test("that no other request has the label is the node's word", () => {
  const say = (label: object | null) =>
    remainingTrust([{ kind: "random", label } as RequestVerification], { isEmbedded: false, operators: [] });
  const sentence = expect.stringContaining("leave some out, such as an earlier draw") as string;
  expect(say({ label: "raffle", searched: { provenFrom: null } })).toContainEqual(sentence);
  const proven = say({ label: "raffle", searched: { provenFrom: "0" } });
  expect(proven).not.toContainEqual(sentence);
  expect(proven).toContainEqual(
    expect.stringContaining("Which later requests have the label is the node's word"),
  );
  expect(say(null)).not.toContainEqual(sentence);
});

test("words that follow from a round of drand, too, need no trust in who makes the blocks", () => {
  const requests = [{ kind: "preset" }] as RequestVerification[];
  const say = (beacons: readonly boolean[], isEmbedded: boolean) =>
    remainingTrust(requests, { isEmbedded, operators: [], beacons }).join("\n");
  expect(say([true], true)).toMatch(/round of drand.*--receipt/s);
  expect(say([true], true)).not.toContain("until a word suited");
  expect(say([true], false)).not.toContain("--receipt");
  expect(say([true, false], true)).toMatch(/round of drand.*until a word suited/s);
  expect(say([false], true)).not.toContain("drand");
  const beacon = { round: "7", time: null, chainHash: "0x07" };
  requests[0] = { kind: "preset", beacon } as Partial<RequestVerification> as RequestVerification;
  expect(say([false], true)).toMatch(/local beacon.*it proves nothing.*until a word suited/s);
});
