import { expect, test } from "vitest";
import { findDapp } from "../../src/dapps/findDapp.ts";

const DAPPS = [
  { id: "dapp_1", name: "shop" },
  { id: "dapp_2", name: "arcade" },
  { id: "dapp_3", name: "arcade" },
  { id: "dapp_4", name: "dapp_1" },
];
const find = async (idOrName: string | undefined, dapps: readonly object[] = DAPPS) =>
  (await findDapp({ list: () => Promise.resolve(dapps as never) }, idOrName)).id;

test.each([
  [undefined, "dapp_1"],
  ["dapp_2", "dapp_2"],
  ["shop", "dapp_1"],
  ["dapp_1", "dapp_1"],
])("%j is %s", async (idOrName, id) => {
  expect(await find(idOrName)).toBe(id);
});

test("a name of several dapps, with their ids", async () => {
  await expect(find("arcade")).rejects.toThrow(
    '"arcade" is the name of dapp_2, dapp_3; use the id of the one you mean',
  );
});

test("a dapp that there is not", async () => {
  await expect(find("nosuch")).rejects.toThrow("there is no dapp nosuch; tyche dapp list names them");
  await expect(find(undefined, [])).rejects.toThrow("there is no dapp yet; create one");
});
