import { encodeFunctionData, keccak256 } from "viem";
import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { encodeSourcePrefix } from "../../chainlink/functionsRequest.ts";
import type { Sender } from "../../evm/sender.ts";
import { presetConsumerAbi } from "../../chainlink/contracts/abi.ts";
import { createHoldOff } from "../../lib/holdOff.ts";
import { toHexText } from "../../lib/hex.ts";
import { saveSourceId } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";

/** The bytes that a preset's requests begin with, and their hash. */
export interface SourcePrefix {
  /** CBOR pairs codeLocation, language and source. */
  readonly bytes: Uint8Array;
  /** keccak256 of the bytes: the contract's own key for it. */
  readonly hash: Hex;
}

/** The preset sources stored on one chain. */
export interface SourceStore {
  /** Returns the id of a source on chain, storing the source on first use. */
  ensure(prefix: SourcePrefix): Promise<number>;
  /** Returns the id of a stored source by its hash; `undefined` if the chain has none. */
  find(hash: Hex): Promise<number | undefined>;
  /** Forgets all ids, as the chain may have lost the transactions that stored the sources: each is looked up again before its next use. */
  doubt(): void;
}

/** Encodes a source as the beginning of a function request. */
export function createSourcePrefix(source: string): SourcePrefix {
  const bytes = encodeSourcePrefix(source);
  return { bytes, hash: keccak256(bytes) };
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

  const store_ = async ({ bytes, hash }: SourcePrefix): Promise<number> => {
    let sourceId = await findOnChain(hash);
    if (sourceId === 0) {
      const data = encodeFunctionData({
        abi: presetConsumerAbi,
        functionName: "storeSource",
        args: [toHexText(bytes)],
      });
      const gas = 150_000n + 260n * BigInt(bytes.length);
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
    async ensure(prefix) {
      const sourceId = known.get(prefix.hash);
      if (sourceId !== undefined) return sourceId;
      let pending = storing.get(prefix.hash);
      if (pending === undefined) {
        pending = holdOff(prefix.hash, () => store_(prefix)).finally(() => storing.delete(prefix.hash));
        storing.set(prefix.hash, pending);
      }
      return await pending;
    },
  };
}

/** Reads the id of a source on chain; 0 if it isn't stored. */
export async function findSourceId(
  client: Pick<ChainClient, "call">,
  presetConsumer: Hex,
  { hash, seenBlock }: { readonly hash: Hex; readonly seenBlock?: bigint | undefined },
): Promise<number> {
  const data = encodeFunctionData({ abi: presetConsumerAbi, functionName: "sourceIdOf", args: [hash] });
  return Number(BigInt(await client.call({ to: presetConsumer, data }, seenBlock)));
}
