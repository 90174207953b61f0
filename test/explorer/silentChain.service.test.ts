import { afterAll, beforeAll, expect, test } from "vitest";
import { createExplorer, type TycheExplorer } from "../../src/client/index.ts";
import { silenceNode } from "../support/silence.ts";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const NETWORK = "fuji";
const OTHER = "sepolia";

let tyche: TycheProcess;
let explorer: TycheExplorer;
/** The result on each network: its id, and the hash of its transaction. */
let results: Record<string, { readonly id: string; readonly hash: string }>;
beforeAll(async () => {
  tyche = await startTycheProcess({ networks: [NETWORK, OTHER] });
  explorer = createExplorer({ baseUrl: tyche.url, retries: 0 });
  const drawn = [NETWORK, OTHER].map(async (network) => {
    const { data } = await tyche.call("POST", `/api/vrfv2/presets?network=${network}&preset=coinflip`);
    return [network, { id: data.shareUrl.split("/").at(-1), hash: data.url.split("/").at(-1) }];
  });
  results = Object.fromEntries(await Promise.all(drawn));
});
afterAll(() => tyche.stop());

/** Waits until the service knows that the network's node doesn't answer. */
const untilKnown = () =>
  expect
    .poll(async () => (await explorer.networks()).find(({ name }) => name === NETWORK)!.head!.agoMs, {
      timeout: 30_000,
    })
    .toBeGreaterThan(4_000);

test("reads of a chain whose node doesn't answer are refused with the reason, however many; those of others go on", async () => {
  const goOn = silenceNode(tyche, NETWORK);
  try {
    await untilKnown();
    const paths = [
      `networks/${NETWORK}`,
      `networks/${NETWORK}/blocks`,
      `networks/${NETWORK}/blocks/1`,
      `networks/${NETWORK}/transactions/${results[NETWORK]!.hash}`,
      ...Array.from({ length: 8 }, () => `networks/${NETWORK}/transactions`),
      ...Array.from({ length: 8 }, () => `results/${results[NETWORK]!.id}/chainData`),
    ];
    const refused = paths.map((one) => fetch(`${tyche.url}/api/explorer/${one}`));
    for (const one of [`networks/${OTHER}`, `results/${results[OTHER]!.id}/chainData`])
      expect((await tyche.call("GET", `/api/explorer/${one}`)).status).toBe(200);
    for (const response of await Promise.all(refused)) {
      expect([response.status, Number(response.headers.get("retry-after"))]).toEqual([502, 2]);
      const { data } = (await response.json()) as { readonly data: object };
      expect(data).toMatchObject({
        code: "chain_unavailable",
        err: expect.stringMatching(
          /^Avalanche Fuji \(local chain\) can't be read now: .+\. The newest block seen here is \d+\. Try again in a few seconds\.$/,
        ),
      });
    }
  } finally {
    goOn();
  }
  await expect
    .poll(
      () =>
        explorer.overview(NETWORK).then(
          () => true,
          () => false,
        ),
      { timeout: 60_000 },
    )
    .toBe(true);
});

test("a search says which network could not be searched, once, and finds what is there after it answers again", async () => {
  const { hash } = results[NETWORK]!;
  const goOn = silenceNode(tyche, NETWORK);
  try {
    await untilKnown();
    for (const preferred of [undefined, NETWORK]) {
      const found = await explorer.search(hash, preferred);
      expect(found.paths).toEqual([]);
      expect(found.silent).toContain("Avalanche Fuji (local chain)");
      expect(found.reason).toMatch(
        /^Avalanche Fuji \(local chain\) could not be searched, so it may be there: search again once its node answers\. No network that was searched knows 0x[0-9a-f]{64} as .+$/,
      );
    }
  } finally {
    goOn();
  }
  // Until then it is never said of a network that doesn't have it.
  await expect
    .poll(
      async () => {
        const { paths, silent } = await explorer.search(hash);
        return paths.length > 0 ? paths : silent.length > 0 ? "silent" : "nothing";
      },
      { timeout: 60_000 },
    )
    .not.toBe("silent");
  expect((await explorer.search(hash)).paths).toEqual([`/explorer/${NETWORK}/tx/${hash}`]);
});
