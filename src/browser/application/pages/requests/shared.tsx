import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useParams } from "wouter";
import type {
  BeaconView,
  ProgramView,
  RequestView,
  SharedRequest,
  SharedResult,
  TransactionView,
  TycheOperator,
} from "../../../../client/index.ts";
import {
  countEntries,
  describeEnd,
  describeFixed,
  describePage,
  nameChain,
  transactionHashOf,
  transactionsOf,
  valueText,
} from "../../../../text/sharedResult.ts";
import { spellingOf, spelledLabel } from "../../../../domain/label.ts";
import { AWAITED, isQuicknet, nameBeacon } from "../../../../text/draw.ts";
import { namePlaces } from "../../../../text/entryLists.ts";
import { announce } from "../../announce.ts";
import { describeRefusal, Loaded, Page, Refusal, sentence, useFailure } from "../../page.tsx";
import { Arguments } from "../../parts/arguments.tsx";
import { CheckPart } from "../../parts/checkPart.tsx";
import { EntryList, isLongList } from "../../parts/entryList.tsx";
import { Code, Copyable, PartyLink, Time, TransactionLink } from "../../parts/format.tsx";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { Facts, Folded, UnknownText, Why, type Fact } from "../../parts/parts.tsx";
import { HttpPart } from "../../parts/httpPart.tsx";
import { QrCode } from "../../parts/qrCode.tsx";
import { RoundWait } from "../../parts/roundWait.tsx";
import { SearchForm } from "../../parts/searchForm.tsx";
import { Beacon, ErrorNotice, useTitleOfRequest } from "../../parts/requestParts.tsx";
import { useSilent, type Chains } from "../../parts/silence.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useExplorer, useMay, useNetworks, useOperator } from "../../services.tsx";
import { useSession } from "../../session.ts";
import { OutcomePart } from "./outcome.tsx";
import { findFailedLine, OpenInFunctions, SourcePart } from "./sourcePart.tsx";
import { findSourceHosts } from "../../../../text/sourceHosts.ts";
import { isDisagreement, TIMED_OUT } from "../../../../text/failure.ts";
import { isWordLong } from "../../parts/isWordLong.ts";
import { VerdictPart } from "./verdictPart.tsx";

/** How often a request without a result is read again. */
const WAITING_MS = 2_000;
/** How often the page of a request that has ended looks whether its chain answers: it needs nothing more of it. */
const ENDED_LOOK_MS = 15_000;
/** How often the chain is asked what such a request waits for. */
const CHAIN_MS = 10_000;

/** `/r/{id}`: a result as a certificate for everyone, which reveals nothing of the dapp that is not on chain; before, what it waits for. */
export function Shared() {
  const { id } = useParams<{ readonly id: string }>();
  const explorer = useExplorer();
  const query = useQuery({
    queryKey: ["shared", id],
    queryFn: () => explorer.shared(id),
    refetchInterval: refetchUnlessRefused<AnyShared>((data) =>
      data === undefined || isWaitingRequest(data) ? WAITING_MS : false,
    ),
  });
  const isSignedIn = useSession().kind === "operator";
  const { data } = query;
  const [hasWaited, setWaited] = useState(false);
  const isWaiting = data !== undefined && isWaitingRequest(data);
  useEffect(() => {
    if (isWaiting) setWaited(true);
    else if (hasWaited && data !== undefined)
      announce("outcome" in data ? "The result is there" : sentence(data.why));
  }, [isWaiting, hasWaited]);
  const error = useFailure(query);
  if (data === undefined && error !== null)
    return (
      <Refusal error={error}>
        {describeRefusal(error).isMissing && (
          <>
            <p>
              Compare the address with the one that you were given. You can also search for the result by its
              label or transaction, or look for it among <Link href="/explorer/requests">all requests</Link>:
            </p>
            <SearchForm />
          </>
        )}
      </Refusal>
    );
  return (
    <Loaded query={query}>
      {(shared) => (isSignedIn ? <OwnParts shared={shared} /> : <SharedParts shared={shared} />)}
    </Loaded>
  );
}

type AnyShared = SharedResult | SharedRequest;

