import type { FunctionParams, NetworkView } from "../../api/types.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { canonicalLabel, findLabelProblem } from "../../domain/label.ts";
import type { Labelled } from "../../requests/service.ts";

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

type Given = Pick<FunctionParams, "label" | "once">;

/** Turns `once` of a query, which is text, into what it means. */
export function readOnce({ values }: { readonly values: Record<string, unknown> }): void {
  if (values["once"] === "true" || values["once"] === "false") values["once"] = values["once"] === "true";
}

/** Checks what a schema can't express. */
export function checkLabel({ label, once }: Given): ParameterViolation[] {
  if (label === undefined)
    return once === undefined ? [] : [{ path: "/once", message: "needs a label; send label, too" }];
  const message = findLabelProblem(label);
  return message === undefined ? [] : [{ path: "/label", message }];
}

/** Returns the label as it goes on chain, and how it was spelled. */
export function labelOf({ label: given, once }: Given): Labelled {
  if (given === undefined) return {};
  const label = canonicalLabel(given);
  return {
    label,
    ...(given === label ? {} : { givenLabel: given }),
    ...(once === true ? { once: true as const } : {}),
  };
}
