import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { AUDIT_TEXT, OPERATIONS } from "../../src/domain/operations.ts";

const examples = path.resolve(import.meta.dirname, "../../src/http/examples.json");

test("the table has the operations of the API, and no other", () => {
  const ids = Object.keys(JSON.parse(readFileSync(examples, "utf8")) as object);
  expect(Object.keys(OPERATIONS).toSorted()).toEqual(ids.toSorted());
});

test("what only reads, or makes a request that is listed, is not in the audit log; all else is", () => {
  const isRecorded = (id: string): boolean =>
    !/^(?:(?:get|list|explore|run|request|simulate|verify|search|read|test)[A-Z]|useFaucet$|search$)/.test(
      id,
    );
  expect(Object.keys(OPERATIONS).filter((id) => isRecorded(id) !== AUDIT_TEXT.has(id))).toEqual([]);
});
