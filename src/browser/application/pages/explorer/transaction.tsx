import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import type { EventView, FunctionAnswer, RequestSummary, TransactionView } from "../../../../client/index.ts";
import { capitalize } from "../../../../lib/capitalize.ts";
import { cut } from "../../../../lib/cut.ts";
import { explainFailure, nameFailure } from "../../../../lib/failureText.ts";
import { Page } from "../../page.tsx";
import { CheckPart } from "../../parts/checkPart.tsx";
import { Coin } from "../../parts/coin.tsx";
import {
  BlockLink,
  Code,
  Copyable,
  count,
  groupDigits,
  inGwei,
  percent,
  PartyLink,
  TimeAndAge,
} from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { Facts, Folded, RawBytes, TransactionStatus, UnknownText, ValueTable } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useExplorer, useTitleOf } from "../../services.tsx";
import { Found, useTrail } from "./explorerFrame.tsx";
import {
  FunctionRequestDetails,
  FunctionResultDetails,
  nameRun,
  PresetRunDetails,
  ReportDetails,
} from "./functionSections.tsx";
import { Group } from "./group.tsx";
import { Answer, listed, nameOf, ORGANISER, pageOf } from "../../parts/requestList.tsx";
import { JoinSection, RandomnessDetails, RandomRequestDetails } from "./randomnessSections.tsx";

const PENDING_MS = 500;
/** Confirmations grow, and requests get their answers. */
const MINED_MS = 5_000;

/** `/explorer/{network}/tx/{hash}`: a transaction with everything that can be decoded from it. */
export function Transaction() {
  const { network, hash } = useParams<{ readonly network: string; readonly hash: string }>();
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["transaction", network, hash],
    queryFn: () => explorer.transaction(network, hash),
    refetchInterval: refetchUnlessRefused<TransactionView>((data) =>
      data?.status === "pending" ? PENDING_MS : MINED_MS,
    ),
  });
  return (
    <Found query={query} network={network} hint={<Elsewhere hash={hash} network={network} />}>
      {(transaction) => (
        <Page title={`Transaction ${hash.slice(0, 10)}…`} trail={trail}>
          <Parts transaction={transaction} />
        </Page>
      )}
    </Found>
  );
}

/** Looks up on the other networks a transaction that this one doesn't have. */
function Elsewhere({ hash, network }: { readonly hash: string; readonly network: string }) {
  const explorer = useExplorer();
  const titleOf = useTitleOf();
  const query = useQuery({
    queryKey: ["search", hash],
    queryFn: () => explorer.search(hash),
    enabled: /^0x[0-9a-fA-F]{64}$/.test(hash),
  });
  const other = query.data?.hits.find((hit) => hit.kind === "transaction" && hit.network !== network);
  if (other === undefined) return null;
  return (
    <p>
      <Link className="action" href={`/explorer/${other.network}/tx/${hash}`}>
        Open it on {titleOf(other.network)}
      </Link>
    </p>
  );
}

function Parts({ transaction }: { readonly transaction: TransactionView }) {
  const { network, hash, events, moreEvents = 0, input } = transaction;
  return (
    <>
      <h1>Transaction</h1>
      <p className="subject">
        <Copyable text={hash} what="transaction hash" />
      </p>
      <FailureNotice transaction={transaction} />
      <Requests transaction={transaction} />
      <section className="panel" id="overview" aria-label="Overview">
        <Overview transaction={transaction} />
      </section>
      <Details transaction={transaction} />
      {input !== "0x" && <CallSection transaction={transaction} />}
      <section className="panel" id="events">
        <h2>
          Events <span className="count">{events.length + moreEvents}</span>
        </h2>
        {events.length === 0 && <p className="note">This transaction emitted no events.</p>}
        {events.map((event) => (
          <EventPart key={event.logIndex} event={event} network={network} />
        ))}
        {moreEvents > 0 && <p className="note">{moreEvents} more are not listed.</p>}
      </section>
    </>
  );
}

