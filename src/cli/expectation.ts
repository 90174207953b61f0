import { readFile } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import type { RequestVerification } from "../api/types.ts";
import { TycheError } from "../lib/errors.ts";
import { canonicalLabel } from "../lib/label.ts";

/** What each request of a verified transaction must be of. */
export interface Expectation {
  readonly what: "label" | "list";
  /** A label, or the path of a file with the entries: a JSON array of texts, or one to a line. */
  readonly of: string;
}

/** Adds an expectation of the command line to those before it. */
export function collectExpectation(typed: string, before: readonly Expectation[] = []): Expectation[] {
  const [, what, of] = /^(label|list)=(.+)$/s.exec(typed) ?? [];
  if (what === "label") return [...before, { what, of: of! }];
  if (what === "list" && of!.startsWith("@")) return [...before, { what, of: of!.slice(1) }];
  throw new InvalidArgumentError("It must be label=TEXT or list=@FILE.");
}

/** Returns what an expectation finds wrong with a request; `undefined` if nothing. */
export async function findUnexpected(
  { what, of }: Expectation,
  { label, args }: Pick<RequestVerification, "label" | "args">,
): Promise<string | undefined> {
  if (what === "label") {
    const found = label === null ? "none" : JSON.stringify(label.label);
    return label?.label === canonicalLabel(of)
      ? undefined
      : `the label is ${found}, not ${JSON.stringify(canonicalLabel(of))}`;
  }
  const entries = JSON.stringify(await readEntries(of));
  return args?.some((arg) => isSameJson(arg, entries)) ? undefined : `no argument is the list of ${of}`;
}

async function readEntries(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8");
  if (!text.trimStart().startsWith("[")) return text.replace(/\r?\n$/, "").split(/\r?\n/);
  try {
    return JSON.parse(text) as readonly string[];
  } catch {
    throw new TycheError(`${file} is neither a JSON array of texts nor a list with one entry to a line`, {
      code: "invalid_parameter",
      blame: "caller",
    });
  }
}

function isSameJson(arg: string, json: string): boolean {
  try {
    return JSON.stringify(JSON.parse(arg)) === json;
  } catch {
    return false;
  }
}
