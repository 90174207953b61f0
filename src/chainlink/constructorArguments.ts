import type { DecodedValue } from "../api/types.ts";
import { decodeAbiParameters, encodeAbiParameters, type AbiParameter, type Hex } from "viem";
import { readValue } from "./addressBook.ts";
import { loadArtifacts } from "./contracts/artifacts.ts";
import type { ContractName } from "./contracts/compilerInput.ts";

/**
 * Decodes the arguments of a contract's constructor; `null` if the creation code isn't the compiled bytecode of the contract,
 * or what follows it doesn't match the constructor's declaration.
 *
 * @param input of the transaction that created it: the creation code, then the encoded arguments.
 */
export function decodeConstructorArguments(contract: ContractName, input: Hex): DecodedValue[] | null {
  const { abi, bytecode } = loadArtifacts()[contract];
  if (!input.toLowerCase().startsWith(bytecode.toLowerCase())) return null;
  const encoded: Hex = `0x${input.slice(bytecode.length).toLowerCase()}`;
  const parameters: readonly AbiParameter[] = abi.find((item) => item.type === "constructor")?.inputs ?? [];
  if (parameters.length === 0) return encoded === "0x" ? [] : null;
  try {
    const values = decodeAbiParameters(parameters, encoded);
    // Otherwise bytes that the decoder skips would go unnoticed.
    if (encodeAbiParameters(parameters, values) !== encoded) return null;
    return parameters.map((parameter, i) => readValue(parameter, values[i]));
  } catch {
    return null;
  }
}
