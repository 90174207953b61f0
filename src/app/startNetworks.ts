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
}

/** A network that could not be started, and serves nothing until the next start. */
export interface DownNetwork {
  readonly name: string;
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
 * Starts the networks in parallel, and from then on prepares what each dapp needs there. A network that can't be started serves
 * nothing and says why; the others serve.
 *
 * @throws {StartError} when none can be started.
 */
export async function startNetworks(options: {
  readonly networks: readonly ServedNetwork[];
  readonly dapps: DappDirectory;
  readonly registry: PresetRegistry;
  readonly deletedDapps: DeletedDapps;
  readonly log: Logger;
  readonly onNetwork: ((network: StartedNetwork) => void) | undefined;
  readonly onDown: ((name: string) => void) | undefined;
}): Promise<{ readonly close: () => void; readonly down: DownNetworks }> {
  const { networks, dapps, registry, deletedDapps, log, onNetwork, onDown } = options;
  const preparers = networks.map((network) =>
    createDappPreparer({ network, dapps, registry, deletedDapps, log }),
  );
  const failures: Failure[] = [];

  const startOne = async (network: ServedNetwork, i: number): Promise<void> => {
    const { name } = network.profile;
    const began = performance.now();
    try {
      const started = await network.start();
      // A failed preparation must not keep the rest from being served.
      await Promise.race([preparers[i]!.prepare(), sleep(PREPARATION_WAIT_MS, undefined, { ref: false })]);
      network.serve();
      onNetwork?.({ name, ...started, ms: performance.now() - began });
    } catch (error) {
      // Whoever starts the service is told what Tyche throws on purpose; anything else is a defect, and its stack helps to find it.
      const level = error instanceof TycheError ? "debug" : "error";
      log[level]({ network: name, err: error }, "the network could not be started");
      failures.push({ name, error });
      onDown?.(name);
      network.fail(error);
      await network.close();
    }
  };
  await Promise.all(networks.map(startOne));
  const down = describeDown(failures);
  const [first] = failures;
  if (first !== undefined && failures.length === networks.length) {
    const reasons = down.networks.map(({ name, why }) => `  ${name}: ${why}`);
    throw new StartError(
      ["no network could be started:", ...reasons, ...down.remedies].join("\n"),
      first.error,
    );
  }
  const prepareAll = async (): Promise<void> => {
    await Promise.all(preparers.map((preparer) => preparer.prepare()));
  };
  return {
    down,
    close: repeat(prepareAll, DAPP_INTERVAL_MS, (error) =>
      log.error({ err: error }, "the dapps could not be prepared"),
    ),
  };
}

interface Failure {
  readonly name: string;
  readonly error: unknown;
}

/** Says why networks are down, in the order of their names, and what to do about all of the same kind once. */
function describeDown(failures: readonly Failure[]): DownNetworks {
  const sorted = failures.toSorted((a, b) => a.name.localeCompare(b.name));
  const namesOf = (isBehind: boolean): readonly string[] =>
    sorted.filter(({ error }) => error instanceof JournalBehindError === isBehind).map(({ name }) => name);
  const [behind, others] = [namesOf(true), namesOf(false)];
  return {
    networks: sorted.map(({ name, error }) => ({
      name,
      why: error instanceof JournalBehindError ? error.problem : messageOf(error),
    })),
    remedies: [
      ...(behind.length === 0 ? [] : [JournalBehindError.remedyFor(behind)]),
      ...(others.length === 0
        ? []
        : [
            `Mend what is said of ${others.join(", ")}: rpcUrls of the configuration names the nodes of a public network`,
          ]),
    ],
  };
}
