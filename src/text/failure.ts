import { LINE_COMMENTS } from "./sourceHosts.ts";

/** How results and verdicts say that a source failed. */

/** Says what failed. */
export function nameFailure(isDraw: boolean): string {
  return isDraw ? "the draw failed" : "the function failed";
}

/** Says of a function request that the router took it off the chain, so that no result can follow. */
export const TIMED_OUT = "it timed out and was removed without a result";

/** What the nodes report if too few of them came to the same outcome. */
export const DISAGREED = "the oracle's nodes disagreed: too few of them saw the same";

/** Whether an error is the nodes' own: what they read differed from node to node. */
export function isDisagreement(error: string): boolean {
  return error === DISAGREED;
}

/** The errors of the runtime itself, which nodes report in these words (Chainlink Functions), and what they mean. */
const EXPLANATIONS: readonly (readonly [error: RegExp, explanation: string])[] = [
  [/^script runtime exceeded$/, "The source ran for longer than the network lets it."],
  [/^error$/, "The source threw an error without a text."],
  [/^response >\d+ bytes$/, "The result of the source is longer than the network takes."],
  [
    /^returned value not an ArrayBuffer or Uint8Array$/,
    "The source must return bytes, such as those of Functions.encodeString.",
  ],
  [
    /^syntax error, RAM exceeded, or other error$/,
    "The source can't be compiled, needs more memory than there is, or threw something that is no error.",
  ],
];

/** Explains an error that is the runtime's own; `undefined` for a source's. */
export function explainFailure(error: string): string | undefined {
  return EXPLANATIONS.find(([pattern]) => pattern.test(error))?.[1];
}

/** Finds the line of a program, as its author wrote it, that throws an error; `undefined` for an error of the runtime itself. */
export function findLineOf(
  { source, preset }: { readonly source: string; readonly preset?: { readonly source: string } | undefined },
  error: string,
): ReturnType<typeof findThrowingLine> {
  return isDisagreement(error) || explainFailure(error) !== undefined
    ? undefined
    : findThrowingLine(preset?.source ?? source, error);
}

/** Finds where the source of a request failed, from 1, as far as its error names the place or one line throws it. */
export function findFailedPlace(
  source: string,
  {
    error,
    outcome,
  }: { readonly error: { readonly message: string } | null; readonly outcome: object | null },
): { readonly line?: number; readonly column?: number } {
  if (error !== null) return findDryRun(error.message) ?? {};
  const { success, err } = { success: true, err: "", ...outcome };
  const line = success ? undefined : findLineOf({ source }, err);
  return line === undefined ? {} : { line: line.number };
}

/** Says what a source threw, and where, unless its text says so itself. */
export function describeThrown({
  err,
  line,
  column = 1,
}: {
  readonly err: string;
  /** From 1, as `column`. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}): string {
  const place = line === undefined ? "" : `line ${line}, column ${column}`;
  return err.includes(place) ? err : `${err} (${place})`;
}

/** Says completely, on one line, why a run failed: what its source threw, and what the service knows of the cause. */
export function describeReasons({
  details = [],
  ...thrown
}: Parameters<typeof describeThrown>[0] & {
  readonly details?: readonly { readonly message: string }[] | undefined;
}): string {
  return [describeThrown(thrown), ...details.map(({ message }) => message)].join("; ");
}

const DRY_RUN = "the dry run of the source failed: ";
/** The place that the text of a failed dry run ends with, or that of a syntax error begins with. */
const PLACE = /^syntax error in line (\d+), column (\d+)|.*\(line (\d+), column (\d+)\)/s;

/** Says why the dry run of a source failed, in the words that a request ends with. */
export function describeDryRun(reason: string): string {
  return DRY_RUN + reason;
}

/** Reads back what {@link describeDryRun} wrote, with the place that the reason names, from 1; `undefined` for other errors. */
export function findDryRun(
  message: string,
): { readonly reason: string; readonly line?: number; readonly column?: number } | undefined {
  if (!message.startsWith(DRY_RUN)) return undefined;
  const reason = message.slice(DRY_RUN.length);
  const place = PLACE.exec(reason)?.filter((part) => part !== undefined);
  return place === undefined ? { reason } : { reason, line: Number(place[1]), column: Number(place[2]) };
}

/** What a source throws: its text, up to what is filled in. */
const THROWN = /\bthrow\b[^"'`]{0,80}(["'`])((?:(?!\1|\$\{|\\).)*)/g;
/** A shorter text may be anywhere. */
const MIN_THROWN = 3;

/**
 * Finds where a source throws an error: the first line, from 1, that throws the longest text with which the error begins. An error doesn't name
 * its line, so another one with the same text may have thrown it; `undefined` if none has it.
 */
export function findThrowingLine(
  source: string,
  error: string,
): { readonly number: number; readonly text: string } | undefined {
  const thrown = source
    .split("\n")
    .flatMap((line, index) =>
      [...line.replaceAll(LINE_COMMENTS, "").matchAll(THROWN)].map(([, , begins = ""]) => ({
        begins,
        line: { number: index + 1, text: line.trim() },
      })),
    )
    .filter(({ begins }) => begins.length >= MIN_THROWN && error.startsWith(begins));
  return thrown.toSorted((a, b) => b.begins.length - a.begins.length)[0]?.line;
}
