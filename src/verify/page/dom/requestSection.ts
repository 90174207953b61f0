import type { Hex } from "viem";
import type { RequestVerification, VerificationStep } from "../../../api/types.ts";
import { describeDraw, describeTimes, shorten } from "../../../text/draw.ts";
import { namePlaces, parseList } from "../../../text/entryLists.ts";
import { fromHexText } from "../../../lib/hex.ts";
import { describeDraws, describeLabel } from "../../../domain/label.ts";
import { readValue, takeApart, type PresetShow } from "../../../domain/presetShow.ts";
import { countEntries, lineOf } from "../../../text/sharedResult.ts";
import { describeSteps, describeVerdict, isError, OUTCOME_TEXT } from "../../../text/verification.ts";
import { decodeText, describeErrorBytes, describeResult } from "../../describeResult.ts";
import { describeDrawResult, type DescribedDraw } from "../../findDraws.ts";
import type { KnownPreset } from "../../verifyTransaction.ts";
import { showHidden } from "../showForeignText.ts";
import { capitalize } from "../../../lib/capitalize.ts";
import { drawMark, element, fold } from "./elements.ts";
import { createComparison, createEntryList } from "./entryList.ts";

/** A preset that comes with Tyche. */
export interface PagePreset extends KnownPreset {
  readonly title: string;
  readonly show?: PresetShow;
}

/**
 * Shows a request: its result, what it was drawn from, and folded below, the steps and the bytes.
 *
 * @param preset the preset with the request's source
 * @param isAlone whether its verdict is that of the page
 * @param more follows the label
 */
export function createRequestSection(
  request: RequestVerification,
  {
    preset,
    isAlone,
    more,
  }: {
    readonly preset: PagePreset | undefined;
    readonly isAlone: boolean;
    readonly more: readonly HTMLElement[];
  },
): HTMLElement {
  const section = element("section");
  const heading = element(isAlone ? "h2" : "h3", titleOf(request, preset));
  if (!isAlone) {
    const { words, outcome } = describeVerdict({ verdict: request.verdict, requests: [request] });
    heading.prepend(drawMark(outcome, { "aria-hidden": "true" }));
    heading.append(`: ${words}`);
  }
  const params = paramsOf(request);
  const result = readResult(request, preset, params);
  const lists = [...params].filter((one): one is [string, readonly string[]] => typeof one[1] !== "string");
  const draw = describeDraw(withoutLists(request, params));
  const times = describeTimes(request);
  section.append(
    heading,
    ...(isAlone || request.label === null ? [] : [element("p", describeDraws(request.label, request.kind))]),
    ...(request.verdict === "invalid" ? [createClaim(result.shown)] : result.shown),
    ...(draw === undefined ? [] : [createFoldable(`Of: ${showHidden(draw)}`)]),
    ...lists.map(([name, list]) =>
      fold(
        `${showHidden(name)}: ${countEntries(list)}`,
        createComparison(list),
        // Of a list that is only shuffled, everything is drawn.
        ...createEntryList(list, {
          label: name,
          drawn: result.drawn.size < list.length ? result.drawn : undefined,
        }),
      ),
    ),
    ...(times === undefined ? [] : [element("p", `${capitalize(times)}.`)]),
    element("p", showHidden(describeLabel(request.label))),
    ...more,
    createSteps(request),
    ...(request.source === null ? [] : [createSource(request.source)]),
    fold("Ids and bytes", ...describeBytes(request)),
  );
  return section;
}

/** Marks a result that is not valid as no more than what the data say. */
function createClaim(shown: readonly HTMLElement[]): HTMLElement {
  const claim = element("div");
  claim.className = "claim";
  if (shown.length > 0) claim.append(element("p", "Claimed, not proven:"), ...shown);
  return claim;
}

/** Says in one line what a request asked for, and what came of it. */
export function summarize(draw: DescribedDraw, preset: PagePreset | undefined): string {
  const { result, err } = draw;
  const isRead = !isError(err) && draw.kind !== "random" && hasResult(result, err);
  const { text, parts } = isRead
    ? readParts(result, preset, paramsOf(draw))
    : { text: describeDrawResult(draw), parts: undefined };
  return `${titleOf(draw, preset)}: ${shorten(parts === undefined ? text : lineOf(parts))}`;
}

function titleOf({ kind }: Pick<RequestVerification, "kind">, preset: PagePreset | undefined): string {
  if (kind === "random") return "Random numbers";
  if (kind === "function") return "A function of its caller's own";
  return preset?.title ?? "A preset whose source is not known here";
}

/** Returns the arguments by the names of the preset's parameters; lists of texts, which sources get as JSON, as lists. */
function paramsOf({
  preset,
  args,
}: Pick<RequestVerification, "preset" | "args">): ReadonlyMap<string, string | readonly string[]> {
  const nameOf = (i: number): string => preset?.parameters[i] ?? `argument ${i + 1}`;
  return new Map(args?.map((arg, i) => [nameOf(i), parseList(arg) ?? arg]));
}

