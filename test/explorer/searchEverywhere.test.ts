import type {
  NetworkView,
  PresetView,
  RequestSummary,
  SearchHit,
  SharedResult,
} from "../../src/api/types.ts";
import { expect, test } from "vitest";
import type { ListCursor } from "../../src/explorer/lists.ts";
import { searchEverywhere } from "../../src/explorer/searchEverywhere.ts";
import { NotFoundError } from "../../src/lib/errors.ts";

const OWN_ID = `req_${"0".repeat(26)}`;
const networks = ["sepolia", "fuji"].map((name) => ({
  name,
  title: `${name} (local chain)`,
})) as unknown as readonly NetworkView[];
const presets = [{ name: "lotto", title: "Draw winners" }] as unknown as readonly PresetView[];

/** Returns what chains have for a label: with some, only longer ones. */
function labelled(network: string, label: string): SearchHit[] {
  const hit = { network, kind: "label", label, dapp: "dapp_a" } as const;
  if (label === "raffle 7")
    return [{ ...hit, transactionHash: "0x07", requestId: network === "sepolia" ? "0xa7" : "0xb7" }];
  if (label === "lott")
    return Array.from({ length: network === "sepolia" ? 50 : 1 }, (_, i) => ({
      ...hit,
      label: `lotto-${i}`,
      transactionHash: `0x${i}` as const,
    }));
  if (label === "party" || label === "gala")
    return Array.from({ length: network === "sepolia" ? 50 : 2 }, (_, i) => ({
      ...hit,
      label,
      transactionHash: `0x${i}` as const,
      requestId: `0x${network === "sepolia" ? "a" : "b"}${i}` as const,
    }));
  if (label === "draw")
    return [{ ...hit, label: network === "sepolia" ? "draw" : "draw 2", transactionHash: "0x08" }];
  if ("two of one".startsWith(label) && label.length > 3)
    return ["two of one", "two of one", "two of one b"].map((one) => ({
      ...hit,
      label: one,
      transactionHash: "0x0a",
    }));
  if (label.startsWith("req_")) throw new Error("the labels are not searched");
  if (label === "coordinator") return [{ ...hit, label: "new coordinator", transactionHash: "0x09" }];
  return [];
}

/** Whether a network has older blocks that a search didn't reach. */
const hasOlder = (network: string, wanted: object): boolean => {
  const label = "label" in wanted ? wanted.label : "";
  return label === "gala" || (network === "fuji" && label !== "party" && label !== "lott");
};

/** Searches on chains that have every block; `silent` names one that is unreachable. */
const search = (
  text: string,
  {
    preferred,
    before,
    silent,
    hasBlocks = true,
    onChain = () => [],
    listed = [],
    countScan = async () => {},
    getShared = async () => {
      throw new NotFoundError("result");
    },
  }: {
    preferred?: string;
    before?: ListCursor;
    silent?: string;
    hasBlocks?: boolean;
    onChain?: (network: string, requestIds: readonly string[]) => RequestSummary[];
    getShared?: (id: string) => Promise<SharedResult>;
    listed?: readonly RequestSummary[];
    countScan?: () => Promise<void>;
  } = {},
) =>
  searchEverywhere(text, {
    explorer: {
      search: async (network, { blockNumber, name }) => {
        if (network === silent) throw new Error("refused");
        if (name === "coordinator")
          return [{ network, kind: "address", party: { address: "0xc0", name: "VRFCoordinatorV2" } }];
        return blockNumber === undefined || !hasBlocks
          ? []
          : [{ network, kind: "block", number: String(blockNumber) }];
      },
      isSilent: () => false,
      searchRequest: async () => [],
      searchLabel: async (network, wanted, below) => ({
        hits: "dapp" in wanted ? [] : labelled(network, wanted.label),
        older: hasOlder(network, wanted) && below?.block !== 5_000n ? "5000" : null,
      }),
    },
    service: {
      networks: () => networks,
      presets: () => presets,
      getShared,
      findOnChain: async (network, requestIds) => onChain(network, requestIds),
      searchPrefix: async (prefix) => ({
        transactions:
          prefix === "0x6c844d4b28"
            ? [{ network: "fuji", kind: "transaction", transactionHash: `${prefix}${"0".repeat(54)}` }]
            : [],
        requests: listed.filter(({ id }) => id.startsWith(prefix)),
      }),
      listOnChain: async ({ text: wanted = "" }) => ({
        items: listed.filter(({ result = "" }) => result.includes(wanted)),
        nextCursor: null,
        matches: { count: listed.length, isAll: true },
      }),
    },
    preferred,
    before,
    countScan,
  });

