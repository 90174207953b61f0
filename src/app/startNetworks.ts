import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { DappDirectory } from "../dapps/dapps.ts";
import { messageOf } from "../lib/errors.ts";
import { repeat } from "../lib/repeat.ts";
import type { PresetRegistry } from "../presets/presetRegistry.ts";
import type { DeletedDapps } from "../requests/keep/deletedDapps.ts";
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
}): Promise<{ readonly close: () => void }> {
  const { networks, dapps, registry, deletedDapps, log, onNetwork } = options;
  const preparers = networks.map((network) =>
    createDappPreparer({ network, dapps, registry, deletedDapps, log }),
  );
  const failures: { readonly name: string; readonly error: unknown }[] = [];

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
      log.error({ network: name, err: error }, "the network could not be started");
      failures.push({ name, error });
      network.fail(error);
      await network.close();
    }
  };
  await Promise.all(networks.map(startOne));
  const [first] = failures;
  if (first !== undefined && failures.length === networks.length) {
    const reasons = failures.map(({ name, error }) => `${name}: ${messageOf(error)}`);
    throw new StartError(`no network could be started: ${reasons.join("; ")}`, first.error);
  }
  const prepareAll = async (): Promise<void> => {
    await Promise.all(preparers.map((preparer) => preparer.prepare()));
  };
  return {
    close: repeat(prepareAll, DAPP_INTERVAL_MS, (error) =>
      log.error({ err: error }, "the dapps could not be prepared"),
    ),
  };
}
