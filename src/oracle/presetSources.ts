import { encodeFunctionData, keccak256, type Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { presetConsumerAbi } from "../chainlink/contracts/abi.ts";
import { encodeSourcePrefix, type FunctionsRequest } from "../chainlink/functionsRequest.ts";
import type { OracleRequest } from "./oracleRequest.ts";

/** Maximum number of sources known to be stored; there are a few hundred presets at most. */
const MAX_KNOWN = 1_024;

/** Whether a request runs a preset: a source that the operator has stored in its PresetConsumer. */
export type IsPreset = (request: OracleRequest, parsed: FunctionsRequest) => Promise<boolean>;

/**
 * Creates the check for presets. PresetConsumer also sends callers' own functions, but only presets with a random word, and only the
 * operator can store a source in it. The contract is asked once per source, by the hash of its stored bytes. A source counts as no preset
 * while the contract can't be asked.
 *
 * @param options.presetConsumer address of the PresetConsumer, lower case; absent: nothing is a preset.
 */
export function createPresetSources(options: {
  readonly client: Pick<ChainClient, "call">;
  readonly presetConsumer: Hex | undefined;
}): IsPreset {
  const { client, presetConsumer } = options;
  const stored = new Map<string, Promise<boolean>>();

  const isStored = async (to: Hex, source: string): Promise<boolean> => {
    const args = [keccak256(encodeSourcePrefix(source))] as const;
    const data = encodeFunctionData({ abi: presetConsumerAbi, functionName: "sourceIdOf", args });
    return BigInt(await client.call({ to, data })) !== 0n;
  };

  return async ({ client: sender }, { source, bytesArgs }) => {
    if (presetConsumer === undefined || sender !== presetConsumer || bytesArgs.length !== 1) return false;
    let known = stored.get(source);
    if (known === undefined) {
      if (stored.size >= MAX_KNOWN) stored.clear();
      known = isStored(presetConsumer, source).catch(() => false);
      stored.set(source, known);
      if (!(await known)) stored.delete(source);
    }
    return await known;
  };
}
