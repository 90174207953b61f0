import type {
  FunctionAnswer,
  FunctionRequestView,
  FunctionResultView,
  PresetRunView,
  ProgramView,
  ReportView,
} from "../../../../client/index.ts";
import type { ReactNode } from "react";
import { findLineOf, nameFailure, TIMED_OUT } from "../../../../text/failure.ts";
import { isWordLong } from "../../parts/isWordLong.ts";
import { Argument, Arguments } from "../../parts/arguments.tsx";
import { Code, Copyable, count, groupDigits, PartyLink, units } from "../../parts/format.tsx";
import { Beacon } from "../../parts/requestParts.tsx";
import { Facts, Folded, Listing, Scrollable, Tag, UnknownText, type Fact } from "../../parts/parts.tsx";
import { Shown } from "../../parts/shown.tsx";
import { HttpPart } from "../../parts/httpPart.tsx";
import { findSourceHosts } from "../../../../text/sourceHosts.ts";
import { In, reasonOf, type TransactionPlace } from "./place.tsx";

/** The oracle network's response to one request. */
export function FunctionResultDetails({
  result,
  transaction,
}: {
  readonly result: FunctionResultView;
  readonly transaction: TransactionPlace;
}) {
  const { requestId, requestedBy, totalCostJuels, program, beacon } = result;
  return (
    <div data-function-result={requestId}>
      <Facts
        entries={[
          ...answerFacts(result, transaction),
          ...programFacts(program),
          ["Beacon", beacon !== null && <Beacon beacon={beacon} />],
          ["Requested in", requestedBy !== undefined && <In place={transaction} hash={requestedBy} />],
        ]}
      />
      {program === null && <p className="note">The request itself is no longer available.</p>}
      <Http program={program} answer={result} />
      <IdsAndBytes requestId={requestId} program={program} answer={result}>
        <Facts
          entries={[
            ["Delivered by", <PartyLink network={transaction.network} party={result.transmitter} full />],
            ["Cost", totalCostJuels !== undefined && units(totalCostJuels, "LINK")],
          ]}
        />
      </IdsAndBytes>
    </div>
  );
}

/** What an answer that came of HTTP requests leaves unproven; nothing for others. */
function Http({
  program,
  answer,
}: {
  readonly program: ProgramView | null;
  readonly answer: FunctionAnswer | undefined;
}) {
  const hosts = program === null ? undefined : findSourceHosts(program.source);
  if (answer === undefined || hosts === undefined) return null;
  return <HttpPart hosts={hosts} error={answer.err} />;
}

/** Lists the facts of a function's response. */
function answerFacts(answer: FunctionAnswer, transaction: TransactionPlace): Fact[] {
  const { callbackReason } = answer;
  return [
    ...valueFacts(answer, transaction),
    ["Outcome", <Outcome answer={answer} />],
    ["Callback", callbackReason !== undefined && <UnknownText text={callbackReason} />],
  ];
}

type Response = Pick<FunctionAnswer, "response" | "readings" | "err">;

/** Lists what a response may mean. */
function valueFacts({ response, readings, err }: Response, { told }: TransactionPlace): Fact[] {
  const { text, uint256, int256 } = readings;
  const isNumber = text === undefined || isWordLong(response);
  return [
    [<As what="text" />, text !== undefined && <Large text={text} />],
    [<As what="number" />, isNumber && uint256 !== undefined && <Large text={uint256} />],
    [
      <As what="signed number" />,
      isNumber && int256 !== undefined && int256 !== uint256 && <Large text={int256} />,
    ],
    ["Error", err !== "" && !told.has(err) && <UnknownText text={err} />],
  ];
}

/** The chain doesn't say what the bytes of a result mean. */
function As({ what }: { readonly what: string }) {
  return (
    <>
      Result <small>as {what}</small>
    </>
  );
}

function Large({ text }: { readonly text: string }) {
  return (
    <span className="result">
      <UnknownText text={text} />
    </span>
  );
}

