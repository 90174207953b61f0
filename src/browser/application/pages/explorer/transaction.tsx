import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import type { ChainRound, TransactionView } from "../../../../client/index.ts";
import { capitalize } from "../../../../lib/capitalize.ts";
import { cut } from "../../../../lib/cut.ts";
import { AWAITED } from "../../../../text/draw.ts";
import {
  explainFailure,
  findLineOf,
  isDisagreement,
  nameFailure,
  TIMED_OUT,
} from "../../../../text/failure.ts";
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
  ShortHex,
  TimeAndAge,
} from "../../parts/format.tsx";
import { Facts, Folded, RawBytes, TransactionStatus, UnknownText, Why } from "../../parts/parts.tsx";
import { ValueTable } from "../../parts/values.tsx";
import { Answer, ORGANISER } from "../../parts/requestList.tsx";
import { findSourceHosts } from "../../../../text/sourceHosts.ts";
import { RoundWait } from "../../parts/roundWait.tsx";
import { refetchUnlessRefused, searchWhileSilent } from "../../refetch.ts";
import { useExplorer, useNetworks, useTitleOf } from "../../services.tsx";
import { Batch } from "./batch.tsx";
import { Events, resultsOf } from "./events.tsx";
import { ExplorerPage, Found, useTrail } from "./explorerFrame.tsx";
import { ReportDetails } from "./functionSections.tsx";
import { Group } from "./group.tsx";
import { JoinSection, RandomnessDetails, RandomRequestDetails } from "./randomnessSections.tsx";
import {
  describeTransaction,
  isSharedBy,
  rowsOf,
  type TransactionRow,
  WORDS,
  WORDS_REQUEST,
} from "./transactionRows.tsx";
import type { TransactionPlace } from "./place.tsx";

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
  const title = `Transaction ${hash.slice(0, 10)}…`;
  return (
    <Found
      query={query}
      network={network}
      title={title}
      sought={hash}
      hint={<Elsewhere hash={hash} network={network} />}
    >
      {(transaction) => (
        <ExplorerPage network={network} title={title} trail={trail}>
          <Parts transaction={transaction} />
        </ExplorerPage>
      )}
    </Found>
  );
}

/** Hits that are offered for the beginning of a hash. */
const MAX_OFFERED = 5;

/** Looks up on all networks a transaction that this one doesn't have, also by the beginning of its hash. */
function Elsewhere({ hash, network }: { readonly hash: string; readonly network: string }) {
  const explorer = useExplorer();
  const titleOf = useTitleOf();
  const { data: networks = [] } = useNetworks();
  const isWhole = /^0x[0-9a-fA-F]{64}$/.test(hash);
  const { data } = useQuery({
    queryKey: ["search", hash],
    queryFn: () => explorer.search(hash),
    enabled: isWhole || /^0x[0-9a-fA-F]{8,63}$/.test(hash),
    refetchInterval: searchWhileSilent,
  });
  const found = data?.hits.flatMap((hit) => (hit.kind === "transaction" ? [hit] : [])) ?? [];
  const others = found.filter((hit) => !isWhole || hit.network !== network).slice(0, MAX_OFFERED);
  if (others.length > 0)
    return others.map(({ network: other, transactionHash }) => (
      <p key={`${other} ${transactionHash}`}>
        <Link className="action" href={`/explorer/${other}/tx/${transactionHash}`}>
          Open {isWhole ? "it" : <ShortHex text={transactionHash} />} on {titleOf(other)}
        </Link>
      </p>
    ));
  if (!isWhole) return null;
  const asked = networks.filter(
    ({ name, title }) => name !== network && data?.silent.includes(title) === false,
  );
  return (
    <>
      {asked.length > 0 && (
        <p>
          Nor is it on {asked.map(({ title }) => title).join(", ")}, where it was looked for, too. Compare it
          with its source: one wrong digit is another hash.
        </p>
      )}
      {data !== undefined && data.silent.length > 0 && (
        <p className="note">{data.silent.join(", ")} could not be asked.</p>
      )}
    </>
  );
}

