import type {
  DryRunView,
  Outcome,
  RequestView,
  ShownResult,
  StateChange,
  TycheClient,
} from "../client/index.ts";
import { countOf } from "../lib/countOf.ts";
import { repeat } from "../lib/repeat.ts";
import { explainFailure, findFailedPlace } from "../text/failure.ts";
import { lineOf } from "../text/sharedResult.ts";
import { formatCodeFrame } from "./codeFrame.ts";
import { isReadable, oneLine, type Terminal, withoutControls } from "./terminal.ts";

/** How often a request is asked what it waits for, in ms. */
const WAIT_INTERVAL_MS = 2_000;

/**
 * Prints a result: the value to standard output; the side of a coin, its place on chain and its public page to standard error.
 *
 * @param shown the result as its preset says: it names the side of a coin.
 */
export function printOutcome(
  outcome: Outcome,
  { out, err, colors }: Terminal,
  shown: ShownResult | undefined,
): void {
  if ("randomNumber" in outcome) for (const word of outcome.randomNumber) out(word);
  else if ("parsedResult" in outcome) {
    if (outcome.success) {
      out(showText(outcome.parsedResult, outcome.result));
      if (shown?.as === "coin") err(withoutControls(shown.side));
      if (!isReadable(outcome.parsedResult)) err(colors.dim("the result is not text: shown as hex"));
    } else {
      err(`${colors.red("failed:")} ${withoutControls(outcome.err)}`);
      const explanation = explainFailure(outcome.err);
      if (explanation !== undefined) err(`  ${explanation}`);
    }
  } else out(outcome.transactionHash);
  if ("url" in outcome)
    err(colors.dim([outcome.url, outcome.shareUrl].filter((url) => url !== undefined).join("\n")));
  if ("warnings" in outcome) printWarnings(outcome.warnings, { err, colors });
}

/** Asks how a preset says its result; `undefined` if it has none of its own, or nobody answers: the result itself is known. */
export async function findShown(
  outcome: Outcome,
  { client, id }: { readonly client: Pick<TycheClient, "request">; readonly id: string },
): Promise<ShownResult | undefined> {
  if (!("vrfv2Hash" in outcome && outcome.success)) return undefined;
  return (await client.request(id).catch(() => undefined))?.shown;
}

/** Prints what a caller should know about a source although it ran. */
export function printWarnings(
  warnings: readonly string[] = [],
  { err, colors }: Pick<Terminal, "err" | "colors">,
): void {
  for (const warning of warnings) err(`${colors.yellow("warning:")} ${withoutControls(warning)}`);
}

/** Returns a result as text, or as hex if its bytes are not text that a terminal should show. */
export function showText(parsedResult: string, result: string): string {
  return isReadable(parsedResult) ? parsedResult : result;
}

/** Characters of a time of the day, with milliseconds. */
const TIME_WIDTH = 12;

/** Prints a change of state as a line on standard error. */
export function printEvent({ at, state, detail, transactionHash }: StateChange, terminal: Terminal): void {
  const time = at.slice(11, 11 + TIME_WIDTH);
  const facts = [transactionHash, detail].filter((fact) => fact !== undefined).map(withoutControls);
  terminal.err(terminal.colors.dim(`${time}  ${state.padEnd(10)}  ${facts.join("  ")}`.trimEnd()));
}

/** Yields a request's events. Meanwhile prints what it waits for on standard error, as that appears and changes. */
export async function* withWaits<Event>(
  events: AsyncIterable<Event>,
  request: { readonly client: Pick<TycheClient, "request">; readonly id: string },
  { err, colors }: Terminal,
): AsyncGenerator<Event> {
  const over = new AbortController();
  let printed: string | undefined;
  const stop = repeat(
    async () => {
      const { why } = await request.client.request(request.id, { signal: over.signal });
      // How long it has waited is no change.
      const reason = why?.replaceAll(/\d+ seconds/g, "");
      if (why === null || reason === printed || over.signal.aborted) return;
      printed = reason;
      err(colors.dim(`${" ".repeat(TIME_WIDTH)}  waiting     ${withoutControls(why)}`));
    },
    WAIT_INTERVAL_MS,
    // What keeps the service from answering, the events tell.
    () => {},
  );
  try {
    yield* events;
  } finally {
    stop();
    over.abort();
  }
}

/** Prints a request with its timeline. */
export function printRequest(request: RequestView, terminal: Terminal): void {
  const { out, colors } = terminal;
  const { id, kind, network, state, why, params, triggerId, timeline, dryRun, outcome, shown, error } =
    request;
  out(`${colors.bold(id)}  ${kind} on ${network}: ${colorOf(state, colors)(state)}`);
  if (why !== null) out(`  why     ${withoutControls(why)}`);
  if (triggerId !== null) out(`  by      ${triggerId}`);
  out(`  params  ${withoutControls(JSON.stringify(params))}`);
  for (const { at, state, transactionHash = "", detail = "" } of timeline)
    out(
      colors.dim(
        `  ${at}  ${state.padEnd(10)}  ${withoutControls(`${transactionHash} ${detail}`)}`.trimEnd(),
      ),
    );
  if (dryRun !== undefined) {
    printConsole(dryRun.console, terminal);
    printMeasures(dryRun, terminal, "  dry run ");
  }
  if (error !== null) out(`  ${colors.red(error.code)}  ${withoutControls(error.message)}`);
  if (outcome !== null) printOutcome(outcome, terminal, shown);
  const { source } = params;
  if (typeof source === "string") printPlace(source, findFailedPlace(source, request), terminal);
}

/** Prints what a source wrote to its console. */
export function printConsole(text: string, { out, colors }: Pick<Terminal, "out" | "colors">): void {
  const lines = withoutControls(text).trimEnd();
  if (lines !== "") out(colors.dim(lines.replaceAll(/^/gm, "  ")));
}

/** Prints what a run took, if it was measured. */
export function printMeasures(
  { timeMs, memoryBytes = 0, httpRequests = 0 }: Pick<DryRunView, "timeMs" | "memoryBytes" | "httpRequests">,
  { out, colors }: Pick<Terminal, "out" | "colors">,
  heading = "",
): void {
  if (timeMs === undefined) return;
  const memoryMb = (memoryBytes / 2 ** 20).toFixed(1);
  out(
    colors.dim(`${heading}${timeMs.toFixed(1)} ms, ${memoryMb} MB, ${countOf(httpRequests, "HTTP request")}`),
  );
}

/** Prints the lines of a source around the one that failed, if that is known. */
export function printPlace(
  source: string,
  { line, column }: { readonly line?: number | undefined; readonly column?: number | undefined },
  { err }: Pick<Terminal, "err">,
): void {
  const frame = line === undefined ? "" : formatCodeFrame(source, { line, column });
  if (frame !== "") err(withoutControls(frame));
}

/** Returns a result on one line: a preset's in its own words, such as `Heads`; of a request without one, why it has none. */
export function summarize({ outcome, shown, error }: RequestView): string {
  if (error !== null) return oneLine(error.message);
  if (shown !== undefined) return withoutControls(lineOf(shown));
  if (outcome === null) return "";
  if ("randomNumber" in outcome) return outcome.randomNumber.join(", ");
  if (!("parsedResult" in outcome)) return outcome.transactionHash;
  return oneLine(outcome.success ? showText(outcome.parsedResult, outcome.result) : outcome.err);
}

/** Returns the color of a state. */
export function colorOf(state: string, colors: Terminal["colors"]): (text: string) => string {
  if (state === "fulfilled") return colors.green;
  return state === "failed" ? colors.red : colors.yellow;
}
