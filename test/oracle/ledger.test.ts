import { beforeEach, expect, test } from "vitest";
import { createLedger, type Entry, type Ledger, type OnChainRequest } from "../../src/oracle/ledger.ts";
import { idOf } from "./support/logs.ts";

const request = (id: bigint, blockNumber: bigint): OnChainRequest => ({
  requestId: idOf(id),
  subscriptionId: id,
  blockNumber,
});
let ledger: Ledger<OnChainRequest>;
beforeEach(() => {
  ledger = createLedger();
});
const openIds = () => [...ledger.open()].map(({ request }) => BigInt(request.requestId));
const add = (id: bigint, blockNumber: bigint): Entry<OnChainRequest> => ledger.add(request(id, blockNumber))!;

test("default: a request is open until it is finished, and known after that", () => {
  const entry = add(1n, 10n);
  expect(openIds()).toEqual([1n]);
  ledger.finish(entry.request, 11n);
  expect([openIds(), ledger.isOpen(entry), ledger.add(entry.request)]).toEqual([[], false, undefined]);
});

test("behaviour: a reorganisation forgets the requests of replaced blocks and reopens what was answered in them", () => {
  add(1n, 10n);
  add(2n, 12n);
  ledger.finish(add(3n, 10n).request, 12n);
  ledger.finish(add(4n, 10n).request, 11n);
  ledger.finish(add(5n, 12n).request, 12n);
  ledger.onReorg(12n);
  expect(openIds()).toEqual([1n, 3n]);
});

test("behaviour: an entry that a reorganisation put another in the place of is no longer open", () => {
  const first = add(1n, 12n);
  ledger.onReorg(12n);
  const second = add(1n, 13n);
  expect([ledger.isOpen(first), ledger.isOpen(second)]).toEqual([false, true]);
});

test("behaviour: answers are forgotten after 256 blocks", () => {
  ledger.finish(add(1n, 10n).request, 11n);
  ledger.onHead(266n);
  expect(ledger.add(request(1n, 10n))).toBeUndefined();
  ledger.onHead(267n);
  expect(ledger.add(request(1n, 10n))).toBeDefined();
});

test("behaviour: pauses double up to the longest", () => {
  const entry = add(1n, 10n);
  const pauses = Array.from({ length: 6 }, () => ledger.postpone(entry, "no luck", 10_000));
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000]);
  expect(ledger.pending("vrf")).toMatchObject([{ why: "no luck" }]);
});

test("behaviour: funding lifts the pause of the subscription's requests, at first", () => {
  const [mine, theirs] = [add(1n, 10n), add(2n, 10n)];
  for (const entry of [mine, theirs]) {
    entry.underfunded = true;
    ledger.postpone(entry, "short of LINK", 10_000);
  }
  ledger.fund(1n);
  expect([mine.underfunded, mine.notBefore, theirs.underfunded]).toEqual([false, 0, true]);
  for (let attempt = 0; attempt < 5; attempt += 1) ledger.postpone(mine, "short of LINK", 10_000);
  mine.underfunded = true;
  ledger.fund(1n);
  expect([mine.underfunded, mine.notBefore > 0]).toEqual([false, true]);
});

test("behaviour: gas is raised to four times the estimate and no further", () => {
  const entry = add(1n, 10n);
  for (let attempt = 0; attempt < 5; attempt += 1) ledger.raiseGas(entry);
  expect(entry.gasFactor).toBe(4n);
});

test("behaviour: only open requests count that were taken in since then", () => {
  const { seenAt } = add(1n, 10n);
  ledger.finish(add(2n, 10n).request, 11n);
  expect([ledger.openSince(seenAt - 1), ledger.openSince(Date.now())]).toEqual([1, 0]);
});
