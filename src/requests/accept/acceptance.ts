import { TycheError } from "../../lib/errors.ts";
import { createId } from "../../domain/id.ts";
import { hashBody, IdempotencyConflictError } from "../../dapps/idempotency.ts";
import { retry } from "../../lib/retry.ts";
import { DatabaseAwayError } from "../../store/databaseAway.ts";
import { findRequestByKey } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import type { Change, RequestBook } from "../requestBook.ts";
import type { CommandChecker } from "./commandChecker.ts";
import { keptOf, recordDryRun } from "./dryRunLog.ts";
import { FunctionFailedError } from "./runDetails.ts";
import type { Replica } from "../replica.ts";
import {
  parseStoredRequest,
  type OpenRequest,
  type RequestContent,
  type RequestFacts,
} from "../openRequest.ts";
import type { Command, SubmitOptions } from "../service.ts";
import type { Dapp } from "../../dapps/dapp.ts";
import { isClosing } from "./sandboxRuns.ts";
import { getIntake, type ServiceNetwork } from "../serviceNetwork.ts";
import { createDailyLimit, createOpenLimits } from "./requestLimits.ts";

/** Attempts at the dry run of an accepted request while the sandbox is full, and the pause between them. */
const MAX_DRY_RUNS = 10;
const DRY_RUN_PAUSE_MS = 1_000;
/** Attempts to store its outcome while the database is away. After that, another process takes over. */
const MAX_STORES = 30;

/** Accepts commands. */
export interface Acceptance {
  /** Checks a command, stores the request and starts processing it. See `Service.submit` for the errors it throws. */
  accept(dapp: Dapp, command: Command, submission: SubmitOptions): Promise<OpenRequest>;
  /**
   * Resumes the dry runs of requests that an earlier process left in state `checking`, on a network that serves.
   *
   * @param sinceMs minimum time that they have been in that state, in milliseconds. Default 0.
   */
  resumeChecks(network: string, sinceMs?: number): void;
}

export interface AcceptanceOptions {
  readonly store: Store;
  readonly book: RequestBook;
  readonly checker: CommandChecker;
  /** Throws `invalid_parameter` for an unknown name. */
  readonly getNetwork: (name: string) => ServiceNetwork;
  /** Maximum number of open requests on one network. */
  readonly maxOpenPerNetwork: number;
  /** Maximum number of requests per dapp and day (UTC). Default: unlimited. */
  readonly maxDailyPerDapp?: number;
  /** Address of this service for callers, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Present if other processes accept into the same store. */
  readonly replica?: Pick<Replica, "hasDatabase"> | undefined;
}

/** Creates the acceptance of all networks. */
export function createAcceptance(options: AcceptanceOptions): Acceptance {
  const { store, book, checker, getNetwork } = options;
  const openLimits = createOpenLimits(book, options.maxOpenPerNetwork);
  const dailyLimit = createDailyLimit(store, {
    ...(options.maxDailyPerDapp === undefined ? {} : { limit: options.maxDailyPerDapp }),
    isShared: options.replica !== undefined,
  });

  const checks = createLateChecks(options);

  const findRepeated = async (
    dapp: Dapp,
    key: string | undefined,
    bodyHash: string,
  ): Promise<OpenRequest | undefined> => {
    if (key === undefined) return undefined;
    const earlier = await findRequestByKey(store.db, dapp.id, key);
    if (earlier !== undefined && earlier.bodyHash !== bodyHash) throw new IdempotencyConflictError(key);
    return earlier && parseStoredRequest(earlier);
  };

  const accept: Acceptance["accept"] = async (dapp, command, { idempotencyKey, isAsync = false, signal }) => {
    // A call that joins those waiting for the database would learn nothing sooner.
    if (options.replica?.hasDatabase() === false) throw new DatabaseAwayError(undefined);
    // How a label is spelled makes no other request of it.
    const bodyHash = hashBody({ ...command, givenLabel: undefined });
    const repeated = await findRepeated(dapp, idempotencyKey, bodyHash);
    if (repeated !== undefined) return repeated;
    const network = getNetwork(command.network);
    const intake = getIntake(network);
    const givePlaceBack = openLimits.take({ network: command.network, dappId: dapp.id });
    let request: OpenRequest;
    let giveDayBack: (() => void) | undefined;
    try {
      giveDayBack = await dailyLimit.take(dapp);
      const checked = await checker.check(dapp, command, network);
      const isChecking = isAsync && (command.kind === "preset" || command.kind === "function");
      const facts = isChecking ? {} : await checker.dryRun(dapp, checked, network, signal);
      request = createRequest(dapp, command.network, checked, { idempotencyKey, bodyHash, isChecking });
      Object.assign(request, { progress: { ...request.progress, ...facts } });
      await book.add(request, (db) => dailyLimit.count(db, dapp));
    } catch (error) {
      giveDayBack?.();
      const refusal =
        error instanceof FunctionFailedError ? await recordRefused(options, dapp, command, error) : error;
      // Of two concurrent calls with the same key, the first to be stored answers both.
      const first = await findRepeated(dapp, idempotencyKey, bodyHash);
      if (first === undefined) throw refusal;
      return first;
    } finally {
      givePlaceBack();
    }
    const stored = { ...request };
    if (request.state === "received") intake.take(request);
    if (request.state === "checking") checks.begin(request);
    // Its transaction is signed meanwhile, and recorded after it.
    await store.flush();
    return stored;
  };

  return {
    accept,
    resumeChecks(network, sinceMs = 0) {
      for (const request of book.open(network))
        if (request.state === "checking" && book.ageMs(request) >= sinceMs) checks.begin(request);
    },
  };
}

