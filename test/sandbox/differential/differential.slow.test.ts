import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type DifferentialCase, fingerprint, readCases } from "./cases.ts";
import { compare, runOurs } from "./compare.ts";
import { DECLARED } from "./declared.ts";
import { RECORDING_FILE, type Recording } from "./recording.ts";
import { createReference } from "./reference.ts";
import { type TestServer, startTestServer } from "./testServer.ts";

const cases = readCases();
const { answers } = JSON.parse(readFileSync(RECORDING_FILE, "utf8")) as Recording;
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Runs all cases, four at a time, and returns those with unexpected answers. */
async function disagreeing(
  chosen: readonly DifferentialCase[],
  referenceOf: (testCase: DifferentialCase) => Promise<Recording["answers"][string]>,
): Promise<string[]> {
  const found: string[] = [];
  const queue = [...chosen];
  const work = async (): Promise<void> => {
    for (let testCase = queue.shift(); testCase !== undefined; testCase = queue.shift()) {
      const ours = await runOurs(testCase, server.url);
      const difference = compare(testCase, await referenceOf(testCase), ours);
      const isDeclared = DECLARED[testCase.id] !== undefined;
      if ((difference !== undefined) !== isDeclared)
        found.push(`${testCase.id}: ${JSON.stringify(difference ?? "agrees, yet declared")}`);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return found;
}

test("every case is recorded as it is now", () => {
  const stale = cases
    .filter((testCase) => answers[testCase.id]?.fingerprint !== fingerprint(testCase))
    .map(({ id }) => id);
  expect(stale, "run node test/sandbox/differential/record.ts").toEqual([]);
  expect(Object.keys(answers)).toHaveLength(cases.length);
  expect(Object.keys(DECLARED).filter((id) => answers[id] === undefined)).toEqual([]);
});

test("answers as the recorded Deno does, but for declared differences", async () => {
  const found = await disagreeing(cases, async ({ id }) => answers[id] as Recording["answers"][string]);
  expect(found).toEqual([]);
});

test("answers as the installed Deno does", async () => {
  const reference = createReference();
  try {
    const live = cases.filter((testCase) => testCase.live);
    expect(live.length).toBeGreaterThanOrEqual(20);
    const found = await disagreeing(live, async (testCase) => ({
      fingerprint: "",
      ...(await reference.run(testCase, server.url)),
    }));
    expect(found).toEqual([]);
  } finally {
    reference.close();
  }
});
