import { describe, expect, test } from "vitest";
import { parsePublished } from "../../src/verify/publishedContracts.ts";

const contracts = { vrfCoordinator: `0x${"11".repeat(20)}`, functionsRouter: `0x${"22".repeat(20)}` };
const network = { name: "sepolia", chainId: 11_155_111, contracts };

test.each([
  [
    "the answer of GET /api/networks",
    { data: { items: [{ ...network, chainId: 1, name: "other" }, network] } },
    11_155_111,
  ],
  ["one network of it", network, 11_155_111],
  ["addresses alone", contracts, undefined],
])("reads addresses from %s, and the chain that they are on", (_, given, chainId) => {
  expect(parsePublished(given, { chainId: 11_155_111 })).toEqual({
    contracts,
    chainId,
    deploymentBlock: undefined,
    keyHashes: undefined,
    isEmbedded: undefined,
    drandChains: [],
  });
  expect(parsePublished(given, { name: "sepolia" })).toMatchObject({ contracts, chainId });
});

test.each(["deploymentBlock", "blockNumber"])("reads the block of the deployment from %s", (name) => {
  const wanted = { name: "sepolia" };
  expect(parsePublished({ ...network, [name]: 7 }, wanted).deploymentBlock).toBe(7n);
  for (const given of [-1, 0.5, "0x7"])
    expect(() => parsePublished({ ...network, [name]: given }, wanted)).toThrow(
      "deploymentBlock must be an integer",
    );
});

test.each([
  ["another chain's", network, { chainId: 1 }],
  ["another chain's of that name", { data: [network] }, { name: "sepolia", chainId: 1 }],
  ["those of no chain", { ...network, chainId: "0xaa36a7" }, { name: "sepolia" }],
])("refuses addresses that are %s", (_, given, wanted) => {
  expect(() => parsePublished(given, wanted)).toThrow(/chain/);
});

describe("the VRF keys", () => {
  const [one, other] = [`0x${"0a".repeat(32)}`, `0x${"0b".repeat(32)}`] as const;
  const keysIn = (given: object) => parsePublished({ ...network, ...given }, { name: "sepolia" }).keyHashes;

  test.each([
    [
      "the answer of GET /api/networks",
      { vrf: { version: "v2", keyHashes: [one, other.toUpperCase().replace("X", "x")] } },
    ],
    [
      "a contracts file",
      { keyHash: one, oracle: { vrf: { keyHash: one }, furtherVrf: [{ keyHash: other }] } },
    ],
  ])("are read from %s", (_, given) => {
    expect(keysIn(given)).toEqual([one, other]);
  });

  test("are only those of the file, if its oracle has no further ones", () => {
    expect(keysIn({ keyHash: one, oracle: { vrf: { keyHash: other } } })).toEqual([one]);
  });

  test.each([{ vrf: { keyHashes: [] } }, { vrf: { keyHashes: one } }, { keyHash: "0x0a" }])(
    "are refused where they are malformed: %j",
    (given) => {
      expect(() => keysIn(given)).toThrow("32 bytes");
    },
  );
});

test("says that a network is embedded if its operator does, for this network alone", () => {
  const other = { ...network, name: "other", chainId: 1 };
  const given = { data: { items: [{ ...network, embedded: true }, other] } };
  expect(parsePublished(given, { name: "sepolia" }).isEmbedded).toBe(true);
  expect(parsePublished(given, { chainId: 11_155_111 }).isEmbedded).toBe(true);
  expect(parsePublished({ ...network, embedded: true }, { name: "sepolia" }).isEmbedded).toBe(true);
  expect(parsePublished(given, { name: "other" }).isEmbedded).toBeUndefined();
});

test("doesn't take an operator's word that it doesn't run the chain", () => {
  expect(parsePublished({ ...network, embedded: false }, { name: "sepolia" }).isEmbedded).toBeUndefined();
});

test("takes the chain of rounds that the network's presets wait for, unless it is malformed", () => {
  const [publicKey, groupHash] = [`0x${"0a".repeat(96)}`, `0x${"0b".repeat(32)}`];
  const chain = { publicKey, groupHash, beaconId: "own", genesisTime: 1, period: 3 };
  const network = { chainId: 1, contracts: { vrfCoordinator: `0x${"01".repeat(20)}` } };
  const parse = (beacon: unknown) => parsePublished({ ...network, beacon }, { chainId: 1 }).drandChains;
  expect(parse({ ...chain, chainHash: "0x0c", marginSeconds: 3 })).toEqual([chain]);
  const local = { ...chain, beaconId: "local" };
  const both = parsePublished({ ...network, beacon: chain, localBeacon: local }, { chainId: 1 });
  expect(both.drandChains).toEqual([chain, local]);
  for (const change of [
    { publicKey: "0a" },
    { publicKey: `${publicKey}00` },
    { groupHash: "0x0b" },
    { period: 3 + 2 ** 32 },
    { groupHash: 7 },
    { beaconId: null },
    { period: "3" },
    { genesisTime: 1.5 },
  ])
    expect(parse({ ...chain, ...change })).toEqual([]);
  expect(parse(7)).toEqual([]);
});