/** Requests, results, proofs and reports; what has a result comes first. */
function Details({ transaction }: { readonly transaction: TransactionView }) {
  const { network, hash, functionResults, functionRequests, randomness, presets } = transaction;
  const own = new Map<string, RequestSummary>(transaction.requests?.map((one) => [one.requestId, one]));
  const nameById = ({ requestId }: { readonly requestId: string }): string | undefined => {
    const known = own.get(requestId);
    return known && nameOf(known);
  };
  const answers = [
    ...functionResults.map((result) => ({ result, request: undefined })),
    ...functionRequests.flatMap((request) =>
      request.answer === undefined ? [] : [{ result: undefined, request: { ...request, ...request.answer } }],
    ),
  ];
  const runs = (isAnswered: boolean) => {
    const items = presets.filter(({ answer }) => (answer !== null) === isAnswered);
    return (
      <Group
        heading={isAnswered ? "Results of presets" : "Requests to run presets"}
        items={items}
        keyOf={({ requestId }) => requestId}
        titleOf={nameRun}
        nameOf={nameById}
        lineOf={({ answer }) => (answer === null ? undefined : cut(lineOfRun(answer), MAX_LINE))}
      >
        {(run) => <PresetRunDetails run={run} transaction={transaction} />}
      </Group>
    );
  };
  return (
    <>
      <Group
        heading="Results of functions"
        items={answers}
        keyOf={({ result, request }) => (result ?? request).requestId}
        titleOf={() => "Result of a function"}
        nameOf={({ result, request }) => nameById(result ?? request)}
        lineOf={({ result, request }) => cut(lineOfRun(result ?? request), MAX_LINE)}
      >
        {({ result, request }) =>
          result === undefined ? (
            <FunctionRequestDetails request={request} transaction={transaction} />
          ) : (
            <FunctionResultDetails result={result} transaction={transaction} />
          )
        }
      </Group>
      {runs(true)}
      {transaction.joins.map((one) => (
        <JoinSection key={one.requestId} join={one} transaction={transaction} />
      ))}
      <Group
        heading="Random words, with their proofs"
        items={randomness}
        keyOf={({ requestId }) => requestId}
        titleOf={() => "Random words, with their proof"}
        nameOf={nameById}
        lineOf={({ words }) => cut(words.join(", "), MAX_LINE)}
      >
        {(one) => <RandomnessDetails randomness={one} transaction={transaction} />}
      </Group>
      {functionResults.length + randomness.length + presets.filter(({ answer }) => answer !== null).length >
        0 && <CheckPart network={network} hash={hash} />}
      <Group
        heading="Requests to run functions"
        items={functionRequests.filter(({ answer }) => answer === undefined)}
        keyOf={({ requestId }) => requestId}
        titleOf={() => "Request to run a function"}
        nameOf={nameById}
      >
        {(one) => <FunctionRequestDetails request={one} transaction={transaction} />}
      </Group>
      {runs(false)}
      <Group
        heading="Requests for random words"
        items={transaction.randomRequests}
        keyOf={({ requestId }) => requestId}
        titleOf={() => "Request for random words"}
        nameOf={nameById}
      >
        {(one) => <RandomRequestDetails request={one} transaction={transaction} />}
      </Group>
      <Group
        heading="Signed reports"
        items={transaction.reports}
        keyOf={({ digest }) => digest}
        titleOf={() => "Signed report"}
        lineOf={({ requestIds }) => count(requestIds.length, "request")}
      >
        {(one) => <ReportDetails report={one} network={network} />}
      </Group>
    </>
  );
}

/** Longest result in the line of something folded, in UTF-16 code units. */
const MAX_LINE = 80;

function lineOfRun(answer: AnswerLine): string {
  const { err, result, readings, response } = answer;
  return err === "" ? (result ?? readings.text ?? readings.uint256 ?? response) : err;
}

type AnswerLine = Pick<FunctionAnswer, "err" | "readings" | "response"> & { readonly result?: string };

/** Says above all that a source failed although the transaction with its error succeeded. */
function FailureNotice({ transaction }: { readonly transaction: TransactionView }) {
  const { presets, functionResults, functionRequests, status } = transaction;
  const draws = presets.flatMap(({ answer }) => answer ?? []);
  const functions = [...functionResults, ...functionRequests.flatMap(({ answer }) => answer ?? [])];
  const failed = [...draws, ...functions].filter(({ err }) => err !== "");
  const [first] = failed;
  if (first === undefined) return null;
  const all = draws.length + functions.length;
  const what = capitalize(nameFailure(functions.length === 0));
  const explanation = explainFailure(first.err);
  return (
    <div className="notice bad">
      <p>
        <b>{all === 1 ? what : `${failed.length} of ${all} failed`}</b>:{" "}
        {failed.length > 1 && "the first with "}
        <UnknownText text={cut(first.err, MAX_ERROR)} />
      </p>
      {explanation !== undefined && <p>{explanation}</p>}
      {status === "succeeded" && (
        <p>The transaction itself succeeded: the oracle's nodes signed the error, which is on chain.</p>
      )}
    </div>
  );
}

/** Longest error above a transaction, in UTF-16 code units: the details have it in full. */
const MAX_ERROR = 200;

/** Number of requests that are listed at first: a batch may have a hundred. */
const MAX_REQUESTS = 25;

const KINDS = { preset: "preset", random: "random numbers", function: "function" } as const;

