import type { FunctionAnswer, ProgramView, ReadingsView, TransactionView } from "../../../../client/index.ts";

/** Functions of the service's contracts whose transactions make requests or answer them. */
const METHODS = ["submit", "deliver", "transmit", "fulfillRandomWords"];

/** Whether a transaction may make a request or answer one. */
export function hasRequests({ method }: { readonly method: string }): boolean {
  return METHODS.includes(method);
}

/** A request as the chain tells it. */
export interface ChainRequest {
  readonly requestId: string;
  readonly network: string;
  /** What is asked for. */
  readonly title: string;
  /** The result, or why there is none; `undefined` until it is on chain. */
  readonly answer: { readonly text: string; readonly isError: boolean } | undefined;
  /** The transaction with the answer or, until there is one, with the request. */
  readonly hash: string;
  /** When that of the given transactions was mined in which it occurs first. */
  readonly at: string;
}

/** Lists the requests that transactions make or answer, each once. Give the newest transaction first. */
export function listRequests(transactions: readonly TransactionView[]): readonly ChainRequest[] {
  const found = new Map<string, ChainRequest>();
  for (const transaction of transactions)
    for (const request of requestsOf(transaction))
      if (!found.has(request.requestId)) found.set(request.requestId, request);
  for (const { joins } of transactions)
    for (const { requestId, parts, joinedBy } of joins) {
      for (const part of parts.slice(1)) found.delete(part.requestId);
      const first = found.get(requestId);
      const answer = joinedBy === null ? undefined : value(`words of ${parts.length} keys, joined`);
      if (first !== undefined) found.set(requestId, { ...first, answer, hash: joinedBy ?? first.hash });
    }
  // Words that a preset is drawn with are no request of anybody's.
  for (const { presets } of transactions) for (const { vrfRequestId } of presets) found.delete(vrfRequestId);
  return [...found.values()];
}

function requestsOf(transaction: TransactionView): ChainRequest[] {
  const { network, hash, block } = transaction;
  const place = { network, at: block?.at ?? "" };
  return [
    ...transaction.presets.map(({ requestId, program, answer, answeredBy }) => ({
      ...place,
      requestId,
      title: titleOf({ program }, "Preset"),
      answer: answer === null ? undefined : (failed(answer.err) ?? value(answer.result ?? textOf(answer))),
      hash: answeredBy ?? hash,
    })),
    ...transaction.functionResults.map((result) => ({
      ...place,
      requestId: result.requestId,
      title: titleOf(result, "Function"),
      answer: functionAnswer(result),
      hash,
    })),
    ...transaction.functionRequests.map(({ requestId, program, answer, answeredBy }) => ({
      ...place,
      requestId,
      title: titleOf({ program }, "Function"),
      answer: answer && functionAnswer(answer),
      hash: answeredBy ?? hash,
    })),
    ...transaction.randomness.map(({ requestId, words, outcome, reason }) => ({
      ...place,
      requestId,
      title: "Random numbers",
      answer: outcome === "refused" ? failed(reason ?? outcome) : value(words.join(", ")),
      hash,
    })),
    ...transaction.randomRequests.map(({ requestId, words, answeredBy }) => ({
      ...place,
      requestId,
      title: "Random numbers",
      answer: words && value(words.join(", ")),
      hash: answeredBy ?? hash,
    })),
  ];
}

function titleOf({ program }: { readonly program: ProgramView | null }, otherwise: string): string {
  return program?.preset?.title ?? otherwise;
}

function functionAnswer(answer: FunctionAnswer) {
  const isReturned = ["FULFILLED", "USER_CALLBACK_ERROR"].includes(answer.outcome);
  return failed(isReturned ? answer.err : answer.outcome) ?? value(textOf(answer));
}

function textOf({
  readings: { text, uint256 },
  response,
}: {
  readonly readings: ReadingsView;
  readonly response: string;
}): string {
  return text ?? uint256 ?? response;
}

function value(text: string) {
  return { text, isError: false };
}

function failed(reason: string) {
  return reason === "" ? undefined : { text: reason, isError: true };
}