test("finds what every network has, and names those that could not be asked", async () => {
  expect((await search("7")).paths).toEqual(["/explorer/sepolia/block/7", "/explorer/fuji/block/7"]);
  expect(await search("7", { silent: "fuji" })).toMatchObject({
    paths: ["/explorer/sepolia/block/7"],
    silent: ["fuji (local chain)"],
  });
});

test("option: of the network that is preferred come all hits, where it has any", async () => {
  expect((await search("7", { preferred: "fuji" })).paths).toEqual(["/explorer/fuji/block/7"]);
  expect((await search("7", { preferred: "fuji", silent: "fuji" })).paths).toEqual([
    "/explorer/sepolia/block/7",
  ]);
});

test("a label is found in whatever form it is written, where nothing else is", async () => {
  expect((await search("RAFFLE  7", { preferred: "fuji" })).paths).toEqual(["/explorer/fuji/tx/0x07"]);
  expect(await search("raffle 8")).toMatchObject({
    hits: [],
    takenFor: [
      "part of the name of a contract, preset or network",
      "part of a request's label",
      "part of the title or result of one of the newest thousand requests",
    ],
  });
});

const AT = "2026-11-28T20:00:00.000Z";

test("requests are found by their result, each once, newest first, behind what has the text as its name; a hash is not looked for in them", async () => {
  const listed = [
    {
      id: "req_a",
      network: "sepolia",
      requestId: "0xa1",
      kind: "preset",
      title: "Draw",
      result: "the coordinator",
      at: AT,
    },
    {
      id: "req_b",
      network: "fuji",
      requestId: "0xb1",
      kind: "random",
      result: "coordinator",
      at: "2026-11-28T21:00:00.000Z",
    },
  ].map((one) => ({ ...one, transactionHash: "0x1" })) as unknown as RequestSummary[];
  expect(await search("coordinator", { preferred: "sepolia", listed })).toMatchObject({
    hits: [
      { kind: "address" },
      { kind: "random", requestId: "0xb1" },
      { kind: "preset", title: "Draw", result: "the coordinator", at: AT, isAnswered: true },
      { kind: "label", label: "new coordinator" },
    ],
    paths: ["/explorer/sepolia/address/0xc0", "/r/req_b", "/r/req_a", "/explorer/sepolia/tx/0x09"],
  });
  let scans = 0;
  const countScan = async () => void (scans += 1);
  await search("0x6c844d4b28".padEnd(66, "0"), { listed, countScan });
  expect(scans).toBe(0);
});

test("where requests can't be looked through, what was found without them is told, and otherwise why not", async () => {
  const countScan = async () => Promise.reject(new Error("too often"));
  expect(await search("coordinator", { countScan, preferred: "sepolia" })).toMatchObject({
    hits: [{ kind: "address" }, { kind: "label" }],
  });
  expect(await search("lotto", { countScan })).toMatchObject({ paths: ["/presets/lotto"] });
  await expect(search("nothing has this", { countScan })).rejects.toThrow("too often");
});

