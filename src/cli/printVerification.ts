import type { RequestVerification, Verification, VerificationStep } from "../api/types.ts";
import type { Hex } from "viem";
import { describeDraw, describeTimes, shorten } from "../lib/drawWords.ts";
import { describeLabel } from "../lib/label.ts";
import { describeVerdict, isError, verdictReasons } from "../lib/verificationWords.ts";
import { describeErrorBytes, describeResult } from "../verify/describeResult.ts";
import { splitAtHidden } from "../lib/hiddenCharacters.ts";
import { oneLine, type Terminal } from "./terminal.ts";

/** Random words that are shown without `isVerbose`: a request can have 500. */
const MAX_WORDS = 10;

interface PrintOptions {
  /** Whether to print also the transactions, what each step compared, all words, and the result's bytes. */
  readonly isVerbose: boolean;
  /** Whether it is what the caller expected; the verdict of what isn't is never that it is valid. */
  readonly isExpected: boolean;
}

/** Prints a line per step, each request's result, what the checks can't show, and the verdict. */
export function printVerification(found: Verification, terminal: Terminal, options: PrintOptions): void {
  const { out, colors } = terminal;
  for (const request of found.requests) printRequest(request, terminal, options);
  out(`\n${colors.bold("What you still have to trust")}`);
  for (const sentence of found.trust) out(`  – ${sentence}`);
  const { words, outcome: ownOutcome } = describeVerdict(found);
  const outcome = options.isExpected ? ownOutcome : "failed";
  const color = { ok: colors.green, failed: colors.red, notApplicable: colors.yellow }[outcome];
  const otherwise = found.verdict === "valid" ? "" : ` (${words})`;
  const said = options.isExpected ? words : `not as expected${otherwise}`;
  const count = `${found.requests.length} request${found.requests.length === 1 ? "" : "s"}`;
  out(`\n${color(said)}: ${count} of ${found.transactionHash} on ${found.network}`);
  for (const reason of verdictReasons(found)) out(`  ${readable(reason)}`);
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
  printOutcome(request, terminal, options);
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

function printOutcome(
  { result, err, randomNumber }: RequestVerification,
  { out, colors }: Terminal,
  { isVerbose }: PrintOptions,
): void {
  const shown = isVerbose ? randomNumber : randomNumber.slice(0, MAX_WORDS);
  for (const word of shown) out(`  word   ${word}`);
  if (shown.length < randomNumber.length)
    out(colors.dim(`         and ${randomNumber.length - shown.length} more: see --verbose`));
  if (result !== null && (err === "0x" || result !== "0x")) {
    const described = describeResult(result as Hex);
    out(`  result ${described}`);
    if (isVerbose && described !== result) out(colors.dim(`         ${result}`));
  }
  if (isError(err)) out(`  error  ${readable(describeErrorBytes(err as Hex))}`);
}

function markOf({ outcome }: VerificationStep, colors: Terminal["colors"]): string {
  if (outcome === "ok") return colors.green("✓");
  return outcome === "failed" ? colors.red("✗") : colors.yellow("–");
}

/** Returns text of unknown origin as part of one line, with the names of characters that nobody sees. */
function readable(text: string): string {
  return oneLine(splitAtHidden(text).join(""));
}
