import type { Outcome, RequestView, StateChange } from "../client/index.ts";
import { lineOf } from "../lib/sharedText.ts";
import { isReadable, type Terminal, withoutControls } from "./terminal.ts";

/** Prints a result: the value to standard output, its place on chain and its public page to standard error. */
export function printOutcome(outcome: Outcome, { out, err, colors }: Terminal): void {
  if ("randomNumber" in outcome) for (const word of outcome.randomNumber) out(word);
  else if ("parsedResult" in outcome) {
    if (outcome.success) {
      out(showText(outcome.parsedResult, outcome.result));
      if (!isReadable(outcome.parsedResult)) err(colors.dim("the result is not text: shown as hex"));
    } else err(`${colors.red("failed:")} ${withoutControls(outcome.err)}`);
  } else out(outcome.transactionHash);
  if ("url" in outcome)
    err(colors.dim([outcome.url, outcome.shareUrl].filter((url) => url !== undefined).join("\n")));
  if ("warnings" in outcome) printWarnings(outcome.warnings, { err, colors });
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

/** Prints a change of state as a line on standard error. */
export function printEvent({ at, state, detail, transactionHash }: StateChange, terminal: Terminal): void {
  const time = at.slice(11, 23);
  const facts = [transactionHash, detail].filter((fact) => fact !== undefined).map(withoutControls);
  terminal.err(terminal.colors.dim(`${time}  ${state.padEnd(10)}  ${facts.join("  ")}`.trimEnd()));
}

/** Prints a request with its timeline. */
export function printRequest(request: RequestView, terminal: Terminal): void {
  const { out, colors } = terminal;
  const { id, kind, network, state, why, params, triggerId, timeline, outcome, error } = request;
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
  if (error !== null) out(`  ${colors.red(error.code)}  ${withoutControls(error.message)}`);
  if (outcome !== null) printOutcome(outcome, terminal);
}

/** Returns a result on one line: a preset's in its own words, such as `Heads`. */
export function summarize({ outcome, shown, error }: RequestView): string {
  if (error !== null) return withoutControls(error.code);
  if (shown !== undefined) return withoutControls(lineOf(shown));
  if (outcome === null) return "";
  if ("randomNumber" in outcome) return outcome.randomNumber.join(", ");
  if (!("parsedResult" in outcome)) return outcome.transactionHash;
  const text = outcome.success ? showText(outcome.parsedResult, outcome.result) : outcome.err;
  return withoutControls(text.split("\n")[0] ?? "");
}

/** Returns the color of a state. */
export function colorOf(state: string, colors: Terminal["colors"]): (text: string) => string {
  if (state === "fulfilled") return colors.green;
  return state === "failed" ? colors.red : colors.yellow;
}