function isWaitingRequest(shared: AnyShared): boolean {
  return "state" in shared && shared.state === "waiting";
}

/**
 * The page with a result, and without: the same elements in the same places, so that who reads or searches it when the result comes stays
 * where they are.
 */
function SharedParts({ shared, own }: { readonly shared: AnyShared; readonly own?: OwnRequest | undefined }) {
  const { network } = shared;
  const ended = "outcome" in shared ? shared : undefined;
  const request = "outcome" in shared ? undefined : shared;
  const { data: networks } = useNetworks();
  const known = networks?.find(({ name }) => name === network);
  const { title, heading, subject } = describePage(
    own === undefined ? shared : { ...shared, ...namesOf(own) },
  );
  const resultHash = ended && transactionHashOf(ended.outcome.url);
  const mined = useTransaction(network, resultHash);
  const requested = useTransaction(network, shared.requestedIn, isWaitingRequest(shared));
  const program = findProgram(shared, [mined, requested]);
  const hosts = program ? findSourceHosts(program.source) : undefined;
  const address = `${location.origin}/r/${shared.id}`;
  return (
    <Page
      title={plainText(title)}
      chains={isWaitingRequest(shared) || network !== undefined ? chainsOf(network) : undefined}
      lookMs={isWaitingRequest(shared) ? undefined : ENDED_LOOK_MS}
    >
      {ended !== undefined && <p className="on-paper">Tyche: verifiable result</p>}
      <h1>
        <UnknownText text={heading} />
      </h1>
      {network === undefined && own !== undefined && (
        <p className="lead">
          <UnknownText text={[...subject, "failed before it was on chain"].join(": ")} />
        </p>
      )}
      {network !== undefined && (
        <p className="lead">
          {subject.length > 0 && (
            <>
              <UnknownText text={subject.join(": ")} />,{" "}
            </>
          )}
          on {nameChain(network, known)}
          {mined?.block && (
            <>
              , <Time iso={mined.block.at} />
            </>
          )}
        </p>
      )}
      <div className="panel certificate">
        <section aria-label="Result">
          {request !== undefined && (
            <WithoutResult
              request={request}
              own={own}
              requested={requested}
              isLocal={known?.embedded !== false}
            />
          )}
          {ended !== undefined && <Result shared={ended} />}
          {ended !== undefined && hosts !== undefined && (
            <HttpPart hosts={hosts} error={errorOf(ended.outcome)} />
          )}
        </section>
        {(network !== undefined || isWaitingRequest(shared)) && <QrCode address={address} />}
        {ended !== undefined && resultHash !== undefined && known !== undefined && (
          <VerdictPart
            id={shared.id}
            known={known}
            hash={resultHash}
            requestId={ended.outcome.requestId}
            listId={hasOneList(shared) ? LIST_ID : undefined}
          />
        )}
      </div>
      {network !== undefined && <About {...{ shared, network, mined, program }} />}
      {ended !== undefined && resultHash !== undefined && (
        <>
          <HowPart shared={ended} usesHttp={hosts !== undefined} />
          <CheckPart
            network={ended.network}
            hash={resultHash}
            requestId={ended.outcome.requestId}
            label={ended.outcome.label}
            dappId={ended.dappId}
            isFunction={ended.preset === undefined && !("randomNumber" in ended.outcome)}
          />
          <p className="on-paper">
            {ended.preset === undefined ? "Made" : "Drawn"} with Tyche. This result: {address}. To verify it
            without this service, open {location.origin}
            /verifier.html or a copy of it, and enter the transaction's hash and the address of any node of
            the chain.
          </p>
        </>
      )}
    </Page>
  );
}

/** The chains that a request may be on. */
function chainsOf(network: string | undefined): Chains {
  return network === undefined ? "all" : [network];
}

/** Reads a transaction, once its hash is known, and reads it anew while it `isOpen`. */
function useTransaction(
  network: string | undefined,
  hash: string | undefined,
  isOpen = false,
): TransactionView | undefined {
  const explorer = useExplorer();
  const { data } = useQuery({
    queryKey: ["transaction", network, hash],
    queryFn: () => explorer.transaction(network!, hash!),
    enabled: network !== undefined && hash !== undefined,
    refetchInterval: isOpen && CHAIN_MS,
    staleTime: 60_000,
  });
  return data;
}

