import { Link } from "wouter";
import { CopyButton, Time, TransactionLink } from "../../parts/format.tsx";
import { Console, DryRunReasons, measuresOf } from "../../parts/dryRunParts.tsx";
import { ResultText, UnknownText, Warnings } from "../../parts/parts.tsx";
import { explainFailure } from "../../../../text/failure.ts";
import { resultClass } from "../../../../text/sharedResult.ts";
import type { Run } from "./run.ts";

/** A run's result, or its progress. */
export function RunPanel({ run, onCancel }: { readonly run: Run; readonly onCancel: () => void }) {
  if (run.kind === "none") return null;
  return (
    <section className="panel" aria-label="Run">
      {run.kind === "problem" && (
        <div className="notice bad" role="alert">
          <UnknownText text={[run.message, ...run.details].join("\n")} />
        </div>
      )}
      {run.kind === "dry" && <DryRun run={run} onCancel={onCancel} />}
      {run.kind === "chain" && <ChainRun run={run} />}
    </section>
  );
}

function DryRun({
  run: { result, isCheck = false },
  onCancel,
}: {
  readonly run: Run & { readonly kind: "dry" };
  readonly onCancel: () => void;
}) {
  if (result === undefined)
    return (
      <h2>
        Dry run <span className="tag busy">running</span>{" "}
        <button type="button" className="copy" onClick={onCancel}>
          Cancel
        </button>
      </h2>
    );
  const { success } = result;
  const measures = measuresOf(result);
  return (
    <>
      <h2>
        Dry run <span className={`tag ${success ? "good" : "bad"}`}>{success ? "succeeded" : "failed"}</span>
      </h2>
      {isCheck && <p className="note">Nothing was sent: a source is dry-run before it goes on chain.</p>}
      {success ? <Value text={result.parsedResult} hex={result.result} /> : <DryRunReasons run={result} />}
      <Warnings warnings={result.warnings} />
      {measures.length > 0 && (
        <dl className="measures">
          {measures.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <h3>Console</h3>
      {result.console === undefined ? (
        <p className="note">It was not kept with the request: a dry run shows it.</p>
      ) : (
        <Console text={result.console} />
      )}
      {result.consoleTruncated && <p className="note">The rest was truncated.</p>}
    </>
  );
}

function ChainRun({ run }: { readonly run: Run & { readonly kind: "chain" } }) {
  const { dappId, network, id, states, result } = run;
  const state = states.at(-1)?.state ?? "checking";
  const tone = result === undefined ? "busy" : result.success ? "good" : "bad";
  return (
    <>
      <h2>
        On chain{" "}
        <span className={`tag ${tone}`}>{result !== undefined && !result.success ? "failed" : state}</span>
      </h2>
      {result?.success === true && <Value text={result.parsedResult} hex={result.result} />}
      {result?.success === false && (
        <>
          <div className="notice bad">
            <UnknownText text={result.err} />
          </div>
          <p>{explainFailure(result.err)} The nodes signed that: there is no result, and none will follow.</p>
        </>
      )}
      <Warnings warnings={result?.warnings} />
      <ol className="timeline">
        {states.map(({ state: name, at, transactionHash, detail }, i) => (
          <li key={at + name} className={name}>
            <b>{name}</b>{" "}
            <span className="note">
              {i === 0 ? (
                <Time iso={at} />
              ) : (
                <time dateTime={at} title={at}>
                  {Date.parse(at) - Date.parse(states[i - 1]!.at)} ms later
                </time>
              )}
            </span>
            {transactionHash !== undefined && (
              <>
                <br />
                <TransactionLink network={network} hash={transactionHash} />
              </>
            )}
            {detail !== undefined && (
              <>
                <br />
                <span className="note">
                  <UnknownText text={detail} />
                </span>
              </>
            )}
          </li>
        ))}
      </ol>
      {id !== undefined && (
        <p>
          <Link href={`/dapps/${dappId}/requests/${id}`}>The request's page</Link>
        </p>
      )}
    </>
  );
}

function Value({ text, hex }: { readonly text: string; readonly hex: string }) {
  return (
    <>
      <p className={resultClass(text)}>
        <ResultText text={text} /> <CopyButton text={text} what="result" />
      </p>
      <details>
        <summary>Bytes</summary>
        <code className="hex">{hex}</code>
      </details>
    </>
  );
}
