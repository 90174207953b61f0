import { Link } from "wouter";
import type { DryRunView, RequestView } from "../../../../client/index.ts";
import { findFailedPlace } from "../../../../text/failure.ts";
import { Folded, Listing } from "../../parts/parts.tsx";
import { useMay, usePresets } from "../../services.tsx";
import { unlabelled } from "./curl.ts";

/** A function's source, or that of a preset which failed, open if a line of it is known to have failed; nothing of other requests, or once it was deleted. */
export function SourcePart({ request }: { readonly request: RequestView }) {
  const { preset, source } = unlabelled(request.params);
  if (request.kind === "preset" && hasFailed(request))
    return <PresetSource name={preset} findLine={(its) => findFailedLine(request, its)} />;
  if (request.kind !== "function" || source === undefined) return null;
  return <NumberedSource source={source} line={findFailedLine(request)} />;
}

/** The source of a call that its dry run refused, as above; nothing once it isn't kept any more. */
export function RefusedSource({ run: { kind, title, line, params } }: { readonly run: DryRunView }) {
  if (kind === "preset") return <PresetSource name={title} findLine={() => line} />;
  const source = params?.["source"];
  return typeof source === "string" ? <NumberedSource source={source} line={line} /> : null;
}

function NumberedSource({
  source,
  line,
  of = "Source",
}: {
  readonly source: string;
  /** That failed, as far as it is known. */
  readonly line: number | undefined;
  readonly of?: string;
}) {
  return (
    <Folded summary={of} isOpen={line !== undefined}>
      <Listing text={source} label={of} marked={line} isNumbered />
    </Folded>
  );
}

/** Whether a request ended without a result. */
export function hasFailed({ error, outcome }: RequestView): boolean {
  return error !== null || outcome?.success === false;
}

/** A preset's source as it is now: the request says only which preset it was. */
function PresetSource({
  name,
  findLine,
}: {
  readonly name: string;
  readonly findLine: (source: string) => number | undefined;
}) {
  const { data } = usePresets();
  const known = data?.find((one) => one.name === name);
  if (known === undefined) return null;
  return (
    <>
      <NumberedSource source={known.source} line={findLine(known.source)} of="Source of the preset" />
      <p>
        <Link href={`/presets/${known.name}`}>The preset</Link>, to try other parameters
      </p>
    </>
  );
}

/** Links to the playground with the source of a request or dry run, how to run it, and what came of it. */
export function OpenInFunctions({
  dappId,
  id,
  className,
}: {
  readonly dappId: string;
  readonly id: string;
  /** Default: it looks like other links. */
  readonly className?: "action";
}) {
  return (
    <Link
      href={`/functions?${new URLSearchParams({ dapp: dappId, [id.startsWith("dry_") ? "dryRun" : "request"]: id })}`}
      {...(className === undefined ? {} : { className })}
    >
      Open in Functions
    </Link>
  );
}

/** Leads to the editor with the source of a request or dry run, and says what for. */
export function ToFunctions({ dappId, id }: { readonly dappId: string; readonly id: string }) {
  const mayRun = useMay(dappId)("runFunction");
  if (mayRun === undefined) return null;
  return (
    <p>
      <OpenInFunctions dappId={dappId} id={id} className="action" />{" "}
      <span className="note">
        {mayRun
          ? "To change the source, and try it in a dry run."
          : "To read the source with its arguments, and copy it."}
      </span>
    </p>
  );
}

/** Returns the line of a source that failed, as far as it is known; without a source, of a function's own. */
export function findFailedLine(
  request: RequestView,
  source: string = unlabelled(request.params).source,
): number | undefined {
  return findFailedPlace(source, request).line;
}
