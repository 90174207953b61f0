import { encodeFunctionData, type Hex } from "viem";
import { decodeCallResult } from "../lib/callResult.ts";
import { presetConsumerAbi } from "./contracts/abi.ts";
import type { ContractRead } from "./vrfCoordinator.ts";

/** Reads what PresetConsumer keeps of a VRF request's batch, see `pendingRecord`; 0 for none, and once it has its results. */
export function batchRecord(vrfRequestId: Hex): ContractRead<bigint> {
  const call = { abi: presetConsumerAbi, functionName: "recordOf" } as const;
  return {
    data: encodeFunctionData({ ...call, args: [BigInt(vrfRequestId)] }),
    decode: (data) => decodeCallResult({ ...call, data }),
  };
}
