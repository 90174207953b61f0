import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { AUDIT_WORDS } from "../../src/lib/auditWords.ts";
import { isAudited } from "../../src/http/recordChange.ts";

test("every operation that the audit log records has words", () => {
  const file = path.resolve(import.meta.dirname, "../../src/http/examples.json");
  const operations = Object.keys(JSON.parse(readFileSync(file, "utf8")) as object).filter(isAudited);
  expect(operations.length).toBeGreaterThan(20);
  expect(operations.filter((id) => !(id in AUDIT_WORDS))).toEqual([]);
});
