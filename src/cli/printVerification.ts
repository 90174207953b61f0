import type { RequestVerification, Verification, VerificationStep } from "../api/types.ts";
import type { Hex } from "viem";
import { loadPresets } from "../presets/presetNames.ts";
import { describeResult as describePresetResult } from "../presets/readResult.ts";
import { findPresetFolders } from "../requests/accept/presetFolder.ts";
import { countOf } from "../lib/countOf.ts";
import { fromHexText } from "../lib/hex.ts";
import { describeDraw, describeTimes, shorten } from "../text/draw.ts";
import { describeDraws, describeLabel } from "../domain/label.ts";
import { describeAdvice, describeVerdict, isError, verdictReasons } from "../text/verification.ts";
import { describeErrorBytes, describeResult } from "../verify/describeResult.ts";
import { splitAtHidden } from "../lib/hiddenCharacters.ts";
import { oneLine, withoutControls, type Terminal } from "./terminal.ts";

/** Random words that are shown without `isVerbose`: a request can have 500. */
const MAX_WORDS = 10;

interface PrintOptions {
  /** Whether to print also the transactions, what each step compared, all words, the result's bytes, and the source. */
  readonly isVerbose: boolean;
  /** Whether to print no more than the verdict with its reasons and the results. */
  readonly isQuiet: boolean;
  /** What is not as the caller expected; the verdict of what isn't is never that it is valid. */
  readonly unexpected: readonly string[];
  /** Whose word is taken for addresses or node, because nothing else named them; said with the verdict. */
  readonly believed?: string | undefined;
  /** Results as their presets say, by id of the request. */
  readonly shown: ReadonlyMap<string, string>;
}

/** Prints the verdict with its reasons and the results; then each request with a line per step, and what the checks can't show. */
export function printVerification(found: Verification, terminal: Terminal, options: PrintOptions): void {
  const { out, colors } = terminal;
  const { requests } = found;
  printVerdict(found, terminal, options);
  for (const request of requests) {
    const { verdict, preset, kind, label } = request;
    const own =
      verdict === found.verdict ? "" : `: ${describeVerdict({ verdict, requests: [request] }).words}`;
    const outcome = describeOutcome(request, options);
    const line = outcome ?? "no result";
    const shown = readable(options.isVerbose ? line : shorten(line));
    const claim = verdict === "invalid" && outcome !== undefined ? "claimed, not proven: " : "";
    out(`  ${colors.bold(readable(preset?.name ?? kind))}  ${claim}${shown}${own}`);
    if (label !== null) out(`    ${describeDraws(label, kind)}`);
  }
  if (options.isQuiet) return;
  if (requests.length > 1)
    out(
      colors.dim("  to verify one of them alone: its link (…/r/req_…), or --request-id with its id, below"),
    );
  for (const request of requests) printRequest(request, terminal, options);
  out(`\n${colors.bold("What you still have to trust")}`);
  for (const sentence of found.trust) out(`  – ${sentence}`);
}

/** Writes the results of the presets that are known here as these say, by id of the request. */
export async function readPresetResults({ requests }: Verification): Promise<ReadonlyMap<string, string>> {
  const presets = await loadPresets(findPresetFolders());
  return new Map(
    requests.flatMap(({ requestId, preset, result, args }) => {
      const known = presets.find(({ name }) => name === preset?.name);
      if (known === undefined || result === null || args === null) return [];
      const words = describePresetResult(known, fromHexText(result as Hex), args);
      return words === undefined ? [] : [[requestId, words] as const];
    }),
  );
}