function Parts({ transaction }: { readonly transaction: TransactionView }) {
  const { hash, input } = transaction;
  const place = { ...transaction, told: toldOf(transaction) };
  const rows = rowsOf(place);
  const [only] = rows.length === 1 ? rows : [];
  return (
    <>
      <h1>
        Transaction: <UnknownText text={describeTransaction(transaction, rows)} />
      </h1>
      <p className="subject">
        <Copyable text={hash} what="transaction hash" />
      </p>
      <FailureNotice transaction={transaction} />
      <CallbackNotice transaction={transaction} />
      <UnlinkedNotice transaction={transaction} />
      <WaitNotice transaction={transaction} />
      {only === undefined ? (
        rows.length > 1 && <Batch key={transaction.hash} rows={rows} />
      ) : (
        <OnlyRequest row={only} at={transaction.block?.at} />
      )}
      <section className="panel" id="overview" aria-label="Overview">
        <Overview transaction={transaction} />
      </section>
      <Proofs transaction={place} />
      {input !== "0x" && <CallSection transaction={transaction} />}
      <Events transaction={transaction} />
    </>
  );
}

/** The request that a transaction is about: its result first, then what it came of. */
function OnlyRequest({
  row: { href, name, heading, answer, details, dappId },
  at,
}: {
  readonly row: TransactionRow;
  /** When the transaction was mined; `undefined` until it is. */
  readonly at: string | undefined;
}) {
  return (
    <section className="panel" id="requests">
      <h2>
        {href === undefined ? (
          <UnknownText text={heading} />
        ) : (
          <Link href={href}>
            <UnknownText text={name} />
          </Link>
        )}
      </h2>
      {details === undefined ? <Answer answer={answer} /> : details()}
      <Facts
        entries={[
          ["Time", at !== undefined && <TimeAndAge iso={at} />],
          [ORGANISER.head, dappId !== undefined && ORGANISER.cell({ dappId })],
        ]}
      />
    </section>
  );
}

/** What random words are for whole batches, and the reports. */
function Proofs({ transaction }: { readonly transaction: TransactionView & TransactionPlace }) {
  const { network, hash, randomness, randomRequests, functionResults, presets, joins, reports } = transaction;
  const hasResult =
    functionResults.length + presets.filter(({ answer }) => answer !== null).length > 0 ||
    (randomness.length > 0 && presets.length === 0);
  const isShared = isSharedBy(transaction);
  return (
    <>
      {hasResult && <CheckPart network={network} hash={hash} isFunction={functionResults.length > 0} />}
      {joins.map((one) => (
        <JoinSection key={one.requestId} join={one} transaction={transaction} />
      ))}
      <Group
        heading="Random words, with their proofs"
        items={randomness.filter(isShared)}
        keyOf={({ requestId }) => requestId}
        title={presets.length === 0 ? WORDS : "The batch's random word, with its proof"}
        lineOf={({ words }) => cut(words.join(", "), MAX_LINE)}
      >
        {(one) => <RandomnessDetails randomness={one} transaction={transaction} />}
      </Group>
      <Group
        heading="Requests for random words"
        items={randomRequests.filter(isShared)}
        keyOf={({ requestId }) => requestId}
        title={WORDS_REQUEST}
      >
        {(one) => <RandomRequestDetails request={one} transaction={transaction} />}
      </Group>
      <Group
        heading="Signed reports"
        items={reports}
        keyOf={({ digest }) => digest}
        title="Signed report"
        lineOf={({ requestIds }) => count(requestIds.length, "request")}
      >
        {(one) => <ReportDetails report={one} network={network} />}
      </Group>
    </>
  );
}

/** Longest line of something folded, in UTF-16 code units. */
const MAX_LINE = 80;

/** Returns the answers that a transaction requested or delivered, and which of them are errors. */
function answersIn({ presets, functionResults, functionRequests }: TransactionView) {
  const draws = presets.flatMap(({ answer, program }) => (answer === null ? [] : { ...answer, program }));
  const functions = [
    ...functionResults,
    ...functionRequests.flatMap(({ answer, program }) =>
      answer === undefined ? [] : { ...answer, program },
    ),
  ];
  return { draws, functions, failed: [...draws, ...functions].filter(({ err }) => err !== "") };
}

/** Returns what the notices above a transaction say, uncut. */
function toldOf(transaction: TransactionView): ReadonlySet<string> {
  const { draws, functions, failed } = answersIn(transaction);
  const isOne = draws.length + functions.length === 1;
  const errors = failed.flatMap(({ err }) => (isOne && err.length <= MAX_ERROR ? err : []));
  const { why = [] } = findWaits(transaction);
  return new Set(errors.concat(why));
}