/** Returns what the nodes were asked to run for a function. */
function findProgram(
  shared: AnyShared,
  transactions: readonly (TransactionView | undefined)[],
): ProgramView | null | undefined {
  const { requestId } = "outcome" in shared ? shared.outcome : shared;
  return transactions
    .flatMap((one) => [...(one?.functionResults ?? []), ...(one?.functionRequests ?? [])])
    .find((one) => one.requestId === requestId)?.program;
}

function Result({ shared: { outcome, shown, params = {} } }: { readonly shared: SharedResult }) {
  const drawn = drawnOf(shown);
  const [list, ...otherLists] = Object.values(params).filter((value) => Array.isArray(value));
  const places =
    drawn !== undefined && list !== undefined && otherLists.length === 0 && drawn.size < list.length
      ? namePlaces(list.map(valueText))
      : undefined;
  return <OutcomePart outcome={outcome} places={places} {...(shown === undefined ? {} : { shown })} />;
}

/** Id of the list that a result was drawn from: a browser opens what is folded around what a link names. */
const LIST_ID = "entries";

function hasOneList({ params = {} }: AnyShared): boolean {
  return Object.values(params).filter((value) => Array.isArray(value)).length === 1;
}

function drawnOf(shown: SharedResult["shown"]): ReadonlySet<string> | undefined {
  return shown?.as === "list" ? new Set(shown.entries) : undefined;
}

/** What an audience sees before a draw, or of a request that failed without a result. */
function WithoutResult({
  request,
  own,
  requested,
  isLocal,
}: {
  readonly request: SharedRequest;
  readonly own: OwnRequest | undefined;
  /** The transaction with the request. */
  readonly requested: TransactionView | undefined;
  /** Whether the chain is one of the service's own. */
  readonly isLocal: boolean;
}) {
  const { state, why, kind, beacon, requestId, network } = request;
  const isUnanswered = useSilent(chainsOf(network)).length > 0;
  const waitsFor = requested && findWait(requested, requestId);
  if (state === "failed")
    return own?.request.error ? (
      <OwnFailure request={own.request} error={own.request.error} shared={request} />
    ) : (
      <FailedPart request={request} />
    );
  // The state of the request alone says less than the chain.
  const isVague = why === AWAITED.words || why === AWAITED.result;
  const reason = isVague && beacon === undefined ? (waitsFor ?? why) : why;
  const fixed = describeFixed(kind);
  const facts = (
    <>
      {waitsFor !== undefined && reason !== waitsFor && (
        <p>
          On chain: <Why text={waitsFor} />.
        </p>
      )}
      {fixed !== undefined && <p>{fixed}</p>}
    </>
  );
  return (
    <>
      <p className="big-result">Waiting</p>
      <p>
        <Why text={sentence(reason)} />
      </p>
      {beacon === undefined ? (
        facts
      ) : (
        <RoundWait beacon={beacon} isFunction={kind === "function"}>
          {facts}
        </RoundWait>
      )}
      {isUnanswered && (
        <p>
          {network === undefined
            ? "If it is on a chain that doesn't answer, it waits for that. Nothing is lost."
            : "It waits for the chain, which doesn't answer now. Nothing is lost."}
        </p>
      )}
      <p className="note">
        The result will appear here by itself
        {beacon === undefined &&
          isVague &&
          !isUnanswered &&
          waitsFor === undefined &&
          (isLocal ? ", mostly within seconds" : ", mostly within a few minutes")}
        .
      </p>
    </>
  );
}

