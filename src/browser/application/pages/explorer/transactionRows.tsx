import type {
  FunctionAnswer,
  FunctionResultView,
  RequestSummary,
  TransactionView,
} from "../../../../client/index.ts";
import { nameFunction } from "../../../../text/sharedResult.ts";
import { rowOf, type BatchRow } from "./batch.tsx";
import {
  FunctionRequestDetails,
  FunctionResultDetails,
  nameRun,
  PresetRunDetails,
} from "./functionSections.tsx";
import type { TransactionPlace } from "./place.tsx";
import { RandomnessDetails, RandomRequestDetails } from "./randomnessSections.tsx";

export const WORDS = "Random words, with their proof";
export const WORDS_REQUEST = "Request for random words";

/** A request that a transaction makes or answers. */
export interface TransactionRow extends BatchRow {
  /** Heading of the details. */
  readonly heading: string;
}

/** Returns what a transaction makes or answers, the service's own requests first, with what the chain has of each. */
export function rowsOf(transaction: TransactionView & TransactionPlace): readonly TransactionRow[] {
  const {
    requests = [],
    presets,
    functionResults,
    functionRequests,
    randomness,
    randomRequests,
  } = transaction;
  const isShared = isSharedBy(transaction);
  const onChain = [
    ...functionResults.map((result) =>
      chainRow(result, "Result of a function", {
        title: nameProgram(result),
        answer: result,
        details: () => <FunctionResultDetails result={result} transaction={transaction} />,
      }),
    ),
    ...functionRequests.map((request) =>
      chainRow(request, request.answer === undefined ? "Request to run a function" : "Result of a function", {
        title: nameProgram(request),
        answer: request.answer,
        details: () => <FunctionRequestDetails request={request} transaction={transaction} />,
      }),
    ),
    ...presets.map((run) =>
      chainRow(run, nameRun(run), {
        title: run.program?.preset?.title ?? "Preset",
        answer: run.answer ?? undefined,
        details: () => <PresetRunDetails run={run} transaction={transaction} />,
      }),
    ),
    ...randomness
      .filter((one) => !isShared(one))
      .map((one) =>
        chainRow(one, WORDS, {
          title: "Random numbers",
          answer: { result: one.words.join(", ") },
          details: () => <RandomnessDetails randomness={one} transaction={transaction} />,
        }),
      ),
    ...randomRequests
      .filter((one) => !isShared(one))
      .map((one) =>
        chainRow(one, WORDS_REQUEST, {
          title: "Random numbers",
          answer: one.words && { result: one.words.join(", ") },
          details: () => <RandomRequestDetails request={one} transaction={transaction} />,
        }),
      ),
  ];
  // A transaction may both make a request and answer it.
  const found = new Map(onChain.toReversed().map((row) => [row.requestId, row]));
  const own = requests.map((request: RequestSummary): TransactionRow => {
    const { heading = "", details } = found.get(request.requestId) ?? {};
    return { ...rowOf(request), heading, details };
  });
  const known = new Set<string>(requests.map(({ requestId }) => requestId));
  return [...own, ...[...found.values()].toReversed().filter(({ requestId }) => !known.has(requestId))];
}

/** Returns whether random words serve what has a row of its own: a batch of presets, or words that are joined. */
export function isSharedBy({
  presets,
  joins,
}: TransactionView): (words: { readonly requestId: string }) => boolean {
  const ids = new Set<string>([
    ...presets.map(({ vrfRequestId }) => vrfRequestId),
    ...joins.flatMap(({ parts }) => parts.map(({ requestId }) => requestId)),
  ]);
  return ({ requestId }) => ids.has(requestId);
}

function chainRow(
  { requestId }: { readonly requestId: string },
  heading: string,
  {
    title,
    answer,
    details,
  }: Required<Pick<BatchRow, "title" | "details">> & { readonly answer: ChainAnswer | undefined },
): TransactionRow {
  return {
    requestId,
    heading,
    title,
    name: title,
    answer: answer && { text: lineOf(answer), isError: "err" in answer && answer.err !== "" },
    details,
  };
}

/** Names a function by its program; by its id, where that is unknown. */
function nameProgram({ program, requestId }: Pick<FunctionResultView, "program" | "requestId">): string {
  return (program && nameFunction(program)) ?? `Function ${requestId.slice(0, 10)}…`;
}

type ChainAnswer =
  | { readonly result: string }
  | (Pick<FunctionAnswer, "err" | "readings" | "response"> & { readonly result?: string });

function lineOf(answer: ChainAnswer): string {
  if (!("err" in answer)) return answer.result;
  const { err, result, readings, response } = answer;
  return err === "" ? (result ?? readings.text ?? readings.uint256 ?? response) : err;
}

/** Says in a few words what a transaction did. */
export function describeTransaction(
  { hash, presets, functionResults, randomness, call, created, input }: TransactionView,
  rows: readonly TransactionRow[],
): string {
  const [first] = rows;
  if (first === undefined) {
    if (created !== null) return "new contract";
    return input === "0x" ? "transfer" : (call?.function ?? input.slice(0, 10));
  }
  const isOne = rows.every(({ title }) => title === first.title);
  // A function is named by its first comment, behind a colon; the heading has one already.
  const title = first.title.includes(": ") ? `“${first.title}”` : first.title;
  const what = !isOne ? undefined : rows.length === 1 ? title : `${rows.length} × ${title}`;
  const noun = rows.every(({ answer }) => answer?.isError === true) ? "error" : "result";
  const is = (one: string): string =>
    what === undefined ? `${rows.length} ${one}s` : `${rows.length === 1 ? one : `${one}s`} of ${what}`;
  if (functionResults.length > 0 || presets.some(({ answeredBy }) => answeredBy === hash)) return is(noun);
  if (randomness.length === 0) return what === undefined ? is("request") : `request for ${what}`;
  return presets.length === 0 ? is("result") : `random words for ${what ?? `${rows.length} requests`}`;
}