/** Leaves out the arguments that are shown as lists. */
function withoutLists(
  request: RequestVerification,
  params: ReturnType<typeof paramsOf>,
): Parameters<typeof describeDraw>[0] {
  const { kind, preset, args } = request;
  const values = [...params.values()];
  const isKept = (_: string, i: number): boolean => typeof values[i] === "string";
  const kept = args?.filter(isKept) ?? [];
  if (kind !== "preset" || kept.length === args?.length) return request;
  return {
    ...request,
    args: kept.length === 0 ? null : kept,
    preset: preset && { ...preset, parameters: preset.parameters.filter(isKept) },
  };
}

/** Reads the result as its preset says. */
function readResult(
  { result, err, randomNumber, kind }: RequestVerification,
  preset: PagePreset | undefined,
  params: ReturnType<typeof paramsOf>,
): { readonly shown: readonly HTMLElement[]; readonly drawn: ReadonlySet<string> } {
  const give = (drawn: readonly string[], ...shown: readonly HTMLElement[]) => ({
    shown,
    drawn: new Set(drawn),
  });
  if (isError(err)) return give([], element("p", `Error: ${showHidden(describeErrorBytes(err as Hex))}`));
  if (kind === "random")
    return give([], ...(randomNumber.length === 0 ? [] : createEntryList(randomNumber, { label: "Result" })));
  if (!hasResult(result, err)) return give([]);
  const { text, parts } = readParts(result, preset, params);
  if (parts?.as === "list") {
    const [list, ...others] = [...params.values()].filter((value) => typeof value !== "string");
    // Of a list that is only shuffled, everything is drawn.
    const isDrawnFrom = list !== undefined && others.length === 0 && parts.entries.length < list.length;
    const places = isDrawnFrom ? namePlaces(list) : undefined;
    return give(parts.entries, ...createEntryList(parts.entries, { label: "Result", places }));
  }
  const line = createFoldable(showHidden(parts === undefined ? text : lineOf(parts)));
  line.classList.add("result");
  return give([], line);
}

/** Reads a result's text, and its parts if its preset says which. */
function readParts(result: Hex, preset: PagePreset | undefined, params: ReturnType<typeof paramsOf>) {
  const text = decodeText(fromHexText(result)) ?? describeResult(result);
  const given = Object.fromEntries(params);
  return { text, parts: takeApart(preset?.show, readValue(preset?.show, text, given), given) };
}

function hasResult(result: string | null, err: string | null): result is Hex {
  return result !== null && (err === "0x" || result !== "0x");
}

/** Opens the steps where one of them says what is wrong or missing. */
function createSteps({ steps, verdict }: RequestVerification): HTMLElement {
  const list = element("ol");
  list.className = "steps";
  list.append(...steps.map(describeStep));
  const folded = fold(describeSteps(steps), list);
  folded.open = verdict !== "valid" && verdict !== "conditional";
  return folded;
}

function createSource(source: string): HTMLElement {
  const listing = element("pre", showHidden(source));
  // It scrolls, also by the keyboard.
  listing.tabIndex = 0;
  listing.role = "region";
  listing.ariaLabel = "Source";
  return fold("The source that was run", listing);
}

function describeBytes(request: RequestVerification): HTMLElement[] {
  const { kind, requestId, vrfRequestId, result, err, randomNumber, transactions } = request;
  const lines = [
    `${kind} ${requestId}`,
    vrfRequestId !== null && vrfRequestId !== requestId && `VRF request: ${vrfRequestId}`,
    hasResult(result, err) && describeBoth(result),
    randomNumber.length > 0 && `Word: ${randomNumber.join(", ")}`,
    ...Object.entries(transactions).map(
      ([what, hash]) => hash !== null && `Transaction of the ${what}: ${hash}`,
    ),
  ];
  return lines.filter((line) => line !== false).map(createFoldable);
}

/** Shows a line that may be as long as a list of entries: shortened then, and whole once it is opened. */
function createFoldable(line: string): HTMLElement {
  const short = shorten(line);
  return short === line ? element("p", line) : fold(short, element("p", line));
}

/** Describes a result as a person reads it and, if that isn't hex, its bytes. */
function describeBoth(result: Hex): string {
  const shown = describeResult(result);
  return shown === result ? `Result: ${result}` : `Result: ${shown}, in hex ${result}`;
}

function describeStep({ name, outcome, detail, compared }: VerificationStep): HTMLElement {
  const item = element("li");
  item.dataset["outcome"] = outcome;
  item.dataset["step"] = name;
  const details = fold(
    `: ${showHidden(detail)}`,
    ...compared.map(({ what, expected, found }) =>
      element("p", showHidden(`${what}: ${found}, expected ${expected}`)),
    ),
  );
  details
    .querySelector("summary")!
    .prepend(
      drawMark(outcome, { role: "img", "aria-label": OUTCOME_TEXT[outcome] }),
      element("strong", name),
    );
  // A source that gave another result need not have failed.
  details.open = compared.length > 0 && (outcome === "failed" || (name === "execution" && outcome !== "ok"));
  item.append(details);
  return item;
}
