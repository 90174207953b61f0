/** How the pages and the command name a verification's verdicts, and name and draw the outcomes of its steps. */

export const VERDICT_WORDS = { valid: "valid", invalid: "not valid", incomplete: "no result yet" } as const;

export const OUTCOME_WORDS = { ok: "holds", failed: "failed", notApplicable: "can't be checked" } as const;

/** Each outcome's mark as an SVG path, 12 by 12, because not every font has such signs. */
export const OUTCOME_MARKS = {
  ok: "M2 7l3 3 5-7",
  failed: "M3 3l6 6m0-6l-6 6",
  notApplicable: "M2 6h8",
} as const;
