import type { Logger } from "pino";
import type { DappDirectory } from "../../dapps/dapps.ts";
import { messageOf } from "../../lib/errors.ts";
import { shareRunning } from "../../lib/memo.ts";
import type { PresetRegistry } from "../../presets/presetRegistry.ts";
import type { DeletedDapps, LeftConsumer } from "../../requests/keep/deletedDapps.ts";
import type { RequestPipeline } from "../../requests/requestPipeline.ts";
import type { ServedNetwork } from "./servedNetwork.ts";

/** Prepares, on one network, what each dapp's first call would otherwise wait for. */
export interface DappPreparer {
  /**
   * Creates what is missing and due for another try. Never rejects: the network's readiness reports what could not be created.
   */
  prepare(): Promise<void>;
}

/**
 * Creates the preparer for one network: it creates each dapp's subscriptions, and stores the presets' sources on chain once.
 */
export function createDappPreparer(options: {
  readonly network: ServedNetwork;
  readonly dapps: DappDirectory;
  readonly registry: PresetRegistry;
  readonly deletedDapps: DeletedDapps;
  readonly log: Logger;
}): DappPreparer {
  const { network, dapps, registry, deletedDapps, log } = options;
  let areSourcesStored = false;
  let told = "";
  /** Contracts of deleted dapps that are still linked on chain, and those already logged. */
  let left: readonly LeftConsumer[] = [];
  const toldLeft = new Set<string>();

  const unlinkDeleted = async (pipeline: RequestPipeline): Promise<void> => {
    left = await deletedDapps.unlinkDeleted(network.profile.name, (dappId, consumer) =>
      pipeline.findUnlinkObstacle(dappId, consumer),
    );
    for (const { dappId, consumer, waitsFor, isGivenUp } of left) {
      const name = `${dappId} ${consumer} ${isGivenUp}`;
      if (toldLeft.has(name)) continue;
      toldLeft.add(name);
      const what = isGivenUp ? "stays linked; no further attempts are made" : "can't be unlinked yet";
      log.warn(
        { network: network.profile.name, dappId, consumer },
        `a contract of a deleted dapp ${what}: ${waitsFor}`,
      );
    }
  };

  const prepare = async (): Promise<void> => {
    const pipeline = network.pipeline();
    // Not open yet, or another replica takes care of it.
    if (pipeline === undefined) return network.setPreparation({ isReady: true, warnings: [] });
    const all = await dapps.list();
    const troubles: string[] = [];
    for (const { id } of all)
      await pipeline.subscriptions.ensure(id).catch((error: unknown) => troubles.push(messageOf(error)));
    const [first] = troubles;
    const lacking = troubles.length;
    if (!areSourcesStored) {
      const sources = registry.list().map((preset) => pipeline.storeSource(preset));
      const failed = (await Promise.allSettled(sources)).find(({ status }) => status === "rejected");
      if (failed === undefined) areSourcesStored = true;
      else troubles.push(messageOf((failed as PromiseRejectedResult).reason));
    }
    const settle = (): void =>
      network.setPreparation({
        isReady: lacking === 0 || lacking < all.length,
        warnings: [
          ...(first === undefined
            ? []
            : [`${lacking} of ${all.length} dapps have no subscriptions: ${first}`]),
          ...(areSourcesStored ? [] : [`the presets' sources are not on chain: ${troubles.at(-1)}`]),
          ...describeLeft(left),
        ],
      });
    settle();
    if (first !== undefined && first !== told)
      log.error({ network: network.profile.name, dapps: lacking }, `dapps could not be prepared: ${first}`);
    told = first ?? "";
    await unlinkDeleted(pipeline);
    settle();
  };

  return {
    prepare: shareRunning(() =>
      prepare().catch((error: unknown) =>
        log.error({ network: network.profile.name, err: error }, "the dapps could not be prepared"),
      ),
    ),
  };
}

/** Describes the contracts that deleted dapps left linked, for the operator. */
function describeLeft(left: readonly LeftConsumer[]): readonly string[] {
  const [first] = left;
  if (first === undefined) return [];
  const which = left.length === 1 ? `contract ${first.consumer}` : `${left.length} contracts`;
  const [whose, verb] = left.length === 1 ? ["a deleted dapp", "is"] : ["deleted dapps", "are"];
  const until = first.isGivenUp ? "; no further attempts are made" : "";
  return [`${which} of ${whose} ${verb} still linked: ${first.waitsFor}${until}`];
}
