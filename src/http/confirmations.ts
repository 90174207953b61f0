import { Type } from "typebox";
import type { NetworkView } from "../api/types.ts";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import { integer } from "./parameterSchemas.ts";

/** The parameter `confirmations` of a request that draws words; `drawn` names them. */
export function confirmationsParameter(drawn: string) {
  return Type.Optional(
    integer(
      { minimum: 1, maximum: 200 },
      `Block confirmations before ${drawn} drawn. Default: 1, or the network's minimum if that is higher. ` +
        "`GET /api/networks` lists each network's range.",
    ),
  );
}

/** Checks the range of a network. */
export function checkConfirmations(
  confirmations: number | undefined,
  { name, vrf: { minConfirmations, maxConfirmations } }: NetworkView,
): ParameterViolation[] {
  if (confirmations === undefined || (confirmations >= minConfirmations && confirmations <= maxConfirmations))
    return [];
  const message = `must be from ${minConfirmations} to ${maxConfirmations} on ${name}; got ${confirmations}`;
  return [{ path: "/confirmations", message }];
}
