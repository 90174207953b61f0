import {
  encodeFunctionData,
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
} from "viem";
import type { ChainClient } from "../evm/client.ts";
import { CallResultError, decodeCallResult } from "../lib/callResult.ts";
import { RpcError } from "../lib/nodeAnswers.ts";

/** A read-only call: its calldata, and how to decode its answer. */
export interface ContractRead<Value> {
  readonly data: Hex;
  /** Throws CallResultError for an answer that isn't the function's. */
  readonly decode: (answer: Hex) => Value;
}

/** What a view function returns. */
type Result<ABI extends Abi, Name extends ContractFunctionName<ABI, "view">> = ContractFunctionReturnType<
  ABI,
  "view",
  Name
>;

/** Returns the read of a view function. @param read picks what is wanted of its result; default: all of it */
export function readOf<
  const ABI extends Abi,
  Name extends ContractFunctionName<ABI, "view">,
  Value = Result<ABI, Name>,
>(
  abi: ABI,
  functionName: Name,
  args: ContractFunctionArgs<ABI, "view", Name>,
  read: (result: Result<ABI, Name>) => Value = (result) => result as Value,
): ContractRead<Value> {
  const call = { abi, functionName, args } as unknown as Parameters<typeof encodeFunctionData>[0];
  return {
    data: encodeFunctionData(call),
    decode: (data) => read(decodeCallResult<ABI, Name>({ abi, functionName, data } as never)),
  };
}

/** Asks a contract. @param seenBlock see `ChainClient.call` */
export async function askContract<Value>(
  client: Pick<ChainClient, "call">,
  to: Hex,
  { data, decode }: ContractRead<Value>,
  seenBlock?: bigint,
): Promise<Value> {
  return decode(await client.call({ to, data }, seenBlock));
}

/** As {@link askContract} of what may be another contract, or an account: returns `undefined` if it has no such function. */
export async function tryContract<Value>(
  client: Pick<ChainClient, "call">,
  to: Hex,
  read: ContractRead<Value>,
  seenBlock?: bigint,
): Promise<Value | undefined> {
  return await askContract(client, to, read, seenBlock).catch((error: unknown) => {
    if (error instanceof CallResultError || isRevert(error)) return undefined;
    throw error;
  });
}

/** Whether a call failed because the contract refused it, and not because of the node. */
export function isRevert(error: unknown): boolean {
  return error instanceof RpcError && (error.data !== undefined || /revert/i.test(error.message));
}
