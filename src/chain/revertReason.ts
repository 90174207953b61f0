import { decodeErrorResult, type Abi, type Hex } from "viem";
import { loadArtifacts } from "../contracts/artifacts.ts";

/** What a contract's revert data say. */
export interface RevertReason {
  /** Name of the error, `Error` for a text, `Panic` for a failed check of the compiler's; `undefined` if unknown. */
  readonly name: string | undefined;
  /** The error as one would write it, such as `GasLimitTooBig(3000000, 2500000)`; a text as it is; else the data. */
  readonly text: string;
}

/** Decodes revert data with the errors of all contracts that Tyche deploys. Never throws. */
export function decodeRevertReason(data: Hex): RevertReason {
  if (data === "0x") return { name: undefined, text: "no reason given" };
  try {
    const { errorName, args } = decodeErrorResult({ abi: errorsOfAllContracts(), data });
    if (errorName === "Error") return { name: errorName, text: String(args?.[0]) };
    return { name: errorName, text: `${errorName}(${(args ?? []).map(String).join(", ")})` };
  } catch {
    return { name: undefined, text: data };
  }
}

let errors: Abi | undefined;

/** One of each signature: several contracts declare the same. */
function errorsOfAllContracts(): Abi {
  errors ??= [
    ...new Map(
      Object.values(loadArtifacts())
        .flatMap(({ abi }) => abi.filter((item) => item.type === "error"))
        .map((error) => [`${error.name}(${error.inputs.map(({ type }) => type).join()})`, error] as const),
    ).values(),
  ];
  return errors;
}
