// Records the reference's answers: node test/sandbox/differential/record.ts [--all]
// Without --all only new and edited cases are run. Needs the dev dependencies `deno` and `@chainlink/functions-toolkit`, and no network.
import { readFileSync, writeFileSync } from "node:fs";

import { fingerprint, readCases } from "./cases.ts";
import { type Recording, RECORDING_FILE } from "./recording.ts";
import { createReference } from "./reference.ts";
import { startTestServer } from "./testServer.ts";

const cases = readCases();
const earlier: Recording = process.argv.includes("--all")
  ? { reference: "", answers: {} }
  : (JSON.parse(readFileSync(RECORDING_FILE, "utf8")) as Recording);
const answers: Recording["answers"] = {};
const reference = createReference();
const server = await startTestServer();
let ran = 0;
await Promise.all(
  cases.map(async (testCase) => {
    const known = earlier.answers[testCase.id];
    const hash = fingerprint(testCase);
    if (known?.fingerprint === hash) {
      answers[testCase.id] = known;
      return;
    }
    ran++;
    answers[testCase.id] = { fingerprint: hash, ...(await reference.run(testCase, server.url)) };
  }),
);
reference.close();
await server.close();
const sorted = Object.fromEntries(cases.map(({ id }) => [id, answers[id]]));
writeFileSync(
  RECORDING_FILE,
  `${JSON.stringify({ reference: "functions-toolkit 0.3.2 simulateScript with deno 2.9.6", answers: sorted }, null, 2)}\n`,
);
console.log(`${cases.length} cases, ${ran} run anew.`);