/** Creates the dry runs of requests that are accepted before theirs. */
function createLateChecks({
  book,
  checker,
  getNetwork,
}: Pick<AcceptanceOptions, "book" | "checker" | "getNetwork">) {
  /** Ids of requests whose dry run is in flight in this process. */
  const checking = new Set<string>();

  /** Dry-runs an accepted request and stores the outcome. Rejects only with the store's error. */
  const check = async (request: OpenRequest): Promise<void> => {
    const network = getNetwork(request.network);
    let progress: RequestFacts;
    try {
      progress = await retry(() => checker.dryRun({ id: request.dappId }, request, network), {
        attempts: MAX_DRY_RUNS,
        pauseMs: () => DRY_RUN_PAUSE_MS,
        isFinal: (error) => !(error instanceof TycheError && error.retryable),
      });
    } catch (error) {
      // The next process, or another replica, runs it.
      if (isClosing(error)) return;
      const facts = error instanceof FunctionFailedError ? keptOf(error.details) : {};
      await endCheck({ request, state: "failed", error: endOf(error), progress: facts });
      return;
    }
    await endCheck({ request, state: "received", progress });
    // If the network has stopped serving in the meantime, the next start resumes the request.
    network.intake()?.take(request);
  };
  /** Stores the outcome of a dry run exactly once: after a lost connection, it may or may not be stored already. */
  const endCheck = (change: Change): Promise<void> =>
    retry(() => book.change(() => (change.request.state === "checking" ? [change] : [])), {
      attempts: MAX_STORES,
      pauseMs: () => DRY_RUN_PAUSE_MS,
      isFinal: (error) => !(error instanceof DatabaseAwayError),
    });
  return {
    /** Begins, unless this process has begun already. */
    begin(request: OpenRequest): void {
      if (checking.has(request.id)) return;
      checking.add(request.id);
      // A permanent store failure ends the process; the next start resumes the requests being checked.
      void check(request)
        .catch(() => {})
        .finally(() => checking.delete(request.id));
    },
  };
}

/** Records the dry run of a command that created no request; returns the error with the address of the record. */
async function recordRefused(
  { store, baseUrl }: Pick<AcceptanceOptions, "store" | "baseUrl">,
  { id: dappId }: Dapp,
  command: Command,
  { details }: FunctionFailedError,
): Promise<FunctionFailedError> {
  const { network, kind } = command;
  const what =
    kind === "preset" ? { preset: command.preset } : kind === "function" ? { source: command.source } : {};
  const params = paramsOf(command);
  const id = await recordDryRun(store, { dappId, network, kind, ...what, params, result: details });
  return new FunctionFailedError({ ...details, dryRunUrl: `${baseUrl()}/dapps/${dappId}/dry-runs/${id}` });
}

/** Returns what a command asked for, with the label as it was spelled, and the beacon in place of a round: none was chosen. */
function paramsOf({ kind: _kind, network: _network, ...own }: Command): Readonly<Record<string, unknown>> {
  const { params, givenLabel, ...rest } = { params: {}, givenLabel: undefined, ...own };
  return { ...params, ...rest, ...(givenLabel === undefined ? {} : { label: givenLabel }) };
}

function createRequest(
  dapp: Dapp,
  network: string,
  checked: RequestContent,
  options: {
    readonly idempotencyKey: string | undefined;
    readonly bodyHash: string;
    readonly isChecking: boolean;
  },
): OpenRequest {
  const now = Date.now();
  const state = checked.outcome !== null ? "fulfilled" : options.isChecking ? "checking" : "received";
  return {
    ...checked,
    id: createId("req", now),
    dappId: dapp.id,
    network,
    idempotencyKey: options.idempotencyKey ?? null,
    bodyHash: options.bodyHash,
    createdAt: now,
    updatedAt: now,
    state,
    why: null,
    timeline: [{ seq: 1, state, at: now }],
    error: null,
    endedIn: null,
    version: 1,
  };
}

/** Returns the error that a request ends with after its dry run failed. */
function endOf(error: unknown): { readonly code: string; readonly message: string } {
  // Internal errors aren't written for callers, so their text stays internal.
  if (error instanceof TycheError && error.blame !== "us")
    return { code: error.code, message: error.message };
  return {
    code: "request_failed",
    message: "the request could not be checked, and nothing was sent; send it again",
  };
}
