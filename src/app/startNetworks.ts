import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { DappDirectory } from "../dapps/dapps.ts";
import { messageOf, TycheError } from "../lib/errors.ts";
import { repeat } from "../lib/repeat.ts";
import type { PresetRegistry } from "../presets/presetRegistry.ts";
import type { DeletedDapps } from "../requests/keep/deletedDapps.ts";
import { JournalBehindError } from "../requests/takeover/journalCheck.ts";
import { createDappPreparer } from "./network/dappPreparer.ts";
import type { ServedNetwork } from "./network/servedNetwork.ts";
import { untilOpen } from "./network/untilOpen.ts";
import { StartError } from "./startError.ts";

/** How often to look for dapps created on the command line meanwhile, and to retry what could not be prepared. */
const DAPP_INTERVAL_MS = 1_000;
/** How long a started network waits for its dapps' subscriptions before it serves without them. */
const PREPARATION_WAIT_MS = 10_000;

/** A network that has begun to serve. */
export interface StartedNetwork {
  readonly name: string;
  /** For users' tools; absent where the URL is private to the operator. */
  readonly rpcUrl?: string;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  readonly isNew: boolean;
  /** The port that its RPC URL was to have, and couldn't. */
  readonly takenPort?: number;
  /** Problems found with the chain, and what became of them: one sentence each. */
  readonly findings: readonly string[];
}

/** A network that could not be started. */
export interface DownNetwork {
  readonly name: string;
  /** Whether its start is tried again; otherwise it serves nothing until the next start of the service. */
  readonly isTriedAgain: boolean;
  /** What is wrong; the remedy too, unless it is among those of {@link DownNetworks}. */
  readonly why: string;
}

/** The networks that could not be started. */
export interface DownNetworks {
  readonly networks: readonly DownNetwork[];
  /** What to do about those of a kind, one sentence each. */
  readonly remedies: readonly string[];
}

/**
 * Starts the networks in parallel, and from then on prepares what each dapp needs there. Resolves once each has been tried. A network that
 * can't be started serves nothing and says why; the others serve. If its chain couldn't be reached, its start is tried again until it serves.
 *
 * @throws {StartError} when none can be started, not even later.
 */
export async function startNetworks(options: {
  readonly networks: readonly ServedNetwork[];
  readonly dapps: DappDirectory;
  readonly registry: PresetRegistry;
  readonly deletedDapps: DeletedDapps;
  readonly log: Logger;
  readonly onNetwork: ((network: StartedNetwork) => void) | undefined;
  readonly onDown: ((name: string) => void) | undefined;
}): Promise<{ readonly close: () => Promise<void>; readonly down: DownNetworks }> {
  const { networks, dapps, registry, deletedDapps, log, onNetwork, onDown } = options;
  const preparers = networks.map((network) =>
    createDappPreparer({ network, dapps, registry, deletedDapps, log }),
  );
  const failures = new Map<string, Failure>();
  const stopping = new AbortController();

  const openOne = async (network: ServedNetwork, i: number): Promise<void> => {
    const began = performance.now();
    const started = await network.start();
    // A failed preparation must not keep the rest from being served.
    await Promise.race([preparers[i]!.prepare(), sleep(PREPARATION_WAIT_MS, undefined, { ref: false })]);
    network.serve();
    onNetwork?.({ name: network.profile.name, ...started, ms: performance.now() - began });
  };
  const noteFailure = (network: ServedNetwork, error: unknown): void => {
    const { name } = network.profile;
    const isTriedAgain = isAway(network, error);
    const isFirst = !failures.has(name);
    failures.set(name, { name, error, isTriedAgain });
    network.fail(error, { isTriedAgain });
    // Whoever starts the service is told what Tyche throws on purpose; anything else is a defect, and its stack helps to find it.
    const level = !(error instanceof TycheError) ? "error" : isFirst ? "debug" : "warn";
    const what = isTriedAgain ? "; it is tried again" : "";
    log[level]({ network: name, err: error }, `the network could not be started${what}`);
    if (isFirst) onDown?.(name);
  };
  /** `tried` resolves after the first attempt, `ended` after the last. */
  const startOne = (network: ServedNetwork, i: number) => {
    const { promise: tried, resolve } = Promise.withResolvers<void>();
    const open = untilOpen(() => openOne(network, i), {
      signal: stopping.signal,
      isFinal: (error) => !isAway(network, error),
      onRetry(error) {
        noteFailure(network, error);
        resolve();
      },
    });
    const ended = open
      .catch(async (error: unknown) => {
        if (!stopping.signal.aborted) noteFailure(network, error);
        await network.close();
      })
      .finally(resolve);
    return { tried, ended };
  };
  const starts = networks.map(startOne);
  await Promise.all(starts.map(({ tried }) => tried));
  const down = describeDown([...failures.values()]);
  const [first] = failures.values();
  if (first !== undefined && down.networks.filter((one) => !one.isTriedAgain).length === networks.length)
    throw noneStarted(down, first.error);
  const prepareAll = async (): Promise<void> => {
    await Promise.all(preparers.map((preparer) => preparer.prepare()));
  };
  const stopPreparing = repeat(prepareAll, DAPP_INTERVAL_MS, (error) =>
    log.error({ err: error }, "the dapps could not be prepared"),
  );
  return {
    down,
    async close() {
      stopPreparing();
      stopping.abort();
      await Promise.all(starts.map(({ ended }) => ended));
    },
  };
}

interface Failure {
  readonly name: string;
  readonly error: unknown;
  readonly isTriedAgain: boolean;
}

/** Whether a start failed for what others run, such as the nodes of a public network: it may succeed later without a change. */
function isAway(network: ServedNetwork, error: unknown): boolean {
  const isOfOthers = error instanceof TycheError && error.blame === "upstream" && error.retryable;
  return isOfOthers && !network.view().embedded;
}

function noneStarted({ networks, remedies }: DownNetworks, cause: unknown): StartError {
  const reasons = networks.map(({ name, why }) => `  ${name}: ${why}`);
  return new StartError(["no network could be started:", ...reasons, ...remedies].join("\n"), cause);
}

/** Says why networks are down, in the order of their names, and what to do about all of the same kind once. */
function describeDown(failures: readonly Failure[]): DownNetworks {
  const sorted = failures.toSorted((a, b) => a.name.localeCompare(b.name));
  const namesOf = (isOfKind: (failure: Failure) => boolean): readonly string[] =>
    sorted.filter(isOfKind).map(({ name }) => name);
  const isBehind = ({ error }: Failure): boolean => error instanceof JournalBehindError;
  const behind = namesOf(isBehind);
  const away = namesOf(({ isTriedAgain }) => isTriedAgain);
  const others = namesOf((failure) => !isBehind(failure) && !failure.isTriedAgain);
  return {
    networks: sorted.map(({ name, error, isTriedAgain }) => ({
      name,
      isTriedAgain,
      why: error instanceof JournalBehindError ? error.problem : messageOf(error),
    })),
    remedies: [
      ...(behind.length === 0 ? [] : [JournalBehindError.remedyFor(behind)]),
      ...(others.length === 0 ? [] : [`Mend what is said of ${others.join(", ")}`]),
      ...(away.length === 0
        ? []
        : [
            `Nodes of ${away.join(", ")} are tried again, every 30 s in the end; no restart is needed, unless rpcUrls of the configuration has to be corrected`,
          ]),
    ],
  };
}
