import { expect, test } from "vitest";
import { QUICKNET_HASH } from "../../src/domain/vocabulary.ts";
import { addressOfBeacon, describeDraw, describeTimes, nameBeacon, shorten } from "../../src/text/draw.ts";

const draw = {
  kind: "preset",
  preset: { sourceId: 3, name: "nDice", parameters: ["numDice", "numFaces"] },
  args: ["2", "6"],
  requestedAt: "2026-12-24T18:00:00.000Z",
  deliveredAt: "2026-12-24T18:00:02.000Z",
  deliveredBy: "0xd1",
  err: "0x",
};

test("describeDraw names the preset and its arguments", () => {
  expect(describeDraw(draw)).toBe("nDice (source 3): numDice = 2, numFaces = 6");
  expect(describeDraw({ ...draw, preset: { sourceId: 3, name: null, parameters: [] } })).toBe(
    "a preset (source 3): 2, 6",
  );
  expect(describeDraw({ ...draw, args: null })).toBe("nDice (source 3)");
});

test("describeDraw counts the entries of a long list where it is asked to", () => {
  const lists = { ...draw, args: [JSON.stringify(["ann", "bob"]), JSON.stringify(["ann"])] };
  expect(describeDraw(lists, 2)).toBe('nDice (source 3): numDice = 2 entries, numFaces = ["ann"]');
});

test("describeDraw gives the arguments of a function, and nothing for random numbers", () => {
  expect(describeDraw({ ...draw, kind: "function", preset: null })).toBe(
    'a source of its own, args = ["2","6"]',
  );
  expect(describeDraw({ ...draw, kind: "random", preset: null, args: null })).toBeUndefined();
});

test("describeDraw quotes text, but no lists and numbers", () => {
  const args = ['["ann","bob"]', "[ann", "-7", "1e3", "a\nb"];
  expect(describeDraw({ ...draw, args })).toBe(
    String.raw`nDice (source 3): numDice = ["ann","bob"], numFaces = "[ann", -7, "1e3", "a\nb"`,
  );
});

test("describeTimes says when both ends were mined, and who delivered", () => {
  expect(describeTimes(draw)).toBe(
    "requested 2026-12-24 18:00:00 UTC, result delivered 2026-12-24 18:00:02 UTC by 0xd1",
  );
  expect(describeTimes({ ...draw, requestedAt: null, deliveredAt: null })).toBe("result delivered by 0xd1");
  expect(describeTimes({ ...draw, requestedAt: null, err: "0x6b" })).toBe(
    "error delivered 2026-12-24 18:00:02 UTC by 0xd1",
  );
  expect(describeTimes({ ...draw, kind: "random", deliveredAt: null, deliveredBy: null })).toBe(
    "requested 2026-12-24 18:00:00 UTC",
  );
});

test("nameBeacon calls only quicknet's rounds drand's", () => {
  const own = `0x${"0a".repeat(32)}`;
  expect(nameBeacon({ round: "7", chainHash: QUICKNET_HASH })).toBe("drand's round 7");
  expect(nameBeacon({ round: "7", chainHash: own, isLocal: true })).toBe("the local beacon's round 7");
  expect(nameBeacon({ round: "7", chainHash: own })).toBe(
    `round 7 of the operator's own chain of rounds, ${own}`,
  );
});

test("shorten cuts a list after an entry, with the number of those left out, and a single value in the middle", () => {
  const names = Array.from({ length: 40 }, (_, i) => `entrant ${i + 1}`);
  const list = `["${names.join('","')}"]`;
  const [shown, left] = shorten(list).split(" … and ");
  expect(list.startsWith(shown!)).toBe(true);
  expect(shown).toMatch(/"entrant \d+",$/);
  expect(left).toBe(`${40 - shown!.split(",").length + 1} more`);
  const bytes = `0x${"ab".repeat(100)}`;
  expect(shorten(bytes)).toBe(`${bytes.slice(0, 120)} … ${bytes.slice(-16)}`);
  expect(shorten("a,".repeat(70))).toBe("a,".repeat(70));
});

test("shorten takes a comma within an entry for no end of it, and counts only entries of the list that it cuts", () => {
  const names = Array.from({ length: 12 }, (_, i) => `Doe, "Jane" [team ${i + 1}], of the archives`);
  const text = (list: readonly string[]) =>
    `of: list = ${JSON.stringify(list)}, others = ["x","y"], minutes = 3`;
  expect(shorten(text(names))).toBe(
    `of: list = ${JSON.stringify(names.slice(0, 2)).slice(0, -1)}, … and 10 more`,
  );
  expect(shorten(text(["z".repeat(140), "b"]))).toMatch(/^of: list = \["z+ … .*, minutes = 3$/);
});

test("addressOfBeacon leads to a round of quicknet at drand's relay, and of no other chain", () => {
  expect(addressOfBeacon({ round: "1000", chainHash: QUICKNET_HASH })).toBe(
    "https://api.drand.sh/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971/public/1000",
  );
  expect(addressOfBeacon({ round: "1000", chainHash: `0x${"0b".repeat(32)}` })).toBeUndefined();
  expect(addressOfBeacon({ round: "1000", chainHash: QUICKNET_HASH, isLocal: true })).toBeUndefined();
});
