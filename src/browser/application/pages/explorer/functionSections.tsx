import type {
  FunctionAnswer,
  FunctionRequestView,
  FunctionResultView,
  PresetRunView,
  ProgramView,
  ReportView,
} from "../../../../client/index.ts";
import { Arguments } from "../../parts/arguments.tsx";
import { Code, count, groupDigits, PartyLink, TransactionLink, units } from "../../parts/format.tsx";
import { Beacon } from "../../parts/requestParts.tsx";
import { Facts, Folded, Listing, Scrollable, Tag, UnknownText, Why, type Fact } from "../../parts/parts.tsx";

/** `0x` and 32 bytes in hex. */
const NUMBER_CHARACTERS = 66;

/** The oracle network's response to one request. */
export function FunctionResultSection({
  result,
  network,
}: {
  readonly result: FunctionResultView;
  readonly network: string;
}) {
  const { requestId, requestedBy, totalCostJuels, program, beacon } = result;
  return (
    <section className="panel" data-function-result={requestId}>
      <h2>Result of a function</h2>
      <Facts
        entries={[
          ...answerFacts(result),
          ["Function request", <Code text={requestId} />],
          [
            "Requested by",
            requestedBy !== undefined && (
              <>
                transaction <TransactionLink network={network} hash={requestedBy} />
              </>
            ),
          ],
          ["Beacon", beacon !== null && <Beacon beacon={beacon} />],
          ["Delivered by", <PartyLink network={network} party={result.transmitter} full />],
          ["Cost", totalCostJuels !== undefined && units(totalCostJuels, "LINK")],
        ]}
      />
      {program === null ? (
        <p className="note">The request itself is no longer available.</p>
      ) : (
        <Program program={program} />
      )}
    </section>
  );
}

/** Lists the facts of a function's response. */
function answerFacts(answer: FunctionAnswer): Fact[] {
  const { callbackReason } = answer;
  return [
    ["Outcome", <Outcome answer={answer} />],
    ...valueFacts(answer),
    ["Callback", callbackReason !== undefined && <UnknownText text={callbackReason} />],
  ];
}

/** Lists what a response may mean, the value first. */
function valueFacts({
  response,
  readings,
  err,
}: Pick<FunctionAnswer, "response" | "readings" | "err">): Fact[] {
  const { text, uint256, int256 } = readings;
  // A number is encoded as 32 bytes; a text of another length is not a number.
  const isNumber = text === undefined || response.length === NUMBER_CHARACTERS;
  return [
    ["As text", text !== undefined && <Large text={text} />],
    ["As number", isNumber && uint256 !== undefined && <Large text={uint256} />],
    ["As signed number", isNumber && int256 !== undefined && int256 !== uint256 && <Large text={int256} />],
    [
      "Response",
      <>
        <Code text={response} /> <span className="note">{count((response.length - 2) / 2, "byte")}</span>
      </>,
    ],
    ["Error", err !== "" && <Large text={err} />],
  ];
}

function Large({ text }: { readonly text: string }) {
  return (
    <span className="result">
      <UnknownText text={text} />
    </span>
  );
}

/** A request to run a function. */
export function FunctionRequestSection({
  request,
  network,
}: {
  readonly request: FunctionRequestView;
  readonly network: string;
}) {
  const { requestId, program, beacon, answeredBy, answer, waitsFor } = request;
  return (
    <section className="panel" data-function-request={requestId}>
      <h2>{answer === undefined ? "Request to run a function" : "Result of a function"}</h2>
      <Facts
        entries={[
          ...(answer === undefined ? [] : answerFacts(answer)),
          ["Function request", <Code text={requestId} />],
          [
            "Answered by",
            answeredBy === undefined ? (
              "not answered yet"
            ) : (
              <>
                transaction <TransactionLink network={network} hash={answeredBy} />
              </>
            ),
          ],
          ["Why it waits", waitsFor !== undefined && <Why text={waitsFor} />],
          ["Beacon", beacon !== null && <Beacon beacon={beacon} />],
          ["Consumer", <PartyLink network={network} party={request.consumer} full />],
          ["Subscription", request.subscriptionId],
          ["Callback gas", groupDigits(request.callbackGasLimit)],
        ]}
      />
      {program === null ? (
        <p className="note">Its data is not a request that an oracle node can run.</p>
      ) : (
        <Program program={program} />
      )}
    </section>
  );
}