/** Says above all that a source failed although the transaction with its error succeeded. */
function FailureNotice({ transaction }: { readonly transaction: TransactionView }) {
  const { draws, functions, failed } = answersIn(transaction);
  const [first] = failed;
  if (first === undefined) return null;
  const all = draws.length + functions.length;
  const isDraw = functions.length === 0;
  const what = capitalize(nameFailure(isDraw));
  const explanation = isDisagreement(first.err)
    ? "What the nodes read differed, such as the answers to HTTP requests, so that they had no result to sign."
    : explainFailure(first.err);
  const line = first.program === null ? undefined : findLineOf(first.program, first.err);
  const hosts = findSourceHosts(first.program?.source ?? "");
  return (
    <div className="notice bad">
      <p>
        <b>{all === 1 ? what : `${failed.length} of ${all} failed`}</b>:{" "}
        {failed.length > 1 && "the first with "}
        <UnknownText text={cut(first.err, MAX_ERROR)} />
      </p>
      {explanation === undefined ? (
        <>
          <p>
            The oracle's nodes signed this error
            {line === undefined ? (
              "."
            ) : (
              <>
                , whose text line {line.number} of the source throws: <Code text={cut(line.text, MAX_LINE)} />
              </>
            )}
          </p>
          {hosts !== undefined && (
            <p>
              Its source makes HTTP requests{hosts.length > 0 && ` (${hosts.join(", ")})`}: what they were
              answered may be the reason.
            </p>
          )}
        </>
      ) : (
        <p>{explanation}</p>
      )}
      {transaction.status === "succeeded" && (
        <p>
          The transaction itself succeeded: the oracle's nodes signed the error, which is on chain and stays
          the outcome. For another one, correct the {isDraw ? "parameters" : "source or its arguments"}, see
          in a dry run whether it works, and make a new request.
        </p>
      )}
    </div>
  );
}

/** Returns the callbacks of consumers that failed, of what a transaction answers or requested. */
function failedCallbacksIn({
  randomness,
  randomRequests,
  functionResults,
  functionRequests,
}: TransactionView) {
  const failed = [
    ...randomness.flatMap(({ requestId, outcome, commitment, reason }) =>
      outcome === "callback failed" ? [{ requestId, consumer: commitment.sender, reason }] : [],
    ),
    ...randomRequests.flatMap(({ requestId, sender, callbackReason: reason }) =>
      reason === undefined ? [] : [{ requestId, consumer: sender, reason }],
    ),
    ...functionResults.flatMap(({ requestId, consumer, callbackReason: reason }) =>
      reason === undefined ? [] : [{ requestId, consumer, reason }],
    ),
    ...functionRequests.flatMap(({ requestId, consumer, answer }) =>
      answer?.callbackReason === undefined ? [] : [{ requestId, consumer, reason: answer.callbackReason }],
    ),
  ];
  return [...new Map(failed.map((one) => [one.requestId, one])).values()];
}

/** Says above all that a consumer's callback failed although the transaction succeeded. */
function CallbackNotice({ transaction }: { readonly transaction: TransactionView }) {
  const failed = failedCallbacksIn(transaction);
  const [first] = failed;
  if (first === undefined) return null;
  const { consumer, reason } = first;
  return (
    <div className="notice bad">
      <p>
        <b>{failed.length === 1 ? "The consumer's callback failed" : `${failed.length} callbacks failed`}</b>:{" "}
        {failed.length > 1 && "the first with "}
        <UnknownText text={cut(reason ?? "no reason is known", MAX_ERROR)} />
      </p>
      {consumer !== undefined && (
        <p>
          Consumer: <PartyLink network={transaction.network} party={consumer} full />
        </p>
      )}
      <p>
        The answer is on chain and final, but the contract did not take it, and it is called only once.
        Correct its callback, or give it more gas, and make a new request.
      </p>
    </div>
  );
}

/** A coordinator's or the router's refusal of a contract that isn't linked. */
const UNLINKED = /^InvalidConsumer\((?:\d+, )?(0x[0-9a-f]{40})?\)?/i;

/** Says what to do about a contract that isn't linked. */
function UnlinkedNotice({
  transaction: { network, revertReason = "" },
}: {
  readonly transaction: TransactionView;
}) {
  const refused = UNLINKED.exec(revertReason);
  if (refused === null) return null;
  const address = refused[1];
  return (
    <div className="notice bad">
      <p>
        <b>The contract is not linked</b>:{" "}
        {address === undefined ? (
          "it"
        ) : (
          <PartyLink network={network} party={{ address: address as `0x${string}` }} full />
        )}{" "}
        is no consumer of the subscription that it asks for. Whoever owns the dapp links it under Consumers,
        or with <code>npx tyche consumer add</code>; then send the transaction again.
      </p>
    </div>
  );
}

