import pc from "picocolors";
import { expect, test } from "vitest";
import { formatLogLine } from "../../src/cli/serviceLog.ts";

const plain = pc.createColors(false);
const entry = { level: 40, time: Date.UTC(2026, 0, 1, 12), pid: 1, hostname: "h" };

test("time, message and facts stand on one line", () => {
  const line = JSON.stringify({ ...entry, network: "sepolia", count: 2, msg: "request ended" });
  expect(formatLogLine(line, plain)).toBe("12:00:00 ! request ended network=sepolia count=2");
});

test("a broken preset is shown as compilers do", () => {
  const problem = { preset: "loot", file: "loot/source.js", line: 8, column: 12, reason: 'Unexpected "="' };
  const line = JSON.stringify({ ...entry, problem, msg: "preset not served" });
  expect(formatLogLine(line, plain)).toBe(
    '12:00:00 ! preset not served\n         ✗ loot/source.js:8:12: Unexpected "="',
  );
});

test("an error brings its stack, a warning its message, and neither moves the cursor", () => {
  const err = { message: "bad\u001b[2J", stack: "Error: bad\n    at x" };
  expect(formatLogLine(JSON.stringify({ ...entry, err, msg: "m" }), plain)).toBe(
    "12:00:00 ! m\n         bad\ufffd[2J",
  );
  expect(formatLogLine(JSON.stringify({ ...entry, level: 50, err, msg: "m" }), plain)).toContain("    at x");
});

test("what is no line of the log is given back", () => {
  expect(formatLogLine("plain\n", plain)).toBe("plain");
});
