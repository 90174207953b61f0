import type { DryRunView } from "../../../client/index.ts";
import { describeThrown } from "../../../text/failure.ts";
import { Listing, ResultText, Tag, UnknownText } from "./parts.tsx";

/** What a source learns of an HTTP request that failed, as on the nodes; the service knows why, such as that a name has no address. */
const FAILED_REQUEST = "Bad Request";

/** Why a dry run failed, and where in its source. */
export function DryRunError({ run }: { readonly run: Pick<DryRunView, "err" | "line" | "column"> }) {
  return (
    <span className="bad-text">
      <UnknownText text={describeThrown(run)} />
    </span>
  );
}

/** The same with the cause, as far as the service knows one that the source's error doesn't state. */
export function DryRunReasons({
  run,
}: {
  readonly run: Pick<DryRunView, "err" | "line" | "column" | "details">;
}) {
  const { err, details = [] } = run;
  const thrown = describeThrown(run);
  const reasons = details.map(({ message }) => message);
  const texts = err === FAILED_REQUEST ? [...reasons, `The source's error: ${thrown}`] : [thrown, ...reasons];
  return (
    <div className="notice bad">
      <UnknownText text={texts.join("\n")} />
    </div>
  );
}

/** What a run wrote. */
export function Console({ text }: { readonly text: string }) {
  return text === "" ? (
    <p className="note">The source wrote nothing to the console.</p>
  ) : (
    <Listing text={text} label="Console" />
  );
}

/** Returns what a run took, each with its name, as far as it was measured. */
export function measuresOf({
  timeMs,
  memoryBytes = 0,
  httpRequests = 0,
}: Pick<DryRunView, "timeMs" | "memoryBytes" | "httpRequests">): readonly (readonly [
  name: string,
  value: string,
])[] {
  if (timeMs === undefined) return [];
  return [
    ["Time", `${timeMs.toFixed(timeMs < 10 ? 1 : 0)} ms`],
    // A run that was stopped is not measured.
    ...(memoryBytes > 0 ? [["Memory", `${(memoryBytes / 1_048_576).toFixed(1)} MiB`] as const] : []),
    ["HTTP requests", String(httpRequests)],
  ];
}

/** What came of a run, in a word. */
export function DryRunState({ run: { kind, success } }: { readonly run: DryRunView }) {
  if (kind !== "dry-run") return <Tag kind="bad">refused before it was sent</Tag>;
  return success ? <Tag kind="good">dry run</Tag> : <Tag kind="bad">dry run failed</Tag>;
}

/** What a run gave; a secret in it was not kept. */
export function DryRunResult({ run: { parsedResult, withheld = false } }: { readonly run: DryRunView }) {
  if (withheld) return <span className="note">not kept: it showed a secret</span>;
  return <ResultText text={parsedResult} />;
}
