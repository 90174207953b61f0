import { decodeFunctionResult, size, type DecodeFunctionResultParameters } from "viem";
import { RpcError } from "./nodeAnswers.ts";

/**
 * Decodes what a contract's function returned; takes and returns the same as viem's `decodeFunctionResult`, whose errors are written for
 * developers.
 *
 * @throws {CallResultError} when it isn't a result of that function, as from an address without code.
 */
export const decodeCallResult = ((call: DecodeFunctionResultParameters) => {
  try {
    return decodeFunctionResult(call);
  } catch (cause) {
    throw new CallResultError(String(call.functionName), size(call.data), cause);
  }
}) as unknown as typeof decodeFunctionResult;

/** A contract, or the node in its name, returned something other than a result of the function that was called. */
export class CallResultError extends RpcError {
  constructor(functionName: string, bytes: number, cause: unknown) {
    const reason = `${bytes} bytes came back, which are no result of ${functionName}(); the contract's address is wrong, or the node lacks its state`;
    super("eth_call", reason, { cause });
  }
}
