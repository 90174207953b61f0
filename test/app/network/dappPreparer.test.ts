import { pino } from "pino";
import { expect, test } from "vitest";
import { createDappPreparer } from "../../../src/app/network/dappPreparer.ts";
import type { ServedNetwork } from "../../../src/app/network/servedNetwork.ts";
import type { LeftConsumer } from "../../../src/requests/keep/deletedDapps.ts";

const CONSUMER = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

test("an operator reads which contract of a deleted dapp is linked yet, once in the log, and when nobody tries any more", async () => {
  const lines: string[] = [];
  const warnings: (readonly string[])[] = [];
  let left: LeftConsumer[] = [
    { dappId: "dapp_gone", consumer: CONSUMER, waitsFor: "a word is due", isGivenUp: false },
  ];
  const preparer = createDappPreparer({
    network: {
      profile: { name: "fuji" },
      pipeline: () => ({ findUnlinkObstacle: async () => "a word is due" }),
      setPreparation: (preparation: { readonly warnings: readonly string[] }) =>
        void warnings.push(preparation.warnings),
    } as unknown as ServedNetwork,
    dapps: { list: async () => [] } as never,
    registry: { list: () => [] } as never,
    deletedDapps: {
      async unlinkDeleted(network, findObstacle) {
        expect([network, await findObstacle("dapp_gone", CONSUMER)]).toEqual(["fuji", "a word is due"]);
        return left;
      },
    },
    log: pino({ base: null }, { write: (line: string) => void lines.push(line) }),
  });
  await preparer.prepare();
  await preparer.prepare();
  expect(warnings.at(-1)).toEqual([`contract ${CONSUMER} of a deleted dapp is still linked: a word is due`]);
  left = left.map((one) => ({ ...one, isGivenUp: true }));
  await preparer.prepare();
  expect(warnings.at(-1)).toEqual([
    `contract ${CONSUMER} of a deleted dapp is still linked: a word is due; no further attempts are made`,
  ]);
  left = [];
  await preparer.prepare();
  expect(warnings.at(-1)).toEqual([]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      network: "fuji",
      dappId: "dapp_gone",
      msg: "a contract of a deleted dapp can't be unlinked yet: a word is due",
    },
    { msg: "a contract of a deleted dapp stays linked; no further attempts are made: a word is due" },
  ]);
});
