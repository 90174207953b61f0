import {
  encodeFunctionData,
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
} from "viem";
import { decodeCallResult } from "../lib/callResult.ts";

/** A read-only call: its calldata, and how to decode its answer. */
export interface ContractRead<Value> {
  readonly data: Hex;
  /** Throws CallResultError for an answer that isn't the function's. */
  readonly decode: (answer: Hex) => Value;
}

/** Returns the read of a view function. */
export function readOf<const ABI extends Abi, Name extends ContractFunctionName<ABI, "view">, Value>(
  abi: ABI,
  functionName: Name,
  args: ContractFunctionArgs<ABI, "view", Name>,
  read: (result: ContractFunctionReturnType<ABI, "view", Name>) => Value,
): ContractRead<Value> {
  const call = { abi, functionName, args } as unknown as Parameters<typeof encodeFunctionData>[0];
  return {
    data: encodeFunctionData(call),
    decode: (data) => read(decodeCallResult<ABI, Name>({ abi, functionName, data } as never)),
  };
}
