import { expect, test } from "vitest";
import { readLatestRequests } from "../../../../../src/browser/application/pages/explorer/latestRequests.ts";
import type { RequestSummary } from "../../../../../src/client/index.ts";

const PAGE = 25;

const unsent = (id: string): RequestSummary => ({
  id,
  requestId: `0x${id}`,
  network: "sepolia",
  kind: "preset",
  title: "Flip a coin",
  at: "2026-01-01T00:00:00.000Z",
  state: "fulfilled",
  result: "Heads",
  success: true,
});
const request = (id: string, parts: Partial<RequestSummary> = {}): RequestSummary => ({
  ...unsent(id),
  transactionHash: `0x${id}`,
  ...parts,
});
const batch = (hash: `0x${string}`, length: number) =>
  Array.from({ length }, (_, i) => request(`${hash}-${i}`, { transactionHash: hash }));

/** Reads at most 8 batches of these requests; returns the ids of each, and how many pages were read. */
async function read(requests: readonly RequestSummary[]) {
  let pages = 0;
  const batches = await readLatestRequests((cursor) => {
    pages += 1;
    const [from, to] = [Number(cursor ?? 0), Number(cursor ?? 0) + PAGE];
    return Promise.resolve({
      items: requests.slice(from, to),
      nextCursor: to < requests.length ? String(to) : null,
    });
  }, 8);
  return { batches, pages, ids: batches.map((one) => one.requests.map(({ id }) => id)) };
}

test("the newest requests are those of the first page, in its order", async () => {
  const requests = Array.from({ length: 60 }, (_, i) => request(String(60 - i)));
  const { ids, pages } = await read(requests);
  expect(ids).toEqual([["60"], ["59"], ["58"], ["57"], ["56"], ["55"], ["54"], ["53"]]);
  expect(pages).toBe(1);
});

test("a batch of several pages is one entry, and leaves place for what is older", async () => {
  const { batches, pages } = await read([request("new"), ...batch("0xb", 60), request("old")]);
  expect(batches.map(({ requests, isCut }) => [requests[0].id, requests.length, isCut])).toEqual([
    ["new", 1, false],
    ["0xb-0", 60, false],
    ["old", 1, false],
  ]);
  expect(pages).toBe(3);
});

test("a batch of more than the pages that are read says that it goes on", async () => {
  const { batches, pages } = await read(batch("0xb", 200));
  expect(batches.map(({ requests, isCut }) => [requests.length, isCut])).toEqual([[100, true]]);
  expect(pages).toBe(4);
});

test("all requests of a transaction are one entry, whatever they are for; those of another network, or without a transaction, stand alone", async () => {
  const same = { transactionHash: "0xb" } as const;
  const { ids } = await read([
    request("a", same),
    request("other"),
    request("b", { ...same, title: "Roll dice" }),
    request("c", { ...same, dappId: "dapp_1", label: "one" }),
    request("d", { ...same, dappId: "dapp_1", label: "two" }),
    request("e", { ...same, network: "fuji" }),
    unsent("f"),
    unsent("g"),
  ]);
  expect(ids).toEqual([["a", "b", "c", "d"], ["other"], ["e"], ["f"], ["g"]]);
});

test("no requests are no entries", async () => {
  expect(await read([])).toMatchObject({ ids: [], pages: 1 });
});