/** Of a request that failed without a result: what that means. */
function FailedPart({ request }: { readonly request: SharedRequest }) {
  const { id, why, kind } = request;
  const isSignedIn = useSession().kind === "operator";
  return (
    <>
      <p className="big-result bad-text">{kind === undefined ? "Failed" : sentence(why)}</p>
      <p>{describePage(request).said}</p>
      <p>
        If you were promised a result, ask whoever gave you this address: they can make a new request, with a
        page of its own.
        {!isSignedIn && (
          <>
            {" "}
            If it was yours, <Link href={`/sign-in?next=${encodeURIComponent(`/r/${id}`)}`}>sign in</Link> to
            see why it failed.
          </>
        )}
      </p>
      <FailureFacts request={request} />
    </>
  );
}

/** Why a request failed, and what to do about it, to who may see it. */
function OwnFailure({
  request,
  error,
  shared,
}: {
  readonly request: RequestView;
  readonly error: NonNullable<RequestView["error"]>;
  readonly shared: SharedRequest;
}) {
  const { id, dappId, kind } = request;
  const may = useMay(dappId);
  const line = findFailedLine(request);
  const open = <Link href={`/dapps/${dappId}/requests/${id}`}>Open the request</Link>;
  return (
    <>
      <ErrorNotice error={error} />
      {may("runFunction") === true &&
      kind === "function" &&
      error.code === "function_failed" &&
      request.params["source"] !== undefined ? (
        <p>
          Correct the source{line !== undefined && ` in line ${line}`} or its arguments, and run it again:{" "}
          <OpenInFunctions dappId={request.dappId} id={request.id} />. {open} to see its source and how it was
          made.
        </p>
      ) : (
        <>
          <SourcePart request={request} />
          <p>
            {open} to see all of it{may("runFunction") === true && ", or to make it again"}.
          </p>
        </>
      )}
      <p className="note">
        {describeEnd(shared)} Only those who may see the dapp&rsquo;s requests see{" "}
        {shared.kind === undefined && "what it asked for, and "}why it failed.
      </p>
      <FailureFacts request={shared} />
    </>
  );
}

function FailureFacts({ request: { id, createdAt } }: { readonly request: SharedRequest }) {
  return (
    <Facts
      entries={[
        ["Request", <Copyable text={id} what="request" />],
        ["Made", <Time iso={createdAt} />],
      ]}
    />
  );
}

/** The page for who is signed in: of a request that failed with the reason, if it is of one of their dapps. */
function OwnParts({ shared }: { readonly shared: AnyShared }) {
  const operator = useOperator();
  const titleOf = useTitleOfRequest();
  const { data } = useQuery({
    queryKey: ["ownRequest", shared.id],
    queryFn: () => findOwn(operator, shared.id),
    enabled: "state" in shared && shared.state === "failed",
    staleTime: Infinity,
  });
  return <SharedParts shared={shared} own={data ? { request: data, title: titleOf(data) } : undefined} />;
}

/** A request as those see it who may see all of it, and what it is called. */
interface OwnRequest {
  readonly request: RequestView;
  readonly title: string | undefined;
}

/** Returns what a request is called that isn't on chain. */
function namesOf({ request: { kind, params, givenLabel }, title }: OwnRequest) {
  const { label } = params as { readonly label?: string };
  return {
    ...(kind === "preset" ? { params } : {}),
    ...(kind === "preset" || kind === "random" || kind === "function" ? { kind } : {}),
    ...(title === undefined ? {} : { title }),
    ...(label === undefined ? {} : { label }),
    ...spellingOf({ givenLabel }),
  };
}

/** Looks for a request among the dapps of who is signed in: a link to share doesn't say whose it is. */
async function findOwn(operator: TycheOperator, id: string): Promise<RequestView | null> {
  for (const { id: dappId } of await operator.dapps()) {
    try {
      return await operator.as(dappId).request(id);
    } catch (error) {
      if (!describeRefusal(error).isMissing) throw error;
    }
  }
  return null;
}

/** Returns what a request's own transaction says that it waits for. */
function findWait(
  { functionRequests, presets, randomRequests }: TransactionView,
  requestId: string | undefined,
): string | undefined {
  const wordsId = presets.find((one) => one.requestId === requestId)?.vrfRequestId ?? requestId;
  const own = functionRequests.find((one) => one.requestId === requestId);
  if (own?.isTimedOut === true) return TIMED_OUT;
  return (own ?? randomRequests.find((one) => one.requestId === wordsId))?.waitsFor;
}

