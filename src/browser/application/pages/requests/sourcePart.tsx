import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { RequestView } from "../../../../client/index.ts";
import { beaconOf } from "../../../../lib/drawText.ts";
import { findDryRunLine, findLineOf } from "../../../../lib/failureText.ts";
import { Folded, Listing } from "../../parts/parts.tsx";
import { encodeFragment } from "../functions/share.ts";
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

/** Links to the playground with a request's source and how to run it, but for secrets: whoever opens it chooses them. */
export function OpenInFunctions({ request: { id, network, params } }: { readonly request: RequestView }) {
  const { source, args, returnType, beacon } = unlabelled(params);
  const { data: fragment } = useQuery({
    queryKey: ["fragment", id],
    queryFn: () => encodeFragment({ source, args, returnType, network, beacon: beaconOf(beacon) }),
    staleTime: Infinity,
  });
  return <Link href={`/functions${fragment ?? ""}`}>Open in Functions</Link>;
}

/** Returns the line of a function's source that failed, as far as it is known. */
export function findFailedLine({ error, outcome, params }: RequestView): number | undefined {
  if (error !== null) return findDryRunLine(error.message);
  if (outcome === null || !("err" in outcome) || outcome.success) return undefined;
  return findLineOf({ source: unlabelled(params).source }, outcome.err)?.number;
}
