import { Link } from "wouter";
import type { RequestView } from "../../../../client/index.ts";
import { findDryRun, findLineOf } from "../../../../lib/failureText.ts";
import { Folded, Listing } from "../../parts/parts.tsx";
import { unlabelled } from "./curl.ts";

/** A function's source, open if a line of it is known to have failed; nothing of other requests, or once it was deleted. */
export function SourcePart({ request }: { readonly request: RequestView }) {
  const { source } = unlabelled(request.params);
  if (request.kind !== "function" || source === undefined) return null;
  const line = findFailedLine(request);
  return (
    <>
      <Folded summary="Source" isOpen={line !== undefined}>
        <Listing text={source} label="Source" marked={line} isNumbered />
      </Folded>
      <p>
        <OpenInFunctions request={request} /> to change and try it
      </p>
    </>
  );
}

/** Links to the playground with a request's source, how to run it, and what came of it. */
export function OpenInFunctions({ request: { id, dappId } }: { readonly request: RequestView }) {
  return (
    <Link href={`/functions?${new URLSearchParams({ dapp: dappId, request: id })}`}>Open in Functions</Link>
  );
}

/** Returns the line of a function's source that failed, as far as it is known. */
export function findFailedLine({ error, outcome, params }: RequestView): number | undefined {
  if (error !== null) return findDryRun(error.message)?.line;
  if (outcome === null || !("err" in outcome) || outcome.success) return undefined;
  return findLineOf({ source: unlabelled(params).source }, outcome.err)?.number;
}