test("a number is looked for in results where no block and no request has it, and the matches are counted", async () => {
  const listed = [
    { id: "req_a", network: "sepolia", requestId: "0xa1", kind: "random", result: "48213", at: AT },
  ].map((one) => ({ ...one, transactionHash: "0x1" })) as unknown as RequestSummary[];
  let scans = 0;
  const countScan = async () => void (scans += 1);
  const known = await search("48213", { listed, countScan });
  expect(known).toMatchObject({ paths: { length: 2 }, takenFor: ["a block number"] });
  expect(known.matches).toBeUndefined();
  expect(scans).toBe(0);
  expect(await search("48213", { listed, countScan, hasBlocks: false })).toMatchObject({
    paths: ["/r/req_a"],
    takenFor: ["a block number", "part of the title or result of one of the newest thousand requests"],
    matches: { count: 1, isAll: true },
  });
  const within = [{ ...listed[0]!, result: "148213, 482139" }];
  expect((await search("48213", { listed: within, countScan, hasBlocks: false })).paths).toEqual([]);
  expect(await search("9".repeat(77), { countScan, hasBlocks: false })).toMatchObject({
    reason: expect.stringContaining("or part of the title or result of one of the newest thousand requests."),
    matches: { count: 0, isAll: true },
  });
  expect(scans).toBe(3);
});

test("a label leads to the page of its request, with the result if there is one", async () => {
  const onChain = (network: string, requestIds: readonly string[]) =>
    [
      { id: "req_a", network: "sepolia", requestId: "0xa7", result: "ann", title: "Draw", at: AT },
      { id: "req_b", network: "fuji", requestId: "0xb7", at: AT },
    ].filter(
      (one) => one.network === network && requestIds.includes(one.requestId),
    ) as unknown as RequestSummary[];
  const { paths, hits } = await search("raffle 7", { onChain });
  expect(paths).toEqual(["/r/req_a", "/r/req_b"]);
  expect(hits).toMatchObject([{ title: "Draw", result: "ann", at: AT }, { at: AT }]);
});

test("a part of a label lists what contains it, at most 50; the label itself lists no longer ones", async () => {
  const { hits } = await search("lott");
  expect(hits).toHaveLength(50);
  expect(hits[1]).toMatchObject({ label: "lotto-1" });
  expect((await search("draw")).hits).toMatchObject([{ network: "sepolia", label: "draw" }]);
});

test("of more hits than are listed, the newest are, whatever their network", async () => {
  const onChain = (network: string, requestIds: readonly string[]) =>
    requestIds.map((requestId, i) => ({
      id: `req_${requestId}`,
      network,
      requestId,
      at: network === "fuji" && i === 0 ? "2030-01-01T00:00:00.000Z" : `2020-01-01T00:00:${59 - i}.000Z`,
    })) as unknown as RequestSummary[];
  const { hits } = await search("party", { onChain });
  expect(hits).toHaveLength(50);
  expect(hits.slice(0, 2)).toMatchObject([{ requestId: "0xb0" }, { requestId: "0xa0" }]);
});

test("while older blocks are left to search, every hit above them is listed", async () => {
  const { hits, older } = await search("gala");
  expect(hits).toHaveLength(52);
  expect(older).toHaveLength(2);
});

test("what may be a name is looked for in labels, too", async () => {
  expect((await search("Coordinator", { preferred: "sepolia" })).paths).toEqual([
    "/explorer/sepolia/address/0xc0",
    "/explorer/sepolia/tx/0x09",
  ]);
  expect((await search("7", { preferred: "sepolia" })).paths).toEqual(["/explorer/sepolia/block/7"]);
});

test("the id of a dapp is looked for as what gave labels", async () => {
  const id = `dapp_${"0".repeat(26)}`;
  expect(await search(id)).toMatchObject({ takenFor: ["the id of a dapp with labels"], hits: [] });
});

test("a search for a label says where older blocks are left, and goes on there", async () => {
  const older = [{ network: "fuji", before: "5000" }];
  expect(await search("raffle 7")).toMatchObject({ hits: { length: 2 }, older });
  expect(await search("raffle 8")).toMatchObject({ hits: [], older, reason: expect.anything() });
  expect(await search("raffle 7", { preferred: "fuji", before: { block: 5_000n } })).toMatchObject({
    paths: ["/explorer/fuji/tx/0x07"],
    older: [],
  });
  expect(await search("7")).toMatchObject({ older: [] });
});