/** Lists the service's own requests that a transaction makes or answers, each with its result and the link to its page. */
function Requests({ transaction: { requests = [] } }: { readonly transaction: TransactionView }) {
  if (requests.length === 0) return null;
  return (
    <section className="panel" id="requests">
      {requests.length === 1 ? (
        <h2>Request</h2>
      ) : (
        <h2>
          Requests <span className="count">{requests.length}</span>
        </h2>
      )}
      <RequestTable label="Requests" requests={requests.slice(0, MAX_REQUESTS)} />
      {requests.length > MAX_REQUESTS && (
        <Folded summary={`${requests.length - MAX_REQUESTS} more requests`}>
          <RequestTable label="More requests" requests={requests.slice(MAX_REQUESTS)} />
        </Folded>
      )}
    </section>
  );
}

function RequestTable({
  label,
  requests,
}: {
  readonly label: string;
  readonly requests: readonly RequestSummary[];
}) {
  return (
    <List
      label={label}
      items={requests}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Request",
          kind: "long",
          cell: (request) => (
            <Link href={pageOf(request)}>
              <UnknownText text={nameOf(request)} />
            </Link>
          ),
        },
        { head: "Result", kind: "long", cell: (request) => <Answer answer={listed(request).answer} /> },
        { head: "Kind", isPlain: true, cell: ({ kind }) => KINDS[kind] },
        ...(requests.some(({ dappId }) => dappId !== undefined) ? [ORGANISER] : []),
      ]}
    />
  );
}

function Overview({ transaction }: { readonly transaction: TransactionView }) {
  const { network, status, block, from, to, created, call, gasUsed, gasLimit, gasPriceWei } = transaction;
  const used = gasUsed === null ? "" : `${groupDigits(gasUsed)} used of `;
  const share = gasUsed === null ? "" : ` (${percent(gasUsed, gasLimit)})`;
  const fee = gasUsed === null ? undefined : (BigInt(gasUsed) * BigInt(gasPriceWei)).toString();
  return (
    <Facts
      entries={[
        ["Status", <TransactionStatus status={status} />],
        ["Why", transaction.revertReason !== undefined && <UnknownText text={transaction.revertReason} />],
        [
          "Block",
          block !== null && (
            <>
              <BlockLink network={network} number={block.number} />{" "}
              <span className="note">{count(block.confirmations, "confirmation")}</span>
            </>
          ),
        ],
        ["Time", block !== null && <TimeAndAge iso={block.at} />],
        ["From", <PartyLink network={network} party={from} full />],
        ["To", to !== null && <PartyLink network={network} party={to} full />],
        ["Created contract", created !== null && <PartyLink network={network} party={created} full />],
        ["Called function", call !== null && <Code text={call.function} />],
        ["Value", <Coin wei={transaction.valueWei} network={network} />],
        ["Fee", fee !== undefined && <Coin wei={fee} network={network} />],
        ["Gas", `${used}${groupDigits(gasLimit)}${share}, at ${inGwei(gasPriceWei)}`],
        ["Nonce", String(transaction.nonce)],
        ["Index in block", transaction.index !== null && String(transaction.index)],
      ]}
    />
  );
}

function CallSection({
  transaction: { network, to, call, input },
}: {
  readonly transaction: TransactionView;
}) {
  const bytes = groupDigits((input.length - 2) / 2);
  return (
    <section className="panel" id="call">
      <h2>{to === null ? "Creation" : "Call"}</h2>
      {to !== null &&
        (call === null ? (
          <p className="note">No known interface has this function.</p>
        ) : (
          <Folded
            summary={
              <>
                Arguments of <code>{call.function}</code>
              </>
            }
          >
            <div className="scroll">
              <ValueTable values={call.arguments} network={network} />
            </div>
          </Folded>
        ))}
      <Folded summary={to === null ? `Creation code, ${bytes} bytes` : `Calldata, ${bytes} bytes`}>
        <RawBytes hex={input} label={to === null ? "Creation code" : "Calldata"} />
      </Folded>
    </section>
  );
}

function EventPart({
  event: { logIndex, contract, event, fields, topics, data },
  network,
}: {
  readonly event: EventView;
  readonly network: string;
}) {
  const raw = (
    <table className="values">
      <tbody>
        {topics.map((topic, i) => (
          <tr key={i}>
            <th scope="row">topic {i}</th>
            <td>
              <Code text={topic} />
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">data</th>
          <td>{data.length > 200 ? <RawBytes hex={data} label="Data" /> : <Code text={data} />}</td>
        </tr>
      </tbody>
    </table>
  );
  return (
    <Folded
      summary={
        <>
          <span className="index">{logIndex}</span> <b>{event ?? "Unknown event"}</b>{" "}
          <span className="note">{contract.name ?? contract.address}</span>
        </>
      }
    >
      <p className="note">
        From <PartyLink network={network} party={contract} full />
      </p>
      <div className="scroll">
        {event === undefined ? (
          raw
        ) : (
          <>
            <ValueTable values={fields} network={network} />
            <Folded summary="Topics and data">{raw}</Folded>
          </>
        )}
      </div>
    </Folded>
  );
}
