import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import type { BeaconView, RequestView } from "../../../../client/index.ts";
import { announce } from "../../announce.ts";
import { Loaded, Refusal } from "../../page.tsx";
import { Age, Code, Copyable, CopyButton, Time, TransactionLink } from "../../parts/format.tsx";
import { ForRole } from "../../parts/forRole.tsx";
import { describeError } from "../../parts/forms.tsx";
import { type Fact, Facts, Folded, Listing, Notice, Tag, UnknownText, Why } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { CheckPart } from "../../parts/checkPart.tsx";
import { Beacon, ErrorNotice, StateTag, summaryOf, useTitleOfRequest } from "../../parts/requestParts.tsx";
import { useClient, useTitleOf } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Console, measuresOf } from "../../parts/dryRunParts.tsx";
import { beaconOf } from "../../../../text/draw.ts";
import { findDryRun } from "../../../../text/failure.ts";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { transactionHashOf, transactionsOf } from "../../../../text/sharedResult.ts";
import { curlOf, unlabelled, wordsOf } from "./curl.ts";
import { OutcomePart } from "./outcome.tsx";
import { hasFailed, SourcePart, ToFunctions } from "./sourcePart.tsx";
import { Timeline } from "./timeline.tsx";
import { VerifyPart } from "./verifyPart.tsx";
import { isEnded } from "../../../../domain/vocabulary.ts";

const BUSY_MS = 300;
/** A reorg may reopen an ended request. */
const ENDED_MS = 15_000;

/** `/dapps/{dappId}/requests/{id}`: one request, followed until it ends. */
export function Request() {
  const { dappId, id } = useParams<{ readonly dappId: string; readonly id: string }>();
  const client = useClient(dappId);
  const query = useQuery({
    queryKey: ["request", dappId, id],
    queryFn: () => client.request(id),
    refetchInterval: refetchUnlessRefused<RequestView>((data) =>
      data !== undefined && isEnded(data.state) ? ENDED_MS : BUSY_MS,
    ),
  });
  const titleOf = useTitleOfRequest();
  const title = query.data === undefined ? "Request" : summaryOf(query.data, titleOf(query.data));
  useAnnouncedEnd(query.data, title);
  if (query.data === undefined && query.error !== null) return <Refusal error={query.error} />;
  return (
    <DappFrame dappId={dappId} tab="requests" title={plainText(title)} network={query.data?.network}>
      {() => (
        <Loaded query={query}>
          {(request) => <RequestParts key={id} dappId={dappId} request={request} title={title} />}
        </Loaded>
      )}
    </DappFrame>
  );
}

function RequestParts({
  dappId,
  request,
  title,
}: {
  readonly dappId: string;
  readonly request: RequestView;
  readonly title: string;
}) {
  const { id, why, params, outcome, error, createdAt, payloadDeletedAt, network, triggerId } = request;
  const { beacon } = params as { beacon?: BeaconView };
  const client = useClient(dappId);
  const titleOf = useTitleOf();
  const isOnChain = outcome !== null && "requestId" in outcome;
  return (
    <>
      <div id="request">
        <section className="panel" aria-label="Request">
          <h2>
            <UnknownText text={title} />, on {titleOf(network)} <StateTag state={request.state} />
          </h2>
          <OutcomePart outcome={outcome} {...(request.shown === undefined ? {} : { shown: request.shown })} />
          {error !== null && <ErrorNotice error={error} />}
          {isFailedFunction(request) && <ToFunctions dappId={dappId} id={id} />}
          <SourcePart request={request} />
          {why !== null && (
            <p className="note">
              Why it waits: <Why text={why} />
            </p>
          )}
          <Facts
            entries={[
              ...outcomeFacts(request),
              ["Beacon", beacon !== undefined && <Beacon beacon={beacon} />],
              ["Request", <Copyable text={id} what="request id" />],
              ["Received", <Age iso={createdAt} />],
              [
                "Made by",
                triggerId !== null && (
                  <Link href={`/dapps/${dappId}/triggers/${triggerId}`}>
                    {triggerId.startsWith("sch") ? "schedule" : "log trigger"} {triggerId}
                  </Link>
                ),
              ],
              [
                "Share",
                isOnChain && (
                  <>
                    <Link href={`/r/${id}`}>public page</Link> with only this result, for anyone with the link
                  </>
                ),
              ],
            ]}
          />
          {outcome !== null && "result" in outcome && (
            <Folded summary="Bytes and ids on chain">
              <Facts
                entries={[
                  ["Result", <Copyable text={outcome.result} what="result" />],
                  ["Function request", <Copyable text={outcome.requestId} what="function request" />],
                ]}
              />
            </Folded>
          )}
          {payloadDeletedAt !== undefined && (
            <p className="note">
              The payload was deleted on <Time iso={payloadDeletedAt} />.
            </p>
          )}
          <Folded summary="Parameters">
            <Listing text={JSON.stringify(params, null, 2)} label="Parameters" />
          </Folded>
        </section>
        {request.dryRun !== undefined && <DryRunPart request={request} dryRun={request.dryRun} />}
        <section className="panel">
          <h2>Timeline</h2>
          <Timeline request={request} />
        </section>
        {isOnChain && (
          <>
            <VerifyPart
              client={client}
              network={network}
              hash={transactionHashOf(outcome.url)}
              requestId={outcome.requestId}
            />
            <CheckPart
              network={network}
              hash={transactionHashOf(outcome.url)}
              requestId={outcome.requestId}
              label={outcome.label}
              dappId={dappId}
              isFunction={request.kind === "function"}
            />
          </>
        )}
      </div>
      {isRepeatable(request) && (
        <ForRole dappId={dappId} operation="runPreset">
          <Again dappId={dappId} request={request} />
        </ForRole>
      )}
    </>
  );
}

