import { describe, expect, test, vi } from "vitest";
import {
  findCronMistake,
  formatDuration,
  isTimeZone,
  nextTick,
  nextTicks,
  parseDuration,
  shortestDistance,
} from "../../src/domain/scheduleTimes.ts";

const at = (text: string): number => Date.parse(text);
const write = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

/** Ticks of each day of the weeks around the changes of clocks in 2026, in UTC. Computed by hand from the rules of each zone. */
const WEEKS = [
  {
    // Berlin: UTC+1, from 2026-03-29 01:00Z UTC+2; 02:00–03:00 doesn't exist.
    timeZone: "Europe/Berlin",
    from: "2026-03-26T00:00Z",
    rows: {
      "30 2 * * *": [
        "2026-03-26T01:30",
        "2026-03-27T01:30",
        "2026-03-28T01:30",
        "2026-03-29T01:00",
        "2026-03-30T00:30",
        "2026-03-31T00:30",
        "2026-04-01T00:30",
      ],
      "0,30 2 * * *": [
        "2026-03-26T01:00",
        "2026-03-26T01:30",
        "2026-03-27T01:00",
        "2026-03-27T01:30",
        "2026-03-28T01:00",
        "2026-03-28T01:30",
        "2026-03-29T01:00",
        "2026-03-30T00:00",
        "2026-03-30T00:30",
      ],
      "0 9 * * 1-5": [
        "2026-03-26T08:00",
        "2026-03-27T08:00",
        "2026-03-30T07:00",
        "2026-03-31T07:00",
        "2026-04-01T07:00",
      ],
      "0 2,3 29 3 *": ["2026-03-29T01:00", "2027-03-29T00:00"],
    },
  },
  {
    // Berlin: until 2026-10-25 01:00Z UTC+2, then UTC+1; 02:00–03:00 occurs twice.
    timeZone: "Europe/Berlin",
    from: "2026-10-22T00:00Z",
    rows: {
      "30 2 * * *": [
        "2026-10-22T00:30",
        "2026-10-23T00:30",
        "2026-10-24T00:30",
        "2026-10-25T00:30",
        "2026-10-26T01:30",
        "2026-10-27T01:30",
        "2026-10-28T01:30",
      ],
      "0,30 2 * * *": [
        "2026-10-22T00:30",
        "2026-10-23T00:00",
        "2026-10-23T00:30",
        "2026-10-24T00:00",
        "2026-10-24T00:30",
        "2026-10-25T00:00",
        "2026-10-25T00:30",
        "2026-10-26T01:00",
        "2026-10-26T01:30",
      ],
      "0 1-3 25 * *": ["2026-10-24T23:00", "2026-10-25T00:00", "2026-10-25T02:00", "2026-11-25T00:00"],
      "0 9 * * *": [
        "2026-10-22T07:00",
        "2026-10-23T07:00",
        "2026-10-24T07:00",
        "2026-10-25T08:00",
        "2026-10-26T08:00",
      ],
    },
  },
  {
    // New York: UTC-5, from 2026-03-08 07:00Z UTC-4; 02:00–03:00 doesn't exist.
    timeZone: "America/New_York",
    from: "2026-03-05T00:00Z",
    rows: {
      "15 2 * * *": [
        "2026-03-05T07:15",
        "2026-03-06T07:15",
        "2026-03-07T07:15",
        "2026-03-08T07:00",
        "2026-03-09T06:15",
        "2026-03-10T06:15",
        "2026-03-11T06:15",
      ],
      "0 0 * * 0": ["2026-03-08T05:00", "2026-03-15T04:00"],
    },
  },
  {
    // New York: until 2026-11-01 06:00Z UTC-4, then UTC-5; 01:00–02:00 occurs twice.
    timeZone: "America/New_York",
    from: "2026-10-29T00:00Z",
    rows: {
      "*/20 1 1 * *": ["2026-11-01T05:00", "2026-11-01T05:20", "2026-11-01T05:40", "2026-12-01T06:00"],
      "30 1 * * *": [
        "2026-10-29T05:30",
        "2026-10-30T05:30",
        "2026-10-31T05:30",
        "2026-11-01T05:30",
        "2026-11-02T06:30",
        "2026-11-03T06:30",
        "2026-11-04T06:30",
      ],
    },
  },
  {
    // Lord Howe: until 2026-04-04 15:00Z UTC+11, then UTC+10:30; 01:30–02:00 on the 5th occurs twice.
    timeZone: "Australia/Lord_Howe",
    from: "2026-04-02T00:00Z",
    rows: {
      "45 1 * * *": [
        "2026-04-02T14:45",
        "2026-04-03T14:45",
        "2026-04-04T14:45",
        "2026-04-05T15:15",
        "2026-04-06T15:15",
        "2026-04-07T15:15",
        "2026-04-08T15:15",
      ],
    },
  },
  {
    // Lord Howe: until 2026-10-03 15:30Z UTC+10:30, then UTC+11; 02:00–02:30 on the 4th doesn't exist.
    timeZone: "Australia/Lord_Howe",
    from: "2026-10-01T00:00Z",
    rows: {
      "15 2 * * *": [
        "2026-10-01T15:45",
        "2026-10-02T15:45",
        "2026-10-03T15:30",
        "2026-10-04T15:15",
        "2026-10-05T15:15",
        "2026-10-06T15:15",
        "2026-10-07T15:15",
      ],
      "5,10 2 * * *": [
        "2026-10-01T15:35",
        "2026-10-01T15:40",
        "2026-10-02T15:35",
        "2026-10-02T15:40",
        "2026-10-03T15:30",
        "2026-10-04T15:05",
      ],
    },
  },
] as const;

