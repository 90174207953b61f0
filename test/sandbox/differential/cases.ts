import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";

import { toAnswers } from "./answers.ts";

const CASES_DIRECTORY = new URL("cases/", import.meta.url);

/** One source with its inputs, run by the reference and by our sandbox. */
export interface DifferentialCase {
  /** Topic (file name without `.txt`) and the case's own name: `encoders/uint256 at the upper bound`. */
  readonly id: string;
  readonly topic: string;
  readonly source: string;
  readonly args?: readonly string[];
  readonly bytesArgs?: readonly string[];
  readonly secrets?: Readonly<Record<string, string>>;
  /** Whether the local test server's base URL is prepended to `args`. */
  readonly server: boolean;
  /** Time limit of the run in milliseconds; default 10,000, like the toolkit's. */
  readonly timeoutMs?: number;
  /** Whether it also runs live against Deno in the ordinary test, not only in `npm run test:differential`. */
  readonly live: boolean;
}

interface CaseOptions {
  args?: string[];
  bytesArgs?: string[];
  secrets?: Record<string, string>;
  server?: boolean;
  timeoutMs?: number;
  live?: boolean;
  unescape?: boolean;
  crlf?: boolean;
  answers?: boolean;
}

/**
 * Reads every case of `cases/*.txt`.
 *
 * A case begins with a line `=== name` or `=== name | {options as JSON}` and ends at the next such line; the text in between is the source,
 * without its last line feed. `unescape` turns `\uXXXX` in the source into that character, `crlf` its line feeds into CR LF; with
 * `answers` the text is a list of expressions, see {@link toAnswers}.
 *
 * @throws Error when two cases of a topic have the same name, or options are not JSON.
 */
export function readCases(): DifferentialCase[] {
  const topics = readdirSync(CASES_DIRECTORY)
    .filter((file) => file.endsWith(".txt"))
    .sort();
  return topics.flatMap((file) =>
    parseCases(file.slice(0, -4), readFileSync(new URL(file, CASES_DIRECTORY), "utf8")),
  );
}

/**
 * Returns a SHA-256 of everything that decides the reference's answer to a case, as 16 hex digits: an edited case needs a new recording.
 */
export function fingerprint(testCase: DifferentialCase): string {
  const { source, args, bytesArgs, secrets, server, timeoutMs } = testCase;
  return createHash("sha256")
    .update(JSON.stringify([source, args, bytesArgs, secrets, server, timeoutMs]))
    .digest("hex")
    .slice(0, 16);
}

function parseCases(topic: string, text: string): DifferentialCase[] {
  const seen = new Set<string>();
  return text
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const lineEnd = block.indexOf("\n");
      const [name = "", optionsText] = block.slice(0, lineEnd).split(" | ", 2);
      if (seen.has(name)) throw new Error(`${topic}.txt has two cases named "${name}".`);
      seen.add(name);
      const options = (optionsText === undefined ? {} : JSON.parse(optionsText)) as CaseOptions;
      const {
        unescape = false,
        crlf = false,
        answers = false,
        server = false,
        live = false,
        ...inputs
      } = options;
      let source = block.slice(lineEnd + 1).replace(/\n$/, "");
      if (unescape) {
        source = source.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) =>
          String.fromCharCode(parseInt(hex, 16)),
        );
      }
      if (answers) source = toAnswers(source);
      if (crlf) source = source.replaceAll("\n", "\r\n");
      return { id: `${topic}/${name}`, topic, source, server, live, ...inputs };
    });
}