/** What was asked for, by whom, and where it is on chain. */
function About({
  shared,
  network,
  mined,
  program,
}: {
  readonly shared: AnyShared;
  readonly network: string;
  /** The transaction with the result. */
  readonly mined: TransactionView | undefined;
  readonly program: ProgramView | null | undefined;
}) {
  const { params = {}, parameterTitles = {}, dappId, dappName, requestedIn } = shared;
  // The chain has those that were deleted here.
  const args = shared.args ?? program?.args ?? [];
  const ended = "outcome" in shared ? shared : undefined;
  const [wasWaiting] = useState(isWaitingRequest(shared));
  const drawn = drawnOf(ended?.shown);
  const beacon = "outcome" in shared ? beaconOf(shared.outcome) : shared.beacon;
  return (
    <section className="panel" aria-label="About">
      <Facts
        entries={[
          ["Arguments", args.length > 0 && <Arguments args={args} />],
          ...Object.entries(params).map(([name, value]): Fact => [
            <UnknownText text={parameterTitles[name] ?? name} />,
            <Given
              label={parameterTitles[name] ?? name}
              value={value}
              id={hasOneList(shared) ? LIST_ID : undefined}
              drawn={drawn}
              isWhole={wasWaiting}
            />,
          ]),
          ["Organiser", dappId !== undefined && <Organiser dappId={dappId} name={dappName} />],
          ["Beacon", beacon !== undefined && <Beacon beacon={beacon} />],
          ["Requested in", requestedIn !== undefined && <In network={network} hash={requestedIn} />],
          ...(ended === undefined ? [] : transactionsOf(ended.outcome)).map(({ name, hash }): Fact => [
            name,
            <In network={network} hash={hash} />,
          ]),
          [
            "Delivered by",
            mined && (
              <>
                <PartyLink network={network} party={mined.from} />{" "}
                <span className="note">
                  sent the transaction with the {ended?.outcome.success === false ? "error" : "result"}, and
                  paid its fee
                </span>
              </>
            ),
          ],
        ]}
      />
      {ended !== undefined && <Bytes shared={ended} mined={mined} />}
    </section>
  );
}

/** Returns the error that a source ended with; empty after a success. */
function errorOf(outcome: SharedResult["outcome"]): string {
  return "err" in outcome && !outcome.success ? outcome.err : "";
}

function beaconOf(outcome: SharedResult["outcome"]): BeaconView | undefined {
  return "beacon" in outcome ? outcome.beacon : undefined;
}

/** A transaction, and when it was mined. */
function In({ network, hash }: { readonly network: string; readonly hash: string }) {
  const transaction = useTransaction(network, hash);
  return (
    <>
      <TransactionLink network={network} hash={hash}>
        <Code text={hash} />
      </TransactionLink>
      {transaction?.block && (
        <>
          {" "}
          <span className="note">
            <Time iso={transaction.block.at} />
          </span>
        </>
      )}
    </>
  );
}

function Bytes({
  shared: { outcome, givenLabel, updatedAt },
  mined,
}: {
  readonly shared: SharedResult;
  /** The transaction with the result. */
  readonly mined: TransactionView | undefined;
}) {
  const draw = mined?.presets.find(({ requestId }) => requestId === outcome.requestId);
  const { label } = outcome;
  return (
    <div className="bytes">
      <Folded summary="Ids and bytes">
        <Facts
          entries={[
            [
              "Label on chain",
              label !== undefined && spelledLabel({ label, givenLabel }) !== label && (
                <>
                  <UnknownText text={label} /> <span className="note">capitals don’t count there</span>
                </>
              ),
            ],
            ["Request on chain", <Copyable text={outcome.requestId} what="request" />],
            ["Random word", draw?.word && <Copyable text={String(BigInt(draw.word))} what="random word" />],
            [
              "Result",
              "result" in outcome && (
                <span className="on-screen">
                  <Copyable text={outcome.result} what="result" />
                </span>
              ),
            ],
            [
              "Stored here",
              <span className="on-screen">
                <Time iso={updatedAt} />
              </span>,
            ],
          ]}
        />
      </Folded>
      <p className="on-screen">
        <button type="button" onClick={() => print()}>
          Print
        </button>
      </p>
    </div>
  );
}

