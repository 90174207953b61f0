import { formatTime } from "../lib/time.ts";
import type { ToldEvent } from "../lib/vocabulary.ts";

/** Digits of an id that nothing has. */
const NO_DIGITS = "0".repeat(26);
const NO_HASH = `0x${"0".repeat(64)}`;
const REQUEST_ID = `req_${NO_DIGITS}`;
const TRIGGER = { triggerId: `sch_${NO_DIGITS}`, name: "every hour", network: "sepolia" };
const LOG_TRIGGER = { ...TRIGGER, triggerId: `trg_${NO_DIGITS}`, name: "deposits" };

/**
 * Returns the data of a test event: what a real one of its type has, about requests and triggers that don't exist, with `test` true.
 *
 * @param context.baseUrl address of the service for callers. @param context.at Unix time in milliseconds.
 */
export function createSample(
  type: ToldEvent,
  context: { readonly webhookId: string; readonly baseUrl: string; readonly at: number },
): Readonly<Record<string, unknown>> {
  const { webhookId, baseUrl, at } = context;
  const request = {
    test: true,
    id: REQUEST_ID,
    sequence: 4,
    kind: "random",
    network: "sepolia",
  };
  const statusUrl = `${baseUrl}/api/requests/${REQUEST_ID}`;
  const ended = { statusUrl, requestId: NO_HASH, shareUrl: `${baseUrl}/r/${REQUEST_ID}` };
  switch (type) {
    case "request.fulfilled":
      return { ...request, state: "fulfilled", ...ended, result: ["42"] };
    case "request.failed":
      return {
        ...request,
        kind: "function",
        state: "failed",
        ...ended,
        error: { code: "function_failed", message: "no price" },
      };
    case "request.reopened":
      return {
        ...request,
        sequence: 5,
        state: "submitted",
        detail: "a reorg removed the result",
        statusUrl,
      };
    case "trigger.skipped":
      return {
        test: true,
        ...TRIGGER,
        reason: "missed",
        detail: "the service was not running",
        count: 1,
        from: formatTime(at),
        to: formatTime(at),
      };
    case "trigger.reverted":
      return {
        test: true,
        ...LOG_TRIGGER,
        requestId: REQUEST_ID,
        runId: `run_${NO_DIGITS}`,
        blockNumber: 1,
        blockHash: NO_HASH,
        transactionHash: NO_HASH,
        logIndex: 0,
      };
    case "webhook.test":
      return { test: true, webhookId };
  }
}
