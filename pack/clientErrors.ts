/**
 * Writes `src/client/errorClasses.ts`: a class for each error code that a caller can meet, from the table of the codes. Usage:
 * `npm run types`
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { ERROR_TABLE } from "../src/http/errorTable.ts";

export const ERRORS_FILE = path.resolve(import.meta.dirname, "../src/client/errorClasses.ts");

/** Codes of calls that need a page of the application, or a header that `fetch` doesn't send. */
const UNSEEN = new Set(["form_refused", "sign_in_refused", "expectation_failed"]);

/** Returns the codes that a caller can meet, each with the name of its class. */
export function listErrorClasses(): readonly {
  readonly code: string;
  readonly name: string;
  readonly meaning: string;
  /** Whether its class is written by hand, for members of its own. */
  readonly isByHand: boolean;
}[] {
  return Object.entries(ERROR_TABLE)
    .filter(([code]) => !UNSEEN.has(code))
    .map(([code, { meaning }]) => ({
      code,
      name: `${code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Error`,
      meaning,
      isByHand: code === "function_failed",
    }));
}

/** Returns the source of the classes. */
export function describeErrors(): string {
  const errors = listErrorClasses();
  const classes = errors
    .filter(({ isByHand }) => !isByHand)
    .map(({ name, meaning }) => `/** ${meaning} */\nexport class ${name} extends ApiError {}\n`);
  const table = errors.map(({ code, name }) => `  ${code}: ${name},\n`).join("");
  return `${HEADER}\n${classes.join("\n")}\n${TABLE}${table}};\n`;
}

const HEADER = `// Written by \`npm run types\` from the table of the error codes.
import { ApiError, FunctionFailedError, type ApiErrorFacts } from "./errors.ts";
`;

const TABLE = `/** The class for each code that an API caller can meet. Codes of newer services become a plain {@link ApiError}. */
export const ERROR_CLASSES: Readonly<Record<string, new (facts: ApiErrorFacts) => ApiError>> = {
`;

if (import.meta.main) writeFileSync(ERRORS_FILE, describeErrors());
