import { expect, test } from "vitest";
import type { ExploredChain } from "../../src/explorer/exploredChain.ts";
import { parseCursor } from "../../src/explorer/lists.ts";
import { readLogPage } from "../../src/explorer/readLogPage.ts";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";

test("a page ends where it has read many logs, even if it shows none of them, and the next goes on below", async () => {
  const archive = { getHeadNumber: async () => 99_999n };
  const chain = { archive, isEmbedded: true } as unknown as ExploredChain;
  let calls = 0;
  const find = async ({ fromBlock }: { readonly fromBlock: bigint }) => {
    calls += 1;
    return Array.from({ length: 6_000 }, (_, logIndex) => ({ blockNumber: fromBlock, logIndex }) as RawLog);
  };
  const page = { find, isWanted: () => false };
  const { logs, searched, older } = await readLogPage(chain, undefined, page);
  expect({ logs, searched, older, calls }).toEqual({
    logs: [],
    searched: { from: "80000", to: "99999" },
    older: "80000",
    calls: 2,
  });
  expect(await readLogPage(chain, parseCursor("80000"), page)).toMatchObject({
    searched: { from: "60000", to: "79999" },
  });
});
