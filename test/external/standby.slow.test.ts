import { cpSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOracleProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { countDeliveries, expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, prepareParties, startService, type TwoParties } from "./support/world.ts";

let chain: StrangersChain;
let parties: TwoParties;
/** Two oracles that share all keys, each with a folder of its own. */
let oracles: OracleChild[] = [];
let tyche: TycheProcess;

beforeAll(async () => {
  chain = await startIntervalAnvil();
  parties = prepareParties(chain);
  await deployByCommands(parties);
  const { TYCHE_DATA_DIR: folder } = parties.oracle;
  cpSync(folder!, `${folder}-standby`, { recursive: true });
  oracles = await Promise.all(
    [folder!, `${folder}-standby`].map((TYCHE_DATA_DIR) =>
      startOracleProcess({ ...parties.oracle, TYCHE_DATA_DIR }),
    ),
  );
  tyche = await startService(parties);
});
afterAll(async () => {
  await Promise.all([tyche, ...oracles].map((one) => one?.stop("SIGKILL")));
  await chain?.close();
  parties?.remove();
});

test("of two oracles with the same keys one may be killed: nothing is lost or doubled", async () => {
  const ids = await sendWave(tyche, "with both", 12);
  await expectFulfilled(tyche, ids);
  ids.push(...(await sendWave(tyche, "when one is killed", 12)));
  await oracles[0]!.stop("SIGKILL");
  await expectFulfilled(tyche, ids);
  expect(await countDeliveries(chain, parties)).toEqual({ sent: ids.length, delivered: ids.length });
});