/** Whose label it is. The name is what this service says; only the id is on chain. */
function Organiser({ dappId, name }: { readonly dappId: string; readonly name: string | undefined }) {
  const id = (
    <>
      <Code text={dappId} /> on chain with the label: compare it with the announcement
    </>
  );
  return name === undefined ? (
    <span className="note">{id}</span>
  ) : (
    <>
      <UnknownText text={name} /> <span className="note">so called here, which proves nothing; {id}</span>
    </>
  );
}

/** How the result came about, for whoever has never heard of it. */
function HowPart({
  shared: { outcome, preset, params, title },
  usesHttp,
}: {
  readonly shared: SharedResult;
  readonly usesHttp: boolean;
}) {
  const isRandom = "randomNumber" in outcome;
  const isPreset = preset !== undefined;
  const beacon = "beacon" in outcome ? outcome.beacon : undefined;
  const hasList = Object.values(params ?? {}).some((value) => Array.isArray(value));
  const fixed = isPreset
    ? `${hasList ? "The list, all other inputs" : "All inputs"} and the program`
    : "The program and its inputs";
  return (
    <section className="panel on-screen" id="how">
      <h2>How it came about</h2>
      <ol>
        <li>
          {isRandom
            ? "The request was written to the chain, which fixed what its numbers are computed from."
            : `${fixed} were written to the chain, where nobody can change them any more.`}
        </li>
        {isRandom && (
          <li>
            The oracle computed the numbers from it with its secret key, and proved that they are the only
            ones that belong to this request (VRF). The chain has checked the proof.
          </li>
        )}
        {isPreset && (
          <li>
            Then a random number followed, with a proof that it is the one that belongs to this request (VRF),
            which the chain has checked.
          </li>
        )}
        {beacon !== undefined && (
          <li>
            It also depends on {nameBeacon(beacon)}, which{" "}
            {beacon.isLocal === true
              ? "this service signed itself"
              : isQuicknet(beacon.chainHash)
                ? "independent organisations published"
                : "the operator published"}{" "}
            after the inputs were fixed.
          </li>
        )}
        {!isRandom && (
          <li>
            The nodes of the oracle ran the program
            {isPreset && title !== undefined && (
              <>
                {" "}
                (<Link href={`/presets/${preset}`}>{plainText(title)}</Link>)
              </>
            )}
            {usesHttp && ", each with HTTP requests of its own,"} and signed{" "}
            {!outcome.success
              ? isDisagreement(errorOf(outcome))
                ? "that their outcomes differed"
                : "the error that it ended with"
              : usesHttp
                ? describeAgreement(outcome.result)
                : "what it returned"}
            .{isPreset && " Anybody can run it again."}
          </li>
        )}
      </ol>
    </section>
  );
}

/** Says what nodes sign whose answers may differ: only of numbers there is a median. */
function describeAgreement(result: string): string {
  const shared = "the answer that most of them agreed on";
  return isWordLong(result) ? `${shared}, or else the median of their numbers` : shared;
}

/** A parameter's value; a long list is folded, as it may have thousands of entries. */
function Given({
  label,
  value,
  id,
  drawn,
  isWhole,
}: {
  readonly label: string;
  readonly value: unknown;
  /** Id of the list, if it is one. */
  readonly id: string | undefined;
  readonly drawn: ReadonlySet<string> | undefined;
  /** Whether a long list is open, too. */
  readonly isWhole: boolean;
}) {
  if (!Array.isArray(value)) return <UnknownText text={valueText(value)} />;
  return (
    <Folded summary={countEntries(value)} isOpen={isWhole || !isLongList(value)}>
      <EntryList
        entries={value.map(valueText)}
        id={id}
        label={plainText(label)}
        // Of a list that is only shuffled, everything is.
        drawn={drawn !== undefined && drawn.size < value.length ? drawn : undefined}
      />
    </Folded>
  );
}
