import type {
  BeaconView,
  ConsumerResult,
  FunctionResult,
  Outcome,
  PresetResult,
  RandomResult,
} from "../../api/types.ts";
import { describeBeacon } from "../../beacon/beaconRounds.ts";
import { AWAITED } from "../../text/draw.ts";
import { cut } from "../../lib/cut.ts";
import { spellingOf } from "../../domain/label.ts";
import { describeShared } from "../../text/sharedResult.ts";
import { formatTime } from "../../lib/time.ts";
import { takeApart } from "../../domain/presetShow.ts";
import { isLinking, beaconOfRequest, type OpenRequest } from "../openRequest.ts";
import type { RequestRecord } from "../service.ts";
import { isEnded } from "../../domain/vocabulary.ts";
import type { StoredRequest } from "../../store/requests.ts";

/** Addresses of pages about a request. */
export interface PageUrls {
  /** The explorer of the request's network; absent if the network isn't configured any more. */
  readonly explorer: string | undefined;
  /** The public page with the request's result. */
  readonly share: string;
}

/** Turns a stored request into what callers see. */
export function presentRequest(request: OpenRequest, urls: PageUrls): RequestRecord {
  const { id, dappId, kind, network, state, why, createdAt, updatedAt, timeline, error } = request;
  const { payloadDeletedAt } = request;
  return {
    id,
    dappId,
    kind,
    network,
    params: (payloadDeletedAt === undefined
      ? request.params
      : presentRest(request)) as RequestRecord["params"],
    state,
    why: why ?? describeWait(request),
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
    ...(payloadDeletedAt === undefined ? {} : { payloadDeletedAt: formatTime(payloadDeletedAt) }),
    triggerId: triggerIdOf(request),
    timeline: timeline.map(({ at, transactionHash, ...entry }) => ({
      ...entry,
      at: formatTime(at),
      ...(transactionHash === undefined ? {} : { transactionHash }),
      ...(transactionHash === undefined || urls.explorer === undefined
        ? {}
        : { url: `${urls.explorer}/tx/${transactionHash}` }),
    })),
    outcome: presentOutcome(request, urls),
    ...presentShown(request),
    ...spellingOf(request.progress),
    error,
    ...(request.progress.dryRun && { dryRun: request.progress.dryRun }),
    ...(isLinking(request) ? {} : { shareUrl: urls.share }),
  };
}

/** Says what a request waits for as far as its state tells; `null` if it has ended. */
function describeWait({ state, progress }: OpenRequest): string | null {
  if (isEnded(state)) return null;
  if (state === "checking") return "its source is dry-run before it is sent";
  if (state === "received") return "it is not sent yet";
  if (state !== "submitted") return AWAITED.result;
  if (progress.acceptedBlock === undefined) return "its transaction is not seen on chain yet";
  return AWAITED.words;
}

/**
 * Says what a request waits for, or that it failed, to anybody: nothing that isn't on chain, and nothing of the service's nodes.
 *
 * @param isBeaconLate whether the latest periodic explanation is that its round of drand is late and no relay has it
 */
export function describeOpenly(request: OpenRequest, isBeaconLate = false): string {
  const { state, kind, progress } = request;
  const isOnChain = progress.acceptedBlock !== undefined;
  if (state === "failed") return isOnChain ? "the request failed" : "it failed before it was on chain";
  const round = describeBeacon(
    beaconOfRequest(request),
    isOnChain && (kind !== "preset" || progress.wordBlock !== undefined),
    isBeaconLate,
  );
  if (round !== undefined) return round;
  return isOnChain ? (describeWait(request) ?? AWAITED.result) : "the request is not on chain yet";
}

/** Returns why a request failed; `null` if it didn't. */
export function failureOf({
  state,
  error,
  outcome,
}: Pick<StoredRequest, "state" | "error" | "outcome">): StoredRequest["error"] {
  if (state !== "failed") return null;
  const err = outcome?.["err"];
  return error ?? { code: "function_failed", message: typeof err === "string" ? err : "" };
}

