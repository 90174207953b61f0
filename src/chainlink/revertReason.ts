import { decodeErrorResult, type Hex } from "viem";
import { contractErrorsAbi } from "./contracts/errorsAbi.ts";

/** The meaning of a contract's revert data. */
export interface RevertReason {
  /**
   * Name of the error: `Error` for a text, `Panic` for a failed check of the compiler, `OutOfGas`, or a custom error;
   * `undefined` if unknown.
   */
  readonly name: string | undefined;
  /** The error with its arguments, such as `GasLimitTooBig(3000000, 2500000)`; a text as it is; otherwise the data. */
  readonly text: string;
}

/** Solidity's panics by code (Solidity documentation, "Panic via assert and Error via require"). */
const PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x01n, "an assertion failed"],
  [0x11n, "arithmetic overflow or underflow"],
  [0x12n, "division by zero"],
  [0x21n, "a value that the enum does not have"],
  [0x22n, "a storage byte array that is encoded incorrectly"],
  [0x31n, "pop() on an empty array"],
  [0x32n, "an array index out of bounds"],
  [0x41n, "too much memory, or an array that is too long"],
  [0x51n, "a call of an uninitialised internal function"],
]);

/** Decodes revert data: `Error(string)`, `Panic(uint256)`, and the errors of all contracts that Tyche deploys. Never throws. */
export function decodeRevertReason(data: Hex): RevertReason {
  if (data === "0x") return { name: undefined, text: "no reason given" };
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: contractErrorsAbi, data });
    if (errorName === "Error") return { name: errorName, text: String(args[0]) };
    if (errorName === "Panic") return { name: errorName, text: describePanic(BigInt(String(args[0]))) };
    return { name: errorName, text: `${errorName}(${args.map(String).join(", ")})` };
  } catch {
    return { name: undefined, text: data };
  }
}

function describePanic(code: bigint): string {
  const meaning = PANICS.get(code);
  const panic = `Panic(0x${code.toString(16).padStart(2, "0")})`;
  return meaning === undefined ? panic : `${panic}: ${meaning}`;
}
