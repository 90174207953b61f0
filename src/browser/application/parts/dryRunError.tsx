import type { DryRunView } from "../../../client/index.ts";
import { UnknownText } from "./parts.tsx";

/** Why a dry run failed, and where in its source. */
export function DryRunError({ run: { err, line, column } }: { readonly run: DryRunView }) {
  const place = line === undefined ? "" : `line ${line}, column ${column ?? 1}`;
  return (
    <span className="bad-text">
      <UnknownText text={err} />
      {!err.includes(place) && ` (${place})`}
    </span>
  );
}
