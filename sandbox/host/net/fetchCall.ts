import type { FetchCallResponse } from "../../guest/hostCalls.ts";
import { HostCallRefusal, type HostCall, type HostCallContext } from "../hostCall.ts";
import { formatCallMessage, parseCallMessage } from "./callMessage.ts";
import { responseForFailure } from "./fetchFailure.ts";
import type { FetchRequest, GuardedFetch } from "./guardedFetch.ts";
import type { RequestBudget } from "./requestBudget.ts";
import type { HeaderList } from "./requestHeaders.ts";

/**
 * Creates the host call for a guarded fetch. A failed request is answered as the nodes' proxy answers it, so
 * that `fetch` resolves as it does there; the answer includes the kind of failure.
 */
export function createFetchCall(guarded: GuardedFetch): HostCall {
  return async (message, context) => {
    const request = parseFetchRequest(message);
    const budget = budgetOf(context);
    const outcome = await guarded.fetch(request, {
      budget,
      signal: context.signal,
      refuse: context.guard?.refuse,
    });
    if (outcome.ok) {
      const { body, ...header } = outcome.response;
      return formatCallMessage(header, body);
    }
    const { kind, message: text, hint } = outcome.failure;
    context.usage.hint = hint;
    const { body, ...answer } = responseForFailure(outcome.failure, budget.limits);
    const header: FetchCallResponse = {
      ...answer,
      url: "",
      redirected: false,
      failure: { kind, message: text },
    };
    return formatCallMessage(header, body);
  };
}

/** Returns the run's limits and its counter, which the pool reports as `httpRequests`. */
function budgetOf({ limits, usage }: HostCallContext): RequestBudget {
  return {
    limits,
    get used() {
      return usage.httpRequests;
    },
    take() {
      if (usage.httpRequests >= limits.maxHttpRequests) return false;
      usage.httpRequests += 1;
      return true;
    },
  };
}

function parseFetchRequest(message: Uint8Array): FetchRequest {
  const { header, body } = parseCallMessage(message);
  const { url, method, headers, redirect, hasBody } = header;
  if (typeof url !== "string" || typeof method !== "string" || !isHeaderList(headers)) {
    throw new HostCallRefusal("malformed host call");
  }
  if (redirect !== "follow" && redirect !== "error" && redirect !== "manual") {
    throw new HostCallRefusal("malformed host call");
  }
  return { url, method, headers, redirect, body: hasBody === true ? body : null };
}

function isHeaderList(value: unknown): value is HeaderList {
  const isPair = (item: unknown) =>
    Array.isArray(item) && item.length === 2 && item.every((part) => typeof part === "string");
  return Array.isArray(value) && value.every(isPair);
}
