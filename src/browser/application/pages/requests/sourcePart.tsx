import { Link } from "wouter";
import type { RequestView } from "../../../../client/index.ts";
import { findDryRun, findLineOf } from "../../../../lib/failureText.ts";
import { Folded, Listing } from "../../parts/parts.tsx";
import { usePresets } from "../../services.tsx";
import { unlabelled } from "./curl.ts";

/** A function's source, or that of a preset which failed, open if a line of it is known to have failed; nothing of other requests, or once it was deleted. */
export function SourcePart({ request }: { readonly request: RequestView }) {
  const { source } = unlabelled(request.params);
  if (request.kind === "preset" && hasFailed(request)) return <PresetSource request={request} />;
  if (request.kind !== "function" || source === undefined) return null;
  const line = findFailedLine(request);
  return (
    <Folded summary="Source" isOpen={line !== undefined}>
      <Listing text={source} label="Source" marked={line} isNumbered />
    </Folded>
  );
}

function hasFailed({ error, outcome }: RequestView): boolean {
  return error !== null || outcome?.success === false;
}

/** A preset's source as it is now: the request says only which preset it was. */
function PresetSource({ request }: { readonly request: RequestView }) {
  const { data } = usePresets();
  const known = data?.find(({ name }) => name === unlabelled(request.params).preset);
  if (known === undefined) return null;
  const line = findFailedLine(request, known.source);
  return (
    <>
      <Folded summary="Source of the preset" isOpen={line !== undefined}>
        <Listing text={known.source} label="Source of the preset" marked={line} isNumbered />
      </Folded>
      <p>
        <Link href={`/presets/${known.name}`}>The preset</Link>, to try other parameters
      </p>
    </>
  );
}

/** Links to the playground with a request's source, how to run it, and what came of it. */
export function OpenInFunctions({
  request: { id, dappId },
  className,
}: {
  readonly request: RequestView;
  /** Default: it looks like other links. */
  readonly className?: "action";
}) {
  return (
    <Link
      href={`/functions?${new URLSearchParams({ dapp: dappId, request: id })}`}
      {...(className === undefined ? {} : { className })}
    >
      Open in Functions
    </Link>
  );
}

/** Returns the line of a source that failed, as far as it is known; without a source, of a function's own. */
export function findFailedLine(
  { error, outcome, params }: RequestView,
  source: string = unlabelled(params).source,
): number | undefined {
  if (error !== null) return findDryRun(error.message)?.line;
  if (outcome === null || !("err" in outcome) || outcome.success) return undefined;
  return findLineOf({ source }, outcome.err)?.number;
}
