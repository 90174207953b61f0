import { expect, test } from "vitest";
import { createProgress } from "../../src/cli/progress.ts";

function start(isTerminal: boolean) {
  let text = "";
  let ms = 0;
  const progress = createProgress({ isTerminal, write: (part) => void (text += part), now: () => ms });
  return { progress, text: () => text, pass: (passed: number) => void (ms += passed) };
}

test("after a second it shows each step in place of the one before, and leaves nothing behind", () => {
  const { progress, text, pass } = start(true);
  pass(1_000);
  progress.show("10,000 of 20,000 draws");
  progress.show("20,000 of 20,000 draws");
  progress.clear();
  progress.clear();
  expect(text()).toBe("\r\u001b[K10,000 of 20,000 draws\r\u001b[K20,000 of 20,000 draws\r\u001b[K");
});

test("what is quick shows nothing, and neither does a pipe", () => {
  const quick = start(true);
  quick.pass(999);
  quick.progress.show("1");
  quick.progress.clear();
  const piped = start(false);
  piped.pass(5_000);
  piped.progress.show("1");
  piped.progress.clear();
  expect([quick.text(), piped.text()]).toEqual(["", ""]);
});