function printVerdict(
  found: Verification,
  { out, colors }: Terminal,
  { unexpected, believed }: PrintOptions,
): void {
  const { words, outcome: ownOutcome } = describeVerdict(found);
  const isExpected = unexpected.length === 0;
  const color = { ok: colors.green, failed: colors.red, notApplicable: colors.yellow }[
    isExpected ? ownOutcome : "failed"
  ];
  const otherwise = found.verdict === "valid" ? "" : ` (${words})`;
  const said = isExpected ? words : `not as expected${otherwise}`;
  const count = countOf(found.requests.length, "request");
  const by = believed === undefined ? "" : `, by ${believed}`;
  out(`${color(said)}: ${count} of ${found.transactionHash} on ${found.network}${by}`);
  for (const problem of unexpected) out(`  ${colors.red(readable(problem))}`);
  for (const reason of verdictReasons(found)) out(`  ${readable(reason)}`);
  if (found.verdict === "unconfirmed") out(`  ${describeAdvice(found)}`);
}

/** Says what came of a request as its preset does, with what is on chain beside it. `undefined` without a result. */
function describeOutcome(
  { requestId, result, err, randomNumber, kind }: RequestVerification,
  { shown }: PrintOptions,
): string | undefined {
  if (isError(err)) return `error: ${describeErrorBytes(err as Hex)}`;
  if (kind === "random") return randomNumber.length === 0 ? undefined : randomNumber.join(", ");
  if (result === null || err === null) return undefined;
  const described = describeResult(result as Hex);
  const words = shown.get(requestId);
  if (words === undefined) return described;
  // The text on chain has the entries of a list, and most other results are that text.
  return described.includes(words) ? words : `${words} (${described})`;
}

function printRequest(request: RequestVerification, terminal: Terminal, options: PrintOptions): void {
  const { out, colors } = terminal;
  const { kind, requestId, transactions } = request;
  out(`\n${colors.bold(kind)}  ${requestId}`);
  if (options.isVerbose)
    for (const [part, hash] of Object.entries(transactions))
      if (hash !== null) out(colors.dim(`  ${part.padEnd(13)} ${hash}`));
  const draw = describeDraw(request);
  if (draw !== undefined) out(`  of     ${readable(options.isVerbose ? draw : shorten(draw))}`);
  const times = describeTimes(request);
  if (times !== undefined) out(`  time   ${times}`);
  out(`  label  ${readable(describeLabel(request.label))}`);
  if (request.label?.searched.isWhole === false)
    out(
      colors.dim("         to search other blocks: --from-block, --to-block; to ask another node: --rpc-url"),
    );
  for (const step of request.steps) printStep(step, terminal, options);
  printBytes(request, terminal, options);
}

function printStep(step: VerificationStep, { out, colors }: Terminal, { isVerbose }: PrintOptions): void {
  out(`  ${markOf(step, colors)} ${step.name.padEnd(13)} ${readable(step.detail)}`);
  for (const { what, expected, found } of step.compared) {
    const isSame = expected.toLowerCase() === found.toLowerCase();
    if (isSame && !isVerbose && step.outcome !== "failed") continue;
    const line = isSame
      ? `${what}: ${shorten(found)}`
      : `${what}: ${shorten(found)}, expected ${shorten(expected)}`;
    out((isSame ? colors.dim : colors.red)(`      ${readable(line)}`));
  }
}

function printBytes(
  { result, randomNumber, source }: RequestVerification,
  { out, colors }: Terminal,
  { isVerbose }: PrintOptions,
): void {
  const shown = isVerbose ? randomNumber : randomNumber.slice(0, MAX_WORDS);
  for (const word of shown) out(`  word   ${word}`);
  if (shown.length < randomNumber.length)
    out(colors.dim(`         and ${randomNumber.length - shown.length} more: see --verbose`));
  if (isVerbose && result !== null && result !== "0x") out(`  result ${result}`);
  if (!isVerbose || source === null) return;
  out("  source");
  for (const line of splitAtHidden(source).join("").split("\n"))
    out(`      ${withoutControls(line.replaceAll("\t", "  "))}`);
}

function markOf({ outcome }: VerificationStep, colors: Terminal["colors"]): string {
  if (outcome === "ok") return colors.green("✓");
  return outcome === "failed" ? colors.red("✗") : colors.yellow("–");
}

/** Returns text of unknown origin as part of one line, with the names of characters that nobody sees. */
function readable(text: string): string {
  return oneLine(splitAtHidden(text).join(""));
}
