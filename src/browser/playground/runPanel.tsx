import type { SimulateResult } from "../../client/index.ts";
import { CopyButton, UnknownText } from "./parts.tsx";
import type { Run } from "./run.ts";

/** What a run came to, or how far it is. */
export function RunPanel({ run, dappId }: { readonly run: Run; readonly dappId: string }) {
  if (run.kind === "none") return null;
  return (
    <section class="panel" aria-label="Run">
      {run.kind === "problem" && (
        <div class="notice bad" role="alert">
          <UnknownText text={[run.message, ...run.details].join("\n")} />
        </div>
      )}
      {run.kind === "dry" && <DryRun result={run.result} />}
      {run.kind === "chain" && <ChainRun run={run} dappId={dappId} />}
    </section>
  );
}

function DryRun({ result }: { readonly result: SimulateResult | undefined }) {
  if (result === undefined)
    return (
      <h2>
        Dry run <span class="tag busy">running</span>
      </h2>
    );
  const { success, err, details = [], line, column } = result;
  return (
    <>
      <h2>
        Dry run <span class={`tag ${success ? "good" : "bad"}`}>{success ? "succeeded" : "failed"}</span>
      </h2>
      {success ? (
        <Value text={result.parsedResult} hex={result.result} />
      ) : (
        <div class="notice bad">
          <UnknownText text={[err, ...details.map(({ message }) => message)].join("\n")} />
          {line !== undefined && ` (line ${line}${column === undefined ? "" : `, column ${column}`})`}
        </div>
      )}
      {Number.isFinite(result.timeMs) && (
        <dl class="measures">
          <Measure name="Time" value={`${result.timeMs.toFixed(result.timeMs < 10 ? 1 : 0)} ms`} />
          <Measure name="Memory" value={`${(result.memoryBytes / 1_048_576).toFixed(1)} MiB`} />
          <Measure name="HTTP requests" value={String(result.httpRequests)} />
        </dl>
      )}
      <h3>Console</h3>
      {result.console === "" ? (
        <p class="note">The source wrote nothing.</p>
      ) : (
        <pre class="listing" tabIndex={0} role="region" aria-label="Console">
          <UnknownText text={result.console} />
        </pre>
      )}
      {result.consoleTruncated && <p class="note">The rest was cut off.</p>}
    </>
  );
}

function ChainRun({
  run,
  dappId,
}: {
  readonly run: Run & { readonly kind: "chain" };
  readonly dappId: string;
}) {
  const { id, states, result } = run;
  const state = states.at(-1)?.state ?? "sending";
  const tone = result === undefined ? "busy" : result.success ? "good" : "bad";
  return (
    <>
      <h2>
        On chain{" "}
        <span class={`tag ${tone}`}>{result !== undefined && !result.success ? "failed" : state}</span>
      </h2>
      {result?.success === true && <Value text={result.parsedResult} hex={result.result} />}
      {result?.success === false && (
        <div class="notice bad">
          <UnknownText text={result.err} />
        </div>
      )}
      <ol class="timeline">
        {states.map(({ state: name, at, url, transactionHash, detail }, i) => (
          <li class={name}>
            <b>{name}</b>{" "}
            <time class="note" dateTime={at} title={at}>
              {i === 0
                ? new Date(at).toLocaleTimeString()
                : `${Date.parse(at) - Date.parse(states[i - 1]!.at)} ms later`}
            </time>
            {transactionHash !== undefined && url !== undefined && (
              <>
                <br />
                <a href={new URL(url).pathname}>
                  <code>{`${transactionHash.slice(0, 10)}…${transactionHash.slice(-6)}`}</code>
                </a>
              </>
            )}
            {detail !== undefined && (
              <>
                <br />
                <span class="note">
                  <UnknownText text={detail} />
                </span>
              </>
            )}
          </li>
        ))}
      </ol>
      {id !== undefined && (
        <p>
          <a href={`/dapps/${dappId}/requests/${id}`}>The request's page</a>
        </p>
      )}
    </>
  );
}

function Value({ text, hex }: { readonly text: string; readonly hex: string }) {
  return (
    <>
      <p class="big-result">
        {text === "" ? <span class="note">(empty)</span> : <UnknownText text={text} />}{" "}
        <CopyButton text={text} what="result" />
      </p>
      <details>
        <summary>Bytes</summary>
        <code class="hex">{hex}</code>
      </details>
    </>
  );
}

function Measure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
