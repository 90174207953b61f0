import { expect, test } from "vitest";
import {
  describeAction,
  describeLateness,
  describeLogs,
  describeTimes,
} from "../../../../../src/browser/application/pages/dapps/triggerText.ts";

const cron = (text: string): string => describeTimes({ every: null, cron: text, timeZone: "UTC" });
const every = (text: string): string => describeTimes({ every: text, cron: null, timeZone: null });

test("the usual times are put in words, others as they were given", () => {
  expect(every("1h")).toBe("every hour");
  expect(every("90s")).toBe("every 90 seconds");
  expect(cron("0 20 * * *")).toBe("every day at 20:00 (UTC)");
  expect(cron("5 9 * * 1")).toBe("every Monday at 09:05 (UTC)");
  expect(cron("30 9 * * 1-5")).toBe("Monday to Friday at 09:30 (UTC)");
  expect(cron("*/5 * * * *")).toBe("at */5 * * * * (UTC)");
  expect(cron("0 20 * * 1,3")).toBe("at 0 20 * * 1,3 (UTC)");
  expect(cron("0 0 20 * * *")).toBe("at 0 0 20 * * * (UTC)");
  expect(cron("0 20 1 * *")).toBe("at 0 20 1 * * (UTC)");
});

test("what becomes of ticks that are late or early is said in words", () => {
  expect(describeLateness({ catchUp: "one", window: "1d", overlap: "skip" })).toBe(
    "After an outage, makes the newest missed request, up to 1 day late; makes none while the last one has not ended.",
  );
  expect(describeLateness({ catchUp: "all", window: "90m", overlap: "allow" })).toBe(
    "After an outage, makes every missed request, up to 90 minutes late; makes one even while the last one has not ended.",
  );
  expect(describeLateness({ catchUp: "skip", window: "1m", overlap: "skip" })).toMatch(
    /^After an outage, makes none of the missed requests;/,
  );
});

test("an action is said with its parameters", () => {
  expect(describeAction({ preset: "coinflip" })).toBe("draws coinflip");
  expect(describeAction({ preset: "range", min: "1", max: { event: "players" } })).toBe(
    "draws range (min 1, max players of the log)",
  );
  expect(describeAction({ random: {} })).toBe("requests a random number");
  expect(describeAction({ random: { numWords: 3 } })).toBe("requests 3 random numbers");
  expect(describeAction({ function: { source: "return 1" } })).toBe("runs a function");
});

test("logs are said with their contract and event", () => {
  const addresses = ["0x5fbdb2315678afecb367f032d93f642f64180aa3"] as const;
  const event = "event Closed(uint256 indexed round, uint256 players)";
  expect(describeLogs({ addresses, event, confidence: "latest" })).toBe("when 0x5fbd…0aa3 emits Closed");
  expect(describeLogs({ addresses, event: null, confidence: "safe" })).toBe(
    "when 0x5fbd…0aa3 emits a log with its topics, once its block is safe",
  );
  expect(describeLogs({ addresses: [...addresses, ...addresses], event, confidence: "finalized" })).toBe(
    "when one of 2 contracts emits Closed, once its block is final",
  );
});
