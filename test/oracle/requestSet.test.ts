import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  createRequestSet,
  type Entry,
  type RequestSet,
  type OnChainRequest,
} from "../../src/oracle/requestSet.ts";
import { idOf } from "./support/logs.ts";

const request = (id: bigint, blockNumber: bigint): OnChainRequest => ({
  requestId: idOf(id),
  subscriptionId: id,
  blockNumber,
});
let requestSet: RequestSet<OnChainRequest>;
let stopping: AbortController;
/** How often it was told that a pause has ended. */
let due: number;
beforeEach(() => {
  vi.useFakeTimers();
  stopping = new AbortController();
  due = 0;
  requestSet = createRequestSet({ onDue: () => (due += 1), signal: stopping.signal });
});
afterEach(() => {
  vi.useRealTimers();
});
const openIds = () => [...requestSet.open()].map(({ request }) => BigInt(request.requestId));
const add = (id: bigint, blockNumber: bigint): Entry<OnChainRequest> =>
  requestSet.add(request(id, blockNumber))!;

test("a request is open until it is finished, and known after that", () => {
  const entry = add(1n, 10n);
  expect(openIds()).toEqual([1n]);
  requestSet.finish(entry.request, 11n);
  expect([openIds(), requestSet.isOpen(entry), requestSet.add(entry.request)]).toEqual([
    [],
    false,
    undefined,
  ]);
});

test("a reorganisation forgets replaced requests and answers, and says from where to read again", () => {
  add(1n, 9n);
  add(2n, 12n);
  const answered = add(3n, 10n).request;
  requestSet.finish(answered, 12n);
  requestSet.finish(add(4n, 8n).request, 11n);
  requestSet.finish(add(5n, 12n).request, 12n);
  expect(requestSet.onReorg(12n)).toBe(10n);
  expect(openIds()).toEqual([1n]);
  // Added again, the request whose answer is gone is open; the one whose answer stands is known.
  expect(requestSet.add(answered)).toBeDefined();
  expect(requestSet.add(request(4n, 8n))).toBeUndefined();
  expect(requestSet.onReorg(12n)).toBeUndefined();
});

test("an answer that was forgotten as such long ago is remembered for a reorganisation that takes it", () => {
  requestSet.finish(add(1n, 10n).request, 600n);
  requestSet.finish(add(2n, 20n).request, 500n);
  add(3n, 30n);
  requestSet.onHead(5_000n);
  requestSet.drop(idOf(3n));
  expect(requestSet.onReorg(501n)).toBe(10n);
  expect(requestSet.onReorg(500n)).toBe(20n);
});

test("an entry that a reorganisation put another in the place of is no longer open", () => {
  const first = add(1n, 12n);
  requestSet.onReorg(12n);
  const second = add(1n, 13n);
  expect([requestSet.isOpen(first), requestSet.isOpen(second)]).toEqual([false, true]);
});

test("answers are forgotten after 256 blocks", () => {
  requestSet.finish(add(1n, 10n).request, 11n);
  requestSet.onHead(266n);
  expect(requestSet.add(request(1n, 10n))).toBeUndefined();
  requestSet.onHead(267n);
  expect(requestSet.add(request(1n, 10n))).toBeDefined();
});

test("pauses double up to the longest", () => {
  const entry = add(1n, 10n);
  const pauses = Array.from({ length: 6 }, () => {
    requestSet.postpone(entry, "no luck", 10_000);
    return entry.notBefore - performance.now();
  });
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000]);
  expect(requestSet.pending("vrf")).toMatchObject([{ why: "no luck" }]);
});

test("what is due first is told when its pause ends, and no longer waits", () => {
  const [first, second] = [add(1n, 10n), add(2n, 10n)];
  requestSet.postpone(second, "no luck", 10_000);
  requestSet.postpone(second, "no luck", 10_000);
  requestSet.postpone(first, "no luck", 10_000);
  vi.advanceTimersByTime(499);
  expect([due, requestSet.isPaused(first)]).toEqual([0, true]);
  vi.advanceTimersByTime(1);
  expect([due, requestSet.isPaused(first)]).toEqual([1, false]);
  // Whoever asks is told again.
  expect(requestSet.isPaused(second)).toBe(true);
  vi.advanceTimersByTime(500);
  expect([due, requestSet.isPaused(second)]).toEqual([2, false]);
});

test("a request that is no longer open is not postponed, and nothing is told once closed", () => {
  const [gone, open] = [add(1n, 10n), add(2n, 10n)];
  requestSet.drop(gone.request.requestId);
  requestSet.postpone(gone, "no luck", 10_000);
  expect([gone.attempts, requestSet.isPaused(gone)]).toEqual([0, false]);
  requestSet.postpone(open, "no luck", 10_000);
  stopping.abort();
  requestSet.postpone(open, "no luck", 10_000);
  vi.advanceTimersByTime(10_000);
  expect(due).toBe(0);
});

test("funding lifts the pause of the subscription's requests, at first", () => {
  const [mine, theirs] = [add(1n, 10n), add(2n, 10n)];
  for (const entry of [mine, theirs]) {
    entry.underfunded = true;
    requestSet.postpone(entry, "short of LINK", 10_000);
  }
  requestSet.fund(1n);
  expect([mine.underfunded, mine.notBefore, theirs.underfunded]).toEqual([false, 0, true]);
  for (let attempt = 0; attempt < 5; attempt += 1) requestSet.postpone(mine, "short of LINK", 10_000);
  mine.underfunded = true;
  requestSet.fund(1n);
  expect([mine.underfunded, mine.notBefore > 0]).toEqual([false, true]);
});

test("gas is raised to four times the estimate and no further", () => {
  const entry = add(1n, 10n);
  for (let attempt = 0; attempt < 5; attempt += 1) requestSet.raiseGas(entry);
  expect(entry.gasFactor).toBe(4n);
});

test("only open requests count that were taken in since then", () => {
  const { seenAt } = add(1n, 10n);
  requestSet.finish(add(2n, 10n).request, 11n);
  expect([requestSet.openSince(seenAt - 1), requestSet.openSince(performance.now())]).toEqual([1, 0]);
});
