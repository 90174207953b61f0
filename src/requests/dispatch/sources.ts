import { encodeFunctionData, stringToHex, type Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import { askContract } from "../../chainlink/contractRead.ts";
import { presetConsumerAbi } from "../../chainlink/contracts/abi.ts";
import { PRESET_CONSUMER_READS } from "../../chainlink/presetConsumerReads.ts";
import { createHoldOff } from "../../lib/holdOff.ts";
import { shareByKey } from "../../lib/memo.ts";
import type { Preset } from "../../presets/preset.ts";
import { saveSourceId } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";

/** A source to store, with the contract's own key for it. */
export type PresetSource = Pick<Preset, "source" | "sourceHash">;

/** The preset sources stored on one chain. */
export interface SourceStore {
  /** Returns the id of a source on chain, storing the source on first use. */
  ensure(source: PresetSource): Promise<number>;
  /** Returns the id of a stored source by its hash; `undefined` if the chain has none. */
  find(hash: Hex): Promise<number | undefined>;
  /** Forgets all ids, as the chain may have lost the transactions that stored the sources: each is looked up again before its next use. */
  doubt(): void;
}

/** Creates the source store of one network. */
export function createSourceStore(options: {
  readonly network: string;
  readonly store: Store;
  readonly client: ChainClient;
  readonly sender: Sender<Payload>;
  readonly presetConsumer: Hex;
  /** Ids known from the journal, by hash. */
  readonly known: Map<string, number>;
}): SourceStore {
  const { network, store, client, sender, presetConsumer, known } = options;
  const storing = new Map<Hex, Promise<number>>();
  const holdOff = createHoldOff();

  const findOnChain = (hash: Hex, seenBlock?: bigint): Promise<number> =>
    findSourceId(client, presetConsumer, { hash, seenBlock });

  const store_ = async ({ source, sourceHash: hash }: PresetSource): Promise<number> => {
    let sourceId = await findOnChain(hash);
    if (sourceId === 0) {
      const data = encodeFunctionData({
        abi: presetConsumerAbi,
        functionName: "storeSource",
        args: [stringToHex(source)],
      });
      const gas = 150_000n + 260n * BigInt(Buffer.byteLength(source));
      const receipt = await sender.send({ to: presetConsumer, data, gas }, { kind: "upkeep", entries: [] });
      if (!receipt.succeeded)
        throw new ChainUnavailableError(network, "storing a preset's source on chain reverted");
      sourceId = await findOnChain(hash, receipt.blockNumber);
    }
    await store.writeSoon((db) => saveSourceId(db, network, hash, sourceId));
    known.set(hash, sourceId);
    return sourceId;
  };

  return {
    async find(hash) {
      const sourceId = known.get(hash) ?? (await findOnChain(hash));
      return sourceId === 0 ? undefined : sourceId;
    },
    doubt: () => known.clear(),
    async ensure(source) {
      const { sourceHash } = source;
      const sourceId = known.get(sourceHash);
      if (sourceId !== undefined) return sourceId;
      return await shareByKey(storing, sourceHash, () =>
        holdOff(sourceHash, () => store_(source)).finally(() => storing.delete(sourceHash)),
      );
    },
  };
}

/** Reads the id of a source on chain; 0 if it isn't stored. */
export async function findSourceId(
  client: Pick<ChainClient, "call">,
  presetConsumer: Hex,
  { hash, seenBlock }: { readonly hash: Hex; readonly seenBlock?: bigint | undefined },
): Promise<number> {
  return await askContract(client, presetConsumer, PRESET_CONSUMER_READS.sourceIdOf(hash), seenBlock);
}
