import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishedBy, startOracleProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalHardhat, type StrangersChain } from "./support/chain.ts";
import { linkUserContract } from "./support/consumer.ts";
import { countDeliveries, expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;

beforeAll(async () => {
  chain = await startIntervalHardhat();
  parties = prepareParties(chain);
  await deployByCommands(parties);
  [oracle, tyche] = await Promise.all([startOracleProcess(parties.oracle), startService(parties)]);
});
afterAll(async () => {
  await Promise.all([tyche?.stop("SIGKILL"), oracle?.stop("SIGKILL")]);
  await chain?.close();
  parties?.remove();
});

test("every endpoint is answered, and a preset verified from the chain's RPC URL alone", async () => {
  const [preset, run, words] = await Promise.all([
    tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=range`, {
      body: { min: "1", max: "6" },
    }),
    tyche.call("POST", "/api/oracleFunctions/runFunction", {
      body: { network: NETWORK, source: "return Functions.encodeString(args[0] + '!')", args: ["hello"] },
    }),
    tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}&numWords=2&confirmations=2`),
  ]);
  expect(preset.data).toMatchObject({ success: true, err: "0x" });
  expect(run.data).toMatchObject({ success: true, parsedResult: "hello!" });
  expect(words.data).toMatchObject({ success: true, randomNumber: [expect.any(String), expect.any(String)] });
  const { code, output } = await parties.run(
    [
      "verify",
      NETWORK,
      preset.data.url.slice(-66),
      "--rpc-url",
      chain.httpUrl,
      "--contracts",
      await publishedBy(tyche),
    ],
    { TYCHE_DATA_DIR: path.join(parties.service["TYCHE_DATA_DIR"]!, "..", "nowhere") },
  );
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/^valid: /m) });
});

test("a consumer of the caller's own is linked and gets its word", async () => {
  const consumer = await linkUserContract({ chain, parties, tyche });
  await expect.poll(() => consumer.word(), { timeout: 60_000, interval: 250 }).not.toBe(0n);
});

test("kill -9 of service and oracle loses no request, and doubles none", async () => {
  const before = await countDeliveries(chain, parties);
  const ids = await sendWave(tyche, "service", 3);
  await tyche.stop("SIGKILL");
  tyche = await startService(parties);
  ids.push(...(await sendWave(tyche, "oracle", 3)));
  await oracle.stop("SIGKILL");
  ids.push(...(await sendWave(tyche, "alone", 3)));
  oracle = await startOracleProcess(parties.oracle);
  await expectFulfilled(tyche, ids);
  expect(await countDeliveries(chain, parties)).toEqual({
    sent: before.sent + ids.length,
    delivered: before.delivered + ids.length,
  });
});
