import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import type { DryRunView } from "../../../../client/index.ts";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { Loaded } from "../../page.tsx";
import { Arguments } from "../../parts/arguments.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Console, DryRunReasons, DryRunResult, DryRunState, measuresOf } from "../../parts/dryRunParts.tsx";
import { Age, Copyable } from "../../parts/format.tsx";
import { Facts, Folded, Listing, UnknownText, Warnings } from "../../parts/parts.tsx";
import { useClient, useTitleOf } from "../../services.tsx";
import { RefusedSource, ToFunctions } from "./sourcePart.tsx";

/** `/dapps/{dappId}/dry-runs/{id}`: one dry run, or one refused call with what it asked for. */
export function DryRun() {
  const { dappId, id } = useParams<{ readonly dappId: string; readonly id: string }>();
  const client = useClient(dappId);
  const query = useQuery({ queryKey: ["dryRun", dappId, id], queryFn: () => client.dryRun(id) });
  const title = query.data === undefined ? "Dry run" : `Dry run of ${plainText(query.data.title)}`;
  return (
    <DappFrame dappId={dappId} tab="dry-runs" title={title}>
      {() => <Loaded query={query}>{(run) => <RunParts dappId={dappId} run={run} />}</Loaded>}
    </DappFrame>
  );
}

function RunParts({ dappId, run }: { readonly dappId: string; readonly run: DryRunView }) {
  const { id, kind, network, at, title, success, params = {} } = run;
  const { beacon, label, ...own } = params as RefusedParams;
  // A preset's own parameters may have the names of a function's.
  const { source, args, secrets, returnType }: RefusedFunction = kind === "function" ? own : {};
  const titleOf = useTitleOf();
  return (
    <section className="panel" id="dry-run" aria-label="Dry run">
      <h2>
        {kind === "dry-run" ? "Dry run" : <UnknownText text={kind === "preset" ? title : "Function"} />}
        {network !== null && `, on ${titleOf(network)}`} <DryRunState run={run} />
      </h2>
      {success ? (
        <p>
          <DryRunResult run={run} />
        </p>
      ) : (
        <DryRunReasons run={run} />
      )}
      <Warnings warnings={run.warnings} />
      {source !== undefined && <ToFunctions dappId={dappId} id={id} />}
      <RefusedSource run={run} />
      {kind === "preset" && Object.keys(own).length > 1 && (
        <Folded summary="Parameters" isOpen>
          <Listing text={JSON.stringify(own, null, 2)} label="Parameters" />
        </Folded>
      )}
      {run.params === undefined && (
        <p className="note">
          {NOT_KEPT[kind]}{" "}
          {kind !== "preset" && (
            <>
              It began with{" "}
              <code className="hex">
                <UnknownText text={title} />
              </code>
            </>
          )}
        </p>
      )}
      <h3>Console</h3>
      <Console text={run.console} />
      <Facts
        entries={[
          ["Arguments", args !== undefined && args.length > 0 && <Arguments args={args} />],
          ["Secrets", secrets !== undefined && <UnknownText text={secrets.join(", ")} />],
          ["Return type", returnType],
          ["Round of drand", beacon !== undefined && beacon !== "none" && beacon],
          ["Label", label !== undefined && <UnknownText text={label} />],
          ["Run", <Age iso={at} />],
          ...measuresOf(run),
          ["Dry run", <Copyable text={id} what="dry run id" />],
        ]}
      />
    </section>
  );
}

const NOT_KEPT = {
  "dry-run": "Sources of dry runs are not kept, only those of refused calls.",
  function: "The source is not kept any more: newer calls needed the room.",
  preset: "The parameters are not kept any more: newer calls needed the room.",
} as const;

/** What a refused call asked for, whatever it ran: a preset's or a function's own parameters stand beside these. */
interface RefusedParams {
  readonly beacon?: string;
  readonly label?: string;
}

/** What a refused function has of its own. */
interface RefusedFunction {
  readonly source?: string;
  readonly args?: readonly string[];
  readonly secrets?: readonly string[];
  readonly returnType?: string;
}
