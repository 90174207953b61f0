import { createExplorer } from "../../src/client/index.ts";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  makeDataDir,
  removeDataDir,
  runTyche,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;
let keyHashes: readonly string[];
beforeAll(async () => {
  dataDir = makeDataDir();
  const networks = { sepolia: { embedded: true, vrfKeys: 2, presetVrfKeys: 2 } };
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ networks }));
  tyche = await startTycheProcess({ dataDir });
  const { data } = await tyche.call("GET", "/api/networks");
  keyHashes = data.items.find(({ name }: { name: string }) => name === "sepolia").vrf.keyHashes;
});
afterAll(async () => {
  await tyche.stop();
  removeDataDir(dataDir);
});

const verified = async (url: string) => {
  const tx = url.split("/").pop()!;
  const { data } = await tyche.call("GET", `/api/verify?network=sepolia&tx=${tx}`);
  return data;
};

test("a preset and random numbers with the words of both keys, and both are valid", async () => {
  expect(new Set(keyHashes).size).toBe(2);
  const preset = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", { body: {} });
  expect(preset.data).toMatchObject({ success: true });
  const inQuery = `network=sepolia&numWords=2&keyHashes=${keyHashes.toReversed().join(",")}`;
  const random = await tyche.call("POST", `/api/vrfv2/requestRandomNumber?${inQuery}`);
  expect(random.data).toMatchObject({
    success: true,
    randomNumber: [expect.any(String), expect.any(String)],
  });
  for (const { url } of [preset.data, random.data]) {
    const found = await verified(url);
    expect([found.verdict, found.requests[0].failed]).toEqual(["valid", null]);
    const ok = found.requests[0].steps.filter(({ outcome }: { outcome: string }) => outcome === "ok");
    const names = ok.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => name === "proof")).toHaveLength(2);
    expect(names).toContain("join");
  }
  const explorer = createExplorer({ baseUrl: tyche.url });
  const shown = await explorer.transaction("sepolia", random.data.transactionHash);
  const parts = keyHashes.toReversed().map((keyHash) => ({ keyHash, answeredBy: expect.any(String) }));
  expect(shown.joins).toMatchObject([{ parts, joinedBy: expect.any(String) }]);
});

test("the command line names key hashes, and one alone is today's request", async () => {
  const env = { TYCHE_DATA_DIR: dataDir, TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey };
  const named = keyHashes.flatMap((one) => ["--key-hash", one]);
  const both = await runTyche(["call", "random", "--json", ...named], env);
  expect(JSON.parse(both.output)).toMatchObject({ success: true });
  const body = { network: "sepolia", keyHashes: [keyHashes[1]] };
  const { data } = await tyche.call("POST", "/api/vrfv2/requestRandomNumber", { body });
  const found = await verified(data.url);
  expect([found.verdict, found.requests[0].steps.length]).toEqual(["valid", 4]);
});

test.each<[string, (known: readonly string[]) => object, string]>([
  ["an unknown one", ([first]) => ({ keyHashes: [first, `0x${"11".repeat(32)}`] }), "/keyHashes/1"],
  ["one twice", ([first]) => ({ keyHashes: [first, first] }), "/keyHashes"],
  [
    "one twice, in another case",
    ([first]) => ({ keyHashes: [first, `0x${first!.slice(2).toUpperCase()}`] }),
    "/keyHashes",
  ],
  ["none", () => ({ keyHashes: [] }), "/keyHashes"],
  ["beside keyHash", (known) => ({ keyHash: known[0], keyHashes: known }), "/keyHashes"],
])("%s", async (_, bodyOf, where) => {
  const body = { network: "sepolia", ...bodyOf(keyHashes) };
  const { status, data } = await tyche.call("POST", "/api/vrfv2/requestRandomNumber", { body });
  expect([status, data.details.map(({ path: at }: { path: string }) => at)]).toEqual([400, [where]]);
});
