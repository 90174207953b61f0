import { afterAll, expect, test } from "vitest";
import { createSandboxPool } from "../../sandbox/index.ts";

const pool = createSandboxPool({ concurrency: 1 });
afterAll(() => pool.close());

async function show(expression: string): Promise<string> {
  const result = await pool.run({ source: `return Functions.encodeString(${expression})` });
  return result.ok ? Buffer.from(result.bytes).toString() : result.error.message;
}

const TIME = `new Intl.DateTimeFormat("en-US", { timeStyle: "short", timeZone: "UTC" })`;
const durationOf = (duration: string, method = "format") =>
  `JSON.stringify(new Intl.DurationFormat("en").${method}(${duration}))`;

test("every method writes plain spaces before AM and PM and around a dash", async () => {
  expect(await show(`${TIME}.format(0)`)).toBe("12:00 AM");
  expect(await show(`${TIME}.formatToParts(0).map(({ value }) => value).join("")`)).toBe("12:00 AM");
  expect(await show(`${TIME}.formatRange(0, 4e6)`)).toBe("12:00 – 1:06 AM");
  expect(await show(`${TIME}.formatRangeToParts(0, 4e6).map(({ value }) => value).join("")`)).toBe(
    "12:00 – 1:06 AM",
  );
});

test("a duration is an object of integers, whichever way it is written", async () => {
  expect(await show(durationOf("{ hours: 1, minutes: 2 }"))).toBe('"1 hr, 2 min"');
  expect(await show(durationOf("{ hours: -1 }", "formatToParts"))).toBe(
    '[{"type":"minusSign","value":"-","unit":"hour"},{"type":"integer","value":"1","unit":"hour"},' +
      '{"type":"literal","value":" ","unit":"hour"},{"type":"unit","value":"hr","unit":"hour"}]',
  );
});

test.each([
  ['"PT1H"', "A duration in text is not supported"],
  ["null", "Temporal error: Duration argument must be Duration or string."],
  ["{ hour: 1 }", "Temporal error: Did not provide any valid Duration fields."],
  ["{ hours: NaN }", "Temporal error: Expected finite integer."],
  ["{ days: 1.5 }", "Temporal error: Expected finite integer."],
  ["{ hours: 1, minutes: -1 }", "Temporal error: Duration was not valid."],
  ["{ years: 2 ** 32 }", "Temporal error: Duration was not valid."],
])("%s is no duration", async (duration, message) => {
  expect(await show(durationOf(duration))).toBe(message);
  expect(await show(durationOf(duration, "formatToParts"))).toBe(message);
});

test("the methods look native, and what a source replaces does not reach into them", async () => {
  const look = "({ name, length }) => `${name} ${length}`";
  expect(await show(`(${look})(Intl.DateTimeFormat.prototype.formatRange)`)).toBe("formatRange 2");
  expect(await show("String(Intl.DurationFormat.prototype.format).includes('[native code]')+''")).toBe(
    "true",
  );
  const replaced = "String.prototype.replaceAll = Number.isInteger = Reflect.apply = () => { throw 1 }";
  expect(await show(`(${replaced}, ${TIME}.formatRange(0, 0))`)).toBe("12:00 AM");
  expect(await show(`(${replaced}, ${durationOf("{ hours: 1 }")})`)).toBe('"1 hr"');
});