describe.each(WEEKS)("the week from $from in $timeZone", ({ timeZone, from, rows }) => {
  test.each(Object.entries(rows))("%s", (cron, ticks) => {
    expect(nextTicks({ cron, timeZone }, at(from), ticks.length).map(write)).toEqual(ticks);
  });
});

describe.each([
  ["Europe/Berlin", "2026-03-29T00:00Z"],
  ["Europe/Berlin", "2026-10-24T22:00Z"],
  ["America/New_York", "2026-03-08T05:00Z"],
  ["America/New_York", "2026-11-01T04:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T13:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T14:00Z"],
])("in %s from %s", (timeZone, from) => {
  test("what runs every ten minutes of every hour goes on doing so", () => {
    const ticks = nextTicks({ cron: "*/10 * * * *", timeZone }, at(from), 30);
    expect(ticks).toEqual(ticks.map((_, i) => at(from) + (i + 1) * 600_000));
  });
});

test("counts equal distances from the start", () => {
  const timing = { everyMs: 10_000, startsAt: 5_000 };
  expect(nextTicks(timing, 5_000, 3)).toEqual([15_000, 25_000, 35_000]);
  expect(nextTick(timing, 15_001)).toBe(25_000);
});

test("has no tick after a date that comes no more", () => {
  expect(nextTick({ cron: "0 0 30 2 *", timeZone: "UTC" }, at("2026-01-01T00:00Z"))).toBeUndefined();
});

test.each([
  ["*/5 * * * * *", 5_000],
  ["58,2 * * * * *", 4_000],
  ["0 * * * * *", 60_000],
  ["*/7 * * * *", 240_000],
  ["0,50 0,59 0,23 * * *", 10_000],
  ["0,50 0,59 0,23 1 * *", 50_000],
  ["0,50 0,59 0,23 1,31 * *", 10_000],
  ["0,50 0,59 0,23 29 2 1", 10_000],
  ["0,50 0,59 0,23 29 2 *", 50_000],
])("measures the shortest distance of %s", (cron, distance) => {
  expect(shortestDistance({ cron, timeZone: "Europe/Berlin" }, at("2026-01-01T00:00Z"))).toBe(distance);
});

test.each([
  ["10s", 10_000],
  ["90m", 5_400_000],
  ["1h", 3_600_000],
  ["2d", 172_800_000],
])("parses %s, and writes it again", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
  expect(formatDuration(ms)).toBe(text);
});

test.each(["", "0s", "1", "1w", "01h", "1.5h", "-1h", "1 h", "9999999s"])("parses no %j", (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test.each([
  ["x", "five fields"],
  ["* * * * * * *", "five fields"],
  ["61 * * * *", "minute"],
  ["? * * * *", "digits"],
  ["0 0 30 2 *", "never comes"],
  ["2026-01-01T00:00:00 * * * *", "digits"],
])("says what is wrong with %j", (cron, why) => {
  expect(findCronMistake(cron)).toContain(why);
});

test("knows time zones", () => {
  expect(["UTC", "Europe/Berlin", "Mars/Olympus", ""].map(isTimeZone)).toEqual([true, true, false, false]);
});

test("looks at local time only near a tick, however long there is none", () => {
  const read = vi.spyOn(Intl.DateTimeFormat.prototype, "formatToParts");
  const timing = { cron: "0 0 29 2 *", timeZone: "Europe/Berlin" };
  expect(nextTicks(timing, at("2026-01-01T00:00Z"), 5).map(write).at(-1)).toBe("2044-02-28T23:00");
  expect(read.mock.calls.length).toBeLessThan(200);
  read.mockRestore();
});
