import { createExplorer } from "../../src/client/index.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const PRESETS = 240;
/** Few, so that most presets have a proof of their own: batches leave next to nothing behind. */
const IN_FLIGHT = 2;

let dataDir: string;
let tyche: TycheProcess;

beforeEach(async () => {
  dataDir = makeDataDir();
  tyche = await startTycheProcess({ dataDir, networks: ["fuji"], env: { LOG_LEVEL: "debug" } });
});
afterEach(async () => {
  await tyche.stop();
  removeDataDir(dataDir);
});

const coinflip = async () => {
  const { status, data } = await tyche.call("POST", "/api/vrfv2/presets?network=fuji", { body: {} });
  expect({ status, success: data.success }).toEqual({ status: 200, success: true });
  return data as { url: string; vrfv2Hash: string; requestId: string };
};
/** Returns how many slots all compactions took away: on a busy machine there are more of them, each of fewer. */
const compactedSlots = () =>
  [...tyche.output().matchAll(/"network":"fuji","block":\d+.*"zeroSlots":(\d+).*was compacted/g)].reduce(
    (sum, [, zeroSlots]) => sum + Number(zeroSlots),
    0,
  );
test("presets go on while the chain is compacted, and what Anvil forgot opens and verifies", async () => {
  const first = await coinflip();
  let left = PRESETS;
  const results: { requestId: string; url: string }[] = [];
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) results.push(await coinflip());
    }),
  );
  expect(new Set(results.map(({ requestId }) => requestId)).size).toBe(PRESETS);
  await vi.waitFor(() => expect(compactedSlots()).toBeGreaterThan(100));

  await tyche.stop();
  tyche = await startTycheProcess({ dataDir });
  for (const url of [first.url, results.at(-1)!.url]) {
    const hash = url.split("/").at(-1)!;
    const explorer = createExplorer({ baseUrl: tyche.url });
    expect(await explorer.transaction("fuji", hash)).toMatchObject({ hash, status: "succeeded" });
  }
  const { data } = await tyche.call("GET", `/api/verify?network=fuji&tx=${first.vrfv2Hash}`);
  expect(data).toMatchObject({ valid: true });
  await coinflip();
});