/** A request to run a function. */
export function FunctionRequestDetails({
  request,
  transaction,
}: {
  readonly request: FunctionRequestView;
  readonly transaction: TransactionPlace;
}) {
  const { requestId, program, beacon, answeredBy, answer, waitsFor, isTimedOut } = request;
  return (
    <div data-function-request={requestId}>
      <Facts
        entries={[
          ...(answer === undefined ? [] : answerFacts(answer, transaction)),
          ["Answered in", <In place={transaction} hash={answeredBy} />],
          ["Outcome", isTimedOut && TIMED_OUT],
          ["Why it waits", reasonOf(waitsFor, transaction)],
          ...programFacts(program),
          ["Beacon", beacon !== null && <Beacon beacon={beacon} />],
        ]}
      />
      {program === null && <p className="note">Its data is not a request that an oracle node can run.</p>}
      <Http program={program} answer={answer} />
      <IdsAndBytes requestId={requestId} program={program} answer={answer}>
        <Facts
          entries={[
            ["Consumer", <PartyLink network={transaction.network} party={request.consumer} full />],
            ["Subscription", request.subscriptionId],
            ["Callback gas", groupDigits(request.callbackGasLimit)],
          ]}
        />
      </IdsAndBytes>
    </div>
  );
}

/** Names a preset that a transaction requested or answered. */
export function nameRun({ program, answer }: PresetRunView): string {
  const what = program?.preset === undefined ? "a preset" : `the preset ${program.preset.name}`;
  return answer === null ? `Request to run ${what}` : `Result of ${what}`;
}