/** Longest result in a line, in characters. */
const MAX_RESULT = 200;

/** Returns a request's result in one line, cut, or the error of its source; `null` without a result. */
export function resultLineOf(request: OpenRequest): string | null {
  const outcome = presentOutcome(request, { explorer: undefined, share: "" });
  if (outcome === null || !("requestId" in outcome)) return null;
  const { result } = describeShared({ outcome, ...presentShown(request) });
  return cut(result, MAX_RESULT);
}

/** Reads the id of what made a request by itself from its key, `null` if a call made it; callers' keys have no blanks. */
export function triggerIdOf({ idempotencyKey }: OpenRequest): string | null {
  return /^(\S+) /.exec(idempotencyKey ?? "")?.[1] ?? null;
}

/** Returns the parameters that remain after the payload was deleted. */
function presentRest({ kind, params }: OpenRequest): object {
  if (kind === "preset") return { preset: params.preset, ...presentLabel(params), ...presentBeacon(params) };
  return kind === "function"
    ? { returnType: params.returnType, ...presentLabel(params), ...presentBeacon(params) }
    : params;
}

/** Returns the member that says what a request is for. */
function presentLabel({ label }: { readonly label?: string }): { readonly label?: string } {
  return label === undefined ? {} : { label };
}

function presentBeacon({ beacon }: { readonly beacon?: BeaconView }): { readonly beacon?: BeaconView } {
  return beacon === undefined ? {} : { beacon };
}

/** Splits a preset's result into parts as the preset said when the request was accepted. */
function presentShown({ kind, params, progress, outcome }: OpenRequest): Pick<RequestRecord, "shown"> {
  const shown = kind === "preset" ? takeApart(progress.show, outcome?.value, params) : undefined;
  return shown === undefined ? {} : { shown };
}

function presentOutcome(request: OpenRequest, urls: PageUrls): Outcome | null {
  if (request.outcome === null) return null;
  const { id, network } = request;
  const success = request.state === "fulfilled";
  const { transactionHash } = request.outcome;
  const { explorer = `/explorer/${network}` } = urls;
  const url = `${explorer}/tx/${transactionHash}`;
  const shareUrl = urls.share;
  const failure = success ? {} : ({ code: "function_failed" } as const);
  switch (request.kind) {
    case "consumer":
    case "unlink":
      return { success, id, network, transactionHash } satisfies ConsumerResult;
    case "random": {
      const { requestId, words } = request.outcome;
      const randomNumber = [...words];
      return {
        success,
        id,
        network,
        requestId,
        transactionHash,
        url,
        shareUrl,
        randomNumber,
        value: randomNumber,
        ...presentLabel(request.params),
      } satisfies RandomResult;
    }
    case "function": {
      const { requestId, result, parsedResult, err } = request.outcome;
      const { warnings } = request.progress;
      const value = success ? parsedResult : null;
      return {
        success,
        id,
        network,
        requestId,
        result,
        parsedResult,
        value,
        err,
        ...failure,
        url,
        shareUrl,
        ...presentLabel(request.params),
        ...presentBeacon(request.params),
        ...(warnings === undefined ? {} : { warnings: [...warnings] }),
      } satisfies FunctionResult;
    }
    case "preset": {
      const { requestId, result, parsedResult, value = null, err } = request.outcome;
      const { vrfTransactionHash: vrfv2Hash = "0x" } = request.outcome;
      const vrfv2EventHash = `${explorer}/tx/${vrfv2Hash}`;
      return {
        success,
        id,
        network,
        vrfv2Hash,
        vrfv2EventHash,
        requestId,
        result,
        parsedResult,
        value: typeof value === "object" && value !== null ? [...value] : value,
        err,
        ...failure,
        url,
        shareUrl,
        ...presentLabel(request.params),
        ...presentBeacon(request.params),
      } satisfies PresetResult;
    }
  }
}