/** Finds those of a transaction's requests that may still have a result, and what all of them wait for, if it is the same. */
function findWaits(transaction: TransactionView) {
  const { presets, functionRequests, randomRequests } = transaction;
  const unanswered = functionRequests.filter(({ answer }) => answer === undefined);
  const functions = unanswered.filter(({ isTimedOut }) => isTimedOut !== true);
  const words = randomRequests.filter(({ answeredBy }) => answeredBy === undefined);
  const draws = presets.filter(({ answer }) => answer === null);
  const failed = (transaction.requests ?? []).flatMap(({ state, requestId }) =>
    state === "failed" ? requestId : [],
  );
  const all = [...draws, ...functions, ...(draws.length === 0 ? words : [])].filter(
    ({ requestId }) => !failed.includes(requestId),
  );
  const [first] = all;
  const reasonOf = (one: (typeof all)[number]) => ("beacon" in one ? one.waitsFor : undefined);
  const roundOf = (one: (typeof all)[number]) => ("beacon" in one ? one.beacon : null);
  const why = first && all.every((one) => reasonOf(one) === reasonOf(first)) ? reasonOf(first) : undefined;
  const round = first ? roundOf(first) : null;
  const isSame = (one: ChainRound | null): boolean =>
    one?.round === round?.round && one?.chainHash === round?.chainHash;
  return {
    count: all.length,
    why,
    beacon: all.every((one) => isSame(roundOf(one))) ? round : null,
    isFunction: functions.some((one) => one === first),
    hasTimedOut: unanswered.length > functions.length,
  };
}

/** Says what those of a transaction's requests wait for that may still have a result; where none of them may, that they timed out. */
function WaitNotice({ transaction }: { readonly transaction: TransactionView }) {
  const { count: waiting, why, beacon, isFunction, hasTimedOut } = findWaits(transaction);
  if (waiting === 0)
    return hasTimedOut ? (
      <div className="notice bad">
        <p>
          <b>No result</b>: {TIMED_OUT}
        </p>
      </div>
    ) : null;
  return (
    <div className="notice">
      <p>
        <b>{waiting === 1 ? "No result yet" : `${waiting} have no result yet`}</b>
        {why !== undefined && why !== AWAITED.result && (
          <>
            : <Why text={why} />
          </>
        )}
      </p>
      {beacon !== null && beacon.time !== null && (
        <RoundWait beacon={{ ...beacon, time: beacon.time }} isFunction={isFunction} />
      )}
    </div>
  );
}

/** Longest error above a transaction, in UTF-16 code units: the details have it in full. */
const MAX_ERROR = 200;

function Overview({ transaction }: { readonly transaction: TransactionView }) {
  const { network, status, block, from, to, created, call, gasUsed, gasLimit, gasPriceWei } = transaction;
  const hasFailed = answersIn(transaction).failed.length + failedCallbacksIn(transaction).length > 0;
  const used = gasUsed === null ? "" : `${groupDigits(gasUsed)} used of `;
  const share = gasUsed === null ? "" : ` (${percent(gasUsed, gasLimit)})`;
  const fee = gasUsed === null ? undefined : (BigInt(gasUsed) * BigInt(gasPriceWei)).toString();
  return (
    <>
      <Facts
        entries={[
          ["Status", <TransactionStatus status={status} isOfFailure={hasFailed} />],
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
        ]}
      />
      <Folded summary="Gas, nonce and index">
        <Facts
          entries={[
            ["Gas", `${used}${groupDigits(gasLimit)}${share}, at ${inGwei(gasPriceWei)}`],
            ["Nonce", String(transaction.nonce)],
            ["Index in block", transaction.index !== null && String(transaction.index)],
          ]}
        />
      </Folded>
    </>
  );
}

function CallSection({ transaction }: { readonly transaction: TransactionView }) {
  const { network, to, call, input } = transaction;
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
              <ValueTable values={call.arguments} network={network} results={resultsOf(transaction)} />
            </div>
          </Folded>
        ))}
      <Folded summary={to === null ? `Creation code, ${bytes} bytes` : `Calldata, ${bytes} bytes`}>
        <RawBytes hex={input} label={to === null ? "Creation code" : "Calldata"} />
      </Folded>
    </section>
  );
}