/** Whether a function failed whose source can be opened, to be corrected. */
function isFailedFunction(request: RequestView): boolean {
  return request.kind === "function" && isRepeatable(request) && hasFailed(request);
}

/** What a source wrote and took in the dry run before it was sent. */
function DryRunPart({
  request,
  dryRun,
}: {
  readonly request: RequestView;
  readonly dryRun: NonNullable<RequestView["dryRun"]>;
}) {
  const { error, outcome } = request;
  const isRefusal = error !== null && findDryRun(error.message) !== undefined;
  return (
    <section className="panel" id="dry-run" aria-label="Dry run">
      <h2>
        Dry run <Tag kind={isRefusal ? "bad" : "good"}>{isRefusal ? "failed" : "succeeded"}</Tag>
      </h2>
      <p className="note">
        {isRefusal
          ? "The service ran the source before it sent anything, and sent nothing."
          : `The service ran the source before it sent the request.${outcome === null ? "" : " The nodes ran it by themselves, and report no more than its result or error."}`}
      </p>
      <h3>Console</h3>
      <Console text={dryRun.console} />
      <Facts entries={measuresOf(dryRun)} />
    </section>
  );
}

/** Lists the transactions and identifiers behind a result. */
function outcomeFacts({ outcome, network, kind }: RequestView): readonly Fact[] {
  if (outcome === null) return [];
  const link = (hash: string) => (
    <>
      transaction <TransactionLink network={network} hash={hash} />
    </>
  );
  if ("randomNumber" in outcome)
    return [
      ["Proof", link(outcome.transactionHash)],
      ["VRF request", <Code text={outcome.requestId} />],
    ];
  if (!("parsedResult" in outcome))
    return [[kind === "unlink" ? "Unlinked by" : "Linked by", link(outcome.transactionHash)]];
  return transactionsOf(outcome).map(({ name, hash }) => [name, link(hash)]);
}

/** Whether the request's payload is still stored, and its kind can be repeated. */
function isRepeatable({ kind, payloadDeletedAt }: RequestView): boolean {
  return payloadDeletedAt === undefined && (kind === "preset" || kind === "function" || kind === "random");
}

function Again({ dappId, request }: { readonly dappId: string; readonly request: RequestView }) {
  const client = useClient(dappId);
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const repeat = async (): Promise<void> => {
    setBusy(true);
    try {
      const { id } = await submitAgain(client, request);
      navigate(`/dapps/${dappId}/requests/${id}`);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  const command = curlOf(request);
  return (
    <section className="panel" aria-label="Again">
      <h2>Again</h2>
      {problem !== undefined && (
        <Notice kind="bad">
          <UnknownText text={problem} />
        </Notice>
      )}
      {request.kind === "function" && !hasFailed(request) && (
        <ToFunctions dappId={request.dappId} id={request.id} />
      )}
      <button type="button" disabled={isBusy} onClick={() => void repeat()}>
        Run again
      </button>{" "}
      <span className="note">
        A new request with the same parameters
        {request.params["label"] === undefined
          ? ""
          : ", without the label: with it, it would be a second draw"}
        .
      </span>
      <Folded summary="As curl">
        <Listing text={command} label="curl" />
        <CopyButton text={command} what="curl" />
      </Folded>
    </section>
  );
}

async function submitAgain(
  { submit }: ReturnType<typeof useClient>,
  { kind, network, params }: RequestView,
): Promise<{ readonly id: string }> {
  const { preset, beacon: round, ...own } = unlabelled(params);
  const beacon = beaconOf(round) ?? "none";
  if (kind === "preset") return await submit.preset(preset, { ...own }, { network, beacon });
  const { source, args, secrets, returnType } = own;
  return kind === "function"
    ? await submit.runFunction({ network, source, args, secrets, returnType, beacon })
    : await submit.random({ network, ...wordsOf(own) });
}

/** Announces the end of a request to screen readers. */
function useAnnouncedEnd(request: RequestView | undefined, title: string): void {
  const [openId, setOpenId] = useState<string>();
  const isOver = request !== undefined && isEnded(request.state);
  useEffect(() => {
    if (request === undefined) return;
    if (!isOver) setOpenId(request.id);
    else if (request.id === openId) announce(`${title} ${request.state}`);
  }, [request?.id, isOver, openId]);
}