test("the id of a shared result leads to its page, and that of no result nowhere", async () => {
  const found = await search(OWN_ID, { getShared: async (id) => ({ id }) as SharedResult });
  expect(found.paths).toEqual([`/r/${OWN_ID}`]);
  const { paths, reason } = await search(OWN_ID);
  expect({ paths, reason }).toEqual({
    paths: [],
    reason: expect.stringContaining(`No network here knows ${OWN_ID}`),
  });
});

test("a database that can't be read is not an answer that there is no result", async () => {
  const getShared = () => Promise.reject(new Error("the database is away"));
  await expect(search(OWN_ID, { getShared })).rejects.toThrow("the database is away");
});

test("a name leads to the networks and presets that have it", async () => {
  expect((await search("fuj")).paths).toEqual(["/explorer/fuji"]);
  expect((await search("Lotto")).paths).toEqual(["/presets/lotto"]);
  expect((await search("o")).paths).toEqual([]); // part of nearly every name
  expect((await search("lo")).paths).toEqual(["/presets/lotto", "/explorer/sepolia", "/explorer/fuji"]);
  expect(await search("lotto", { preferred: "fuji", before: { block: 5_000n } })).toMatchObject({
    paths: [],
  });
  expect((await search("nothing")).paths).toEqual([]);
});

test("a hash that was cut off is told with its length, not as the name of a contract", async () => {
  expect((await search(`0x${"ab".repeat(14)}`)).reason).toBe(
    `0x${"ab".repeat(14)} has 28 hex digits; a hash and the id of a request have 64, an address has 40. Nothing begins so among the requests of this service, its own transactions, and the newest 500 blocks of embedded networks.`,
  );
  expect((await search(`0x${"ab".repeat(20)}`)).reason).toContain("as an address");
  for (const text of ["0x6c844d4b27", "6C844D4B27"])
    expect((await search(text, { silent: "fuji", hasBlocks: false })).reason).toMatch(
      new RegExp(
        `^fuji \\(local chain\\) could not be searched, .+ ${text} has 10 hex digits; a hash and the id`,
      ),
    );
  expect((await search("0xcf43", { hasBlocks: false })).reason).toMatch(
    /^The beginning of a hash, an address or an id needs 8 hex digits at least; 0xcf43 has 4\. No network here knows 0xcf43 as a block number/,
  );
  expect((await search("12345678", { hasBlocks: false })).reason).toContain("as a block number");
  expect((await search("0xcf43…abcd")).reason).toContain("needs 8 hex digits at least; 0xcf43…abcd has 4.");
  expect((await search("dapp_0m8ne…123456")).reason).toContain("needed in full: dapp_ and 26 characters.");
});

test("finds what begins with the digits of a hash", async () => {
  const hash = `0x6c844d4b28${"0".repeat(54)}`;
  expect((await search("6C844D4B28")).paths).toEqual([`/explorer/fuji/tx/${hash}`]);
  expect((await search("0x6c844d4b28…000000")).paths).toEqual([`/explorer/fuji/tx/${hash}`]);
  expect(await search("0x6c844d4b28…000001")).toMatchObject({
    paths: [],
    reason: expect.stringContaining("Nothing begins and ends as 0x6c844d4b28…000001 among the requests"),
  });
});

test("the beginning of a request's id leads to its page, without a look through labels", async () => {
  const id = `req_${"7".repeat(26)}`;
  const listed = [
    { id, network: "sepolia", requestId: "0xa1", kind: "random", transactionHash: "0x1", at: AT },
  ] as unknown as RequestSummary[];
  expect(await search(`req_${"7".repeat(10)}`, { listed })).toMatchObject({
    paths: [`/r/${id}`],
    silent: [],
  });
});

test("labels of one transaction are listed once each", async () => {
  const { hits } = await search("two of one", { preferred: "sepolia" });
  expect(hits.map((hit) => hit.kind === "label" && hit.label)).toEqual(["two of one"]);
  const parts = (await search("two of")).hits.filter(({ network }) => network === "sepolia");
  expect(parts.map((hit) => hit.kind === "label" && hit.label)).toEqual(["two of one", "two of one b"]);
});