/** A preset that a transaction requested or answered. */
export function PresetRunSection({
  run,
  network,
}: {
  readonly run: PresetRunView;
  readonly network: string;
}) {
  const { requestId, vrfRequestId, item, word, beacon, program, requestedBy, answer, answeredBy, waitsFor } =
    run;
  const what = program?.preset === undefined ? "a preset" : `the preset ${program.preset.name}`;
  return (
    <section className="panel" data-preset-run={requestId}>
      <h2>{answer === null ? `Request to run ${what}` : `Result of ${what}`}</h2>
      <Facts
        entries={[
          ...(answer === null
            ? []
            : [
                ["Outcome", <Verdict err={answer.err} />] as const,
                ["Result", answer.result !== undefined && <Large text={answer.result} />] as const,
                ...valueFacts(answer),
              ]),
          ["Request", <Code text={requestId} />],
          [
            "Requested by",
            <>
              transaction <TransactionLink network={network} hash={requestedBy} />
            </>,
          ],
          [
            "Answered by",
            answeredBy === null ? (
              "not answered yet"
            ) : (
              <>
                transaction <TransactionLink network={network} hash={answeredBy} />
              </>
            ),
          ],
          ["Why it waits", waitsFor !== undefined && <Why text={waitsFor} />],
          [
            <>
              Random word{" "}
              <small>
                keccak256(seed, {item}){beacon !== null && ", hashed with the round's signature"}
              </small>
            </>,
            word !== null && <Code text={word} />,
          ],
          ["Beacon", beacon !== null && <Beacon beacon={beacon} />],
          [
            "Batch",
            <>
              item {item} of VRF request <Code text={vrfRequestId} />
            </>,
          ],
        ]}
      />
      {program === null ? (
        <p className="note">Its source or its arguments can't be read.</p>
      ) : (
        <Program program={program} />
      )}
    </section>
  );
}

/** A signed report that delivered results. */
export function ReportSection({
  report,
  network,
}: {
  readonly report: ReportView;
  readonly network: string;
}) {
  const { configDigest, epoch, round, digest, requestIds, signatures } = report;
  return (
    <section className="panel">
      <h2>Signed report</h2>
      <Facts
        entries={[
          ["Answers", count(requestIds.length, epoch === undefined ? "VRF request" : "request")],
          ["Signed hash", <Code text={digest} />],
          ["Configuration", <Code text={configDigest} />],
          ["Epoch and round", epoch !== undefined && `${epoch}, ${round}`],
        ]}
      />
      <h3>
        Signatures <span className="count">{signatures.length}</span>
      </h3>
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
        The signer is recovered from each signature. The contract accepts a report only with enough signatures
        from its configured nodes.
      </p>
    </section>
  );
}

/** The source, folded, and its arguments. */
function Program({ program: { source, preset, args, bytesArgs } }: { readonly program: ProgramView }) {
  return (
    <>
      {args.length > 0 && (
        <>
          <h3>Arguments</h3>
          <Arguments args={args} />
        </>
      )}
      {bytesArgs.length > 0 && (
        <>
          <h3>Byte arguments</h3>
          <ol className="arguments" start={0}>
            {bytesArgs.map((arg, i) => (
              <li key={i}>
                <Code text={arg} />
              </li>
            ))}
          </ol>
        </>
      )}
      {preset === undefined ? (
        <Folded summary="Source">
          <Listing text={source} label="Source" />
        </Folded>
      ) : (
        <Folded
          summary={
            <>
              Source of the preset <code>{preset.name}</code>
            </>
          }
        >
          <Listing text={preset.source} label="Source of the preset" />
          <Folded summary="Minified, as stored on chain">
            <Listing text={source} label="Source" />
          </Folded>
        </Folded>
      )}
    </>
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
function Verdict({ err }: { readonly err: string }) {
  return err === "" ? (
    <Tag kind="good">the function returned</Tag>
  ) : (
    <Tag kind="bad">the function failed</Tag>
  );
}
