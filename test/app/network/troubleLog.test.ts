import { expect, test, vi } from "vitest";
import { TycheError } from "../../../src/lib/errors.ts";
import { createTroubleLog } from "../../../src/app/network/troubleLog.ts";

const away = (message: string): TycheError =>
  new TycheError(message, { code: "chain_unavailable", blame: "upstream", retryable: true });

test("the same trouble is logged once a minute, another one at once, and a defect with its stack", () => {
  vi.useFakeTimers();
  const warn = vi.fn<(members: object, message: string) => void>();
  const tell = createTroubleLog({ warn }, "retrying");
  const defect = new TypeError("x is undefined");
  for (const error of [away("a"), away("a"), away("b"), away("a"), defect]) tell(error);
  vi.advanceTimersByTime(59_999);
  tell(away("a"));
  vi.advanceTimersByTime(1);
  tell(away("a"));
  expect(warn.mock.calls).toEqual(
    [{ reason: "a" }, { reason: "b" }, { err: defect }, { reason: "a" }].map((members) => [
      members,
      "retrying",
    ]),
  );
});