/** A preset that a transaction requested or answered. */
export function PresetRunDetails({
  run,
  transaction,
}: {
  readonly run: PresetRunView;
  readonly transaction: TransactionPlace;
}) {
  const { requestId, vrfRequestId, item, word, beacon, program, requestedBy, answer, answeredBy, waitsFor } =
    run;
  return (
    <div data-preset-run={requestId}>
      <Facts
        entries={[
          ...(answer === null
            ? []
            : [
                ...(answer.result === undefined
                  ? valueFacts(answer, transaction)
                  : [
                      [
                        "Result",
                        answer.shown === undefined ? (
                          <Large text={answer.result} />
                        ) : (
                          <Shown shown={answer.shown} />
                        ),
                      ] as const,
                    ]),
                ["Outcome", <Verdict err={answer.err} isDraw />] as const,
              ]),
          ...programFacts(program),
          ["Random word", word !== null && <Code text={String(BigInt(word))} />],
          ["Beacon", beacon !== null && <Beacon beacon={beacon} />],
          ["Requested in", <In place={transaction} hash={requestedBy} />],
          ["Answered in", <In place={transaction} hash={answeredBy} />],
          ["Why it waits", reasonOf(waitsFor, transaction)],
        ]}
      />
      {program === null && <p className="note">Its source or its arguments can't be read.</p>}
      <IdsAndBytes requestId={requestId} program={program} answer={answer ?? undefined}>
        {answer?.result !== undefined && <Facts entries={valueFacts(answer, transaction)} />}
        <Facts
          entries={[
            [
              <>
                Random word{" "}
                <small>
                  as 32 bytes: keccak256(seed, {item})
                  {beacon !== null && ", hashed with the round's signature"}
                </small>
              </>,
              word !== null && <Code text={word} />,
            ],
            [
              "Batch",
              <>
                item {item} of VRF request <Code text={vrfRequestId} />
              </>,
            ],
          ]}
        />
      </IdsAndBytes>
    </div>
  );
}

/** Lists the arguments of a source: of a preset, each under the name that it has there. */
function programFacts(program: ProgramView | null): Fact[] {
  if (program === null || program.args.length === 0) return [];
  const { args, preset } = program;
  if (preset === undefined || preset.argumentTitles.length !== args.length)
    return [["Arguments", <Arguments args={args} />]];
  return args.map((arg, i): Fact => {
    const title = preset.argumentTitles[i]!;
    return [<UnknownText text={title} />, <Argument arg={arg} label={title} />];
  });
}

/** What few look at: ids, bytes, and the source. */
function IdsAndBytes({
  requestId,
  program,
  answer,
  children,
}: {
  readonly requestId: string;
  readonly program: ProgramView | null;
  readonly answer: Response | undefined;
  readonly children?: ReactNode;
}) {
  const { bytesArgs = [] } = program ?? {};
  return (
    <>
      <Folded summary="Ids and bytes">
        <Facts
          entries={[
            ["Request on chain", <Copyable text={requestId} what="request" />],
            [
              <>
                Result{" "}
                {answer !== undefined && <small>{count((answer.response.length - 2) / 2, "byte")}</small>}
              </>,
              answer !== undefined && <Copyable text={answer.response} what="result" />,
            ],
            ...bytesArgs.map((arg, i): Fact => [`Byte argument ${i}`, <Code text={arg} />]),
          ]}
        />
        {children}
      </Folded>
      {program !== null && <Source program={program} error={answer?.err ?? ""} />}
    </>
  );
}

/** A signed report that delivered results. */
export function ReportDetails({
  report,
  network,
}: {
  readonly report: ReportView;
  readonly network: string;
}) {
  const { configDigest, epoch, round, digest, requestIds, signatures } = report;
  return (
    <>
      <Facts
        entries={[
          ["Answers", count(requestIds.length, epoch === undefined ? "VRF request" : "request")],
          ["Signed hash", <Code text={digest} />],
          ["Configuration", <Code text={configDigest} />],
          ["Epoch and round", epoch !== undefined && `${epoch}, ${round}`],
        ]}
      />
      <Folded summary={count(signatures.length, "signature")}>
        <Scrollable label="Signatures">
          <table className="values">
            <tbody>
              {signatures.map(({ r, s, recoveryId, signer }) => (
                <tr key={r + s}>
                  <th scope="row">
                    {signer === null ? (
                      "not of a known node"
                    ) : (
                      <PartyLink network={network} party={signer} full />
                    )}
                  </th>
                  <td>
                    <span className="coordinate">
                      r <Code text={r} />
                    </span>
                    <span className="coordinate">
                      s <Code text={s} />
                    </span>
                    <span className="coordinate">
                      v <Code text={String(recoveryId)} />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrollable>
        <p className="note">
          The signer is recovered from each signature. The contract accepts a report only with enough
          signatures from its configured nodes.
        </p>
      </Folded>
    </>
  );
}

/** The source, folded unless one of its lines threw the error; a preset's as its author wrote it. */
function Source({ program, error }: { readonly program: ProgramView; readonly error: string }) {
  const { source, preset } = program;
  const thrown = findLineOf(program, error);
  if (preset === undefined)
    return (
      <Folded summary="Source" isOpen={thrown !== undefined}>
        <Listing text={source} label="Source" marked={thrown?.number} />
      </Folded>
    );
  return (
    <Folded
      isOpen={thrown !== undefined}
      summary={
        <>
          Source of the preset <code>{preset.name}</code>
        </>
      }
    >
      <Listing text={preset.source} label="Source of the preset" marked={thrown?.number} />
      <Folded summary="Minified, as stored on chain">
        <Listing text={source} label="Source" />
      </Folded>
    </Folded>
  );
}

function Outcome({ answer: { outcome, err } }: { readonly answer: FunctionAnswer }) {
  if (outcome !== "FULFILLED" && outcome !== "USER_CALLBACK_ERROR") return <Tag kind="bad">{outcome}</Tag>;
  return (
    <>
      <Verdict err={err} />
      {outcome !== "FULFILLED" && (
        <>
          {" "}
          <Tag kind="bad">the consumer's callback failed</Tag>
        </>
      )}
    </>
  );
}

/** Whether a source returned or threw. */
function Verdict({ err, isDraw = false }: { readonly err: string; readonly isDraw?: boolean }) {
  return err === "" ? (
    <Tag kind="good">{isDraw ? "drawn" : "the function returned"}</Tag>
  ) : (
    <Tag kind="bad">{nameFailure(isDraw)}</Tag>
  );
}
