import { expect, test } from "vitest";
import { createId } from "../../src/domain/id.ts";
import { isId } from "../../src/domain/idForm.ts";

const ID = "req_01h000000000000000000000ab";

test("knows the ids that are made", () => {
  expect(isId("dapp", createId("dapp"))).toBe(true);
  expect(isId("req", createId("dapp"))).toBe(false);
});

test("knows the id of a service's request from a label", () => {
  expect(isId("req", ID)).toBe(true);
  for (const text of [`${ID}0`, ID.slice(0, -1), "req_raffle", ID.replace("h", "u")])
    expect(isId("req", text)).toBe(false);
});
