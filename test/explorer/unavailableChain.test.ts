import { expect, test } from "vitest";
import { createChainExplorer } from "../../src/explorer/explorer.ts";
import { parseSearch } from "../../src/explorer/searchTerms.ts";

test("a search of a network without a chain rejects, so that it doesn't count as searched", async () => {
  const explorer = createChainExplorer(new Map([["fuji", () => undefined]]));
  const error = { code: "chain_unavailable" };
  await expect(explorer.search("fuji", parseSearch("1"))).rejects.toMatchObject(error);
  await expect(explorer.searchRequest("fuji", "0x01")).rejects.toMatchObject(error);
  await expect(explorer.searchLabel("fuji", { label: "a" })).rejects.toMatchObject(error);
});
