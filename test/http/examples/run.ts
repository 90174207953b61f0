/**
 * Records the examples of the OpenAPI document from a service that it starts: `src/http/examples.json`. Usage: `npm run examples`, which
 * changes what has another form or text than before, or `npm run examples -- --all`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { recordExamples } from "./recordExamples.ts";
import { settle } from "./settle.ts";

const FILE = path.resolve(import.meta.dirname, "../../../src/http/examples.json");
const recorded = await recordExamples();
const examples = process.argv.includes("--all")
  ? recorded
  : settle(JSON.parse(readFileSync(FILE, "utf8")), recorded);
writeFileSync(FILE, `${JSON.stringify(examples, null, 2)}\n`);
