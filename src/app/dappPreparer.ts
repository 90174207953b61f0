import type { Logger } from "pino";
import type { DappDirectory } from "../dapps/dapps.ts";
import { messageOf } from "../lib/errors.ts";
import { shareRunning } from "../lib/memo.ts";
import type { PresetRegistry } from "../presets/presetRegistry.ts";
import type { DeletedDapps } from "../requests/deletedDapps.ts";
import { createSourcePrefix } from "../requests/sources.ts";
import type { ServedNetwork } from "./servedNetwork.ts";

/** Makes ahead, on one network, what the first call of each dapp would else wait for. */
export interface DappPreparer {
  /** Makes what is missing and may be tried again by now. Never rejects: what it can't make, the network's readiness tells. */
  prepare(): Promise<void>;
}

/** Creates what prepares one network: each dapp's subscriptions, and once the presets' sources on chain. */
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

  const prepare = async (): Promise<void> => {
    const pipeline = network.openedPipeline();
    // Not open yet, or another replica's business.
    if (pipeline === undefined) return network.setPreparation({ isReady: true, warnings: [] });
    const all = await dapps.list();
    const troubles: string[] = [];
    for (const { id } of all)
      await pipeline.subscriptions.ensure(id).catch((error: unknown) => troubles.push(messageOf(error)));
    const [first] = troubles;
    const lacking = troubles.length;
    if (!areSourcesStored) {
      const sources = registry.list().map(({ source }) => pipeline.storeSource(createSourcePrefix(source)));
      const failed = (await Promise.allSettled(sources)).find(({ status }) => status === "rejected");
      if (failed === undefined) areSourcesStored = true;
      else troubles.push(messageOf((failed as PromiseRejectedResult).reason));
    }
    network.setPreparation({
      isReady: lacking === 0 || lacking < all.length,
      warnings: [
        ...(first === undefined ? [] : [`${lacking} of ${all.length} dapps have no subscriptions: ${first}`]),
        ...(areSourcesStored ? [] : [`the presets' sources are not on chain: ${troubles.at(-1)}`]),
      ],
    });
    if (first !== undefined && first !== told)
      log.error({ network: network.profile.name, dapps: lacking }, `dapps could not be prepared: ${first}`);
    told = first ?? "";
    await deletedDapps.unlinkDeleted(network.profile.name);
  };

  return {
    prepare: shareRunning(() =>
      prepare().catch((error: unknown) =>
        log.error({ network: network.profile.name, err: error }, "the dapps could not be prepared"),
      ),
    ),
  };
}
