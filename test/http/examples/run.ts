/**
 * Records the examples of the OpenAPI document from a service that it starts: `src/http/examples.json`. Usage: `npm run examples`
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { recordExamples } from "./recordExamples.ts";

const FILE = path.resolve(import.meta.dirname, "../../../src/http/examples.json");
writeFileSync(FILE, `${JSON.stringify(await recordExamples(), null, 2)}\n`);
