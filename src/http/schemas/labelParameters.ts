import { Type } from "typebox";
import { canonicalLabel, findLabelProblem } from "../../lib/label.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { EXPECTED } from "../../lib/schemaCheck.ts";
import type { Labelled } from "../../requests/service.ts";

/** The parameters that say what a request is for. */
export const LABEL_PARAMETERS = {
  label: Type.Optional(
    Type.String({
      [EXPECTED]: "text of 1 to 100 characters",
      description:
        "What the request is for, such as `raffle-2026-12-24`: 1 to 100 characters, fixed on chain with it for all to see. Upper and lower case are the same letter by letter.",
    }),
  ),
  once: Type.Optional(
    Type.Boolean({
      [EXPECTED]: "true or false",
      description:
        "Whether this must be the dapp's only request with this label on the network: it is refused if there is another, and so is every later one.",
    }),
  ),
};

interface Given {
  readonly label?: string | undefined;
  readonly once?: boolean | undefined;
}

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

/** Returns the label as it goes on chain. */
export function labelOf({ label, once }: Given): Labelled {
  return label === undefined
    ? {}
    : { label: canonicalLabel(label), ...(once === true ? { once: true as const } : {}) };
}
