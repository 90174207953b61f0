import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useParams } from "wouter";
import type { SharedRequest, SharedResult } from "../../../../client/index.ts";
import { countEntries, describeShared, nameKind } from "../../../../lib/sharedWords.ts";
import { namePlaces } from "../../../../lib/entryLists.ts";
import { announce } from "../../announce.ts";
import { Loaded, Page, sentence } from "../../page.tsx";
import { Arguments } from "../../parts/arguments.tsx";
import { CheckPart } from "../../parts/checkPart.tsx";
import { EntryList } from "../../parts/entryList.tsx";
import { Code, Copyable, PartyLink, Time, TransactionLink } from "../../parts/format.tsx";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { Facts, Folded, UnknownText, Why, type Fact } from "../../parts/parts.tsx";
import { QrCode } from "../../parts/qrCode.tsx";
import { Beacon, transactionsOf } from "../../parts/requestParts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useExplorer, useNetworks, useTitleOf } from "../../services.tsx";
import { OutcomePart } from "./outcome.tsx";
import { VerdictPart } from "./verdictPart.tsx";

/** How often a request without a result is read again. */
const WAITING_MS = 2_000;

/** `/r/{id}`: a result as a certificate for everyone, which reveals nothing of the dapp that is not on chain. */
export function Shared() {
  const { id } = useParams<{ readonly id: string }>();
  const explorer = useExplorer();
  const query = useQuery({
    queryKey: ["shared", id],
    queryFn: () => explorer.shared(id),
    refetchInterval: refetchUnlessRefused<SharedResult | SharedRequest>((data) =>
      data === undefined || isWaitingRequest(data) ? WAITING_MS : false,
    ),
  });
  const { data } = query;
  const [hasWaited, setWaited] = useState(false);
  const isWaiting = data !== undefined && isWaitingRequest(data);
  useEffect(() => {
    if (isWaiting) setWaited(true);
    else if (hasWaited && data !== undefined)
      announce("outcome" in data ? "The result is there" : sentence(data.why));
  }, [isWaiting, hasWaited]);
  return (
    <Loaded query={query}>
      {(shared) =>
        "outcome" in shared ? <Certificate shared={shared} /> : <WithoutResult request={shared} />
      }
    </Loaded>
  );
}

function isWaitingRequest(shared: SharedResult | SharedRequest): boolean {
  return "state" in shared && shared.state === "waiting";
}

/** What an audience sees before a draw, or of a request that failed without a result. */
function WithoutResult({ request }: { readonly request: SharedRequest }) {
  const { id, state, why, beacon, kind, network, title, label, dappId } = request;
  const titleOf = useTitleOf();
  const what =
    kind === undefined ? "A request" : nameKind({ kind, ...(title === undefined ? {} : { title }) });
  const heading = label ?? what;
  return (
    <Page title={plainText(heading)}>
      <h1>
        <UnknownText text={heading} />
      </h1>
      {network !== undefined && (
        <p className="lead">
          {label !== undefined && (
            <>
              <UnknownText text={what} />,{" "}
            </>
          )}
          on {titleOf(network)}
        </p>
      )}
      <div className="panel certificate">
        <section aria-label="Result">
          {state === "failed" ? (
            <>
              <p className="big-result bad-text">{sentence(why)}</p>
              <p>
                {kind === undefined
                  ? "The chain has not taken it, so there is nothing to verify, and no result will follow."
                  : "It is on chain, but was not answered. No result will follow."}
              </p>
            </>
          ) : (
            <>
              <p className="big-result">Waiting</p>
              <p>
                <Why text={sentence(why)} />
              </p>
              <p className="note">The result will appear here by itself.</p>
            </>
          )}
        </section>
        <QrCode address={`${location.origin}/r/${id}`} />
      </div>
      {(dappId ?? beacon) !== undefined && (
        <section className="panel" aria-label="About">
          <Facts
            entries={[
              ["Organiser", dappId !== undefined && <Organiser dappId={dappId} />],
              ["Beacon", beacon !== undefined && <Beacon beacon={beacon} />],
            ]}
          />
        </section>
      )}
    </Page>
  );
}

function Organiser({ dappId }: { readonly dappId: string }) {
  return (
    <>
      <Code text={dappId} />: the id of their application, which is on chain with the label
    </>
  );
}

function Certificate({ shared }: { readonly shared: SharedResult }) {
  const { outcome, network, updatedAt, params = {}, parameterTitles = {}, dappId } = shared;
  const explorer = useExplorer();
  const { data: networks } = useNetworks();
  const { heading, subject } = describeShared(shared);
  const links = transactionsOf(outcome);
  const [{ hash }] = links as [(typeof links)[number]];
  const { data: mined } = useQuery({
    queryKey: ["transaction", network, hash],
    queryFn: () => explorer.transaction(network, hash),
    staleTime: 60_000,
  });
  const known = networks?.find(({ name }) => name === network);
  const address = `${location.origin}/r/${shared.id}`;
  const drawn = shared.shown?.as === "list" ? new Set(shared.shown.entries) : undefined;
  const [list, ...otherLists] = Object.values(params).filter((value) => Array.isArray(value));
  const places =
    drawn !== undefined && list !== undefined && otherLists.length === 0 && drawn.size < list.length
      ? namePlaces(list.map(textOf))
      : undefined;
  const program = [...(mined?.functionResults ?? []), ...(mined?.functionRequests ?? [])].find(
    ({ requestId }) => requestId === outcome.requestId,
  )?.program;
  return (
    <Page title={plainText(heading)}>
      <h1>
        <UnknownText text={heading} />
      </h1>
      <p className="lead">
        {subject.length > 0 && (
          <>
            <UnknownText text={subject.join(": ")} />,{" "}
          </>
        )}
        on {known?.title ?? network}
        {known?.embedded === false && " (public chain)"}
        {mined?.block && (
          <>
            , <Time iso={mined.block.at} />
          </>
        )}
      </p>
      <div className="panel certificate">
        <section aria-label="Result">
          <OutcomePart
            outcome={outcome}
            places={places}
            {...(shared.shown === undefined ? {} : { shown: shared.shown })}
          />
        </section>
        {known !== undefined && (
          <VerdictPart id={shared.id} known={known} hash={hash} requestId={outcome.requestId} />
        )}
        <QrCode address={address} />
      </div>
      <section className="panel" aria-label="About">
        <Facts
          entries={[
            ["Label", outcome.label !== undefined && <UnknownText text={outcome.label} />],
            ["Arguments", program && program.args.length > 0 && <Arguments args={program.args} />],
            ...Object.entries(params).map(([name, value]): Fact => [
              <UnknownText text={parameterTitles[name] ?? name} />,
              <Given label={parameterTitles[name] ?? name} value={value} drawn={drawn} />,
            ]),
            ["Organiser", dappId !== undefined && <Organiser dappId={dappId} />],
            [
              "Beacon",
              "beacon" in outcome && outcome.beacon !== undefined && <Beacon beacon={outcome.beacon} />,
            ],
            ...links.map((link): Fact => [
              link.name,
              <TransactionLink network={network} hash={link.hash}>
                <Code text={link.hash} />
              </TransactionLink>,
            ]),
            ["Delivered by", mined && <PartyLink network={network} party={mined.from} />],
          ]}
        />
        <Folded summary="Ids and bytes">
          <Facts
            entries={[
              ["Request on chain", <Copyable text={outcome.requestId} what="request" />],
              ["Result", "result" in outcome && <Copyable text={outcome.result} what="result" />],
              ["Stored here", <Time iso={updatedAt} />],
            ]}
          />
        </Folded>
        <p className="on-screen">
          <button type="button" onClick={() => print()}>
            Print
          </button>
        </p>
      </section>
      <HowPart shared={shared} />
      <CheckPart network={network} hash={hash} label={outcome.label} dappId={dappId} />
      <p className="on-paper">
        Drawn with Tyche. This result: {address}. To verify it without this service, open {location.origin}
        /verifier.html or a copy of it, and enter the transaction's hash and the address of any node of the
        chain.
      </p>
    </Page>
  );
}

/** How the result came about, for whoever has never heard of it. */
function HowPart({ shared: { outcome, preset, params, title } }: { readonly shared: SharedResult }) {
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
        {beacon !== undefined && beacon.isLocal !== true && (
          <li>
            It also depends on a round of drand, which independent organisations published after the inputs
            were fixed.
          </li>
        )}
        {!isRandom && (
          <li>
            The nodes of the oracle ran the program{" "}
            {isPreset && title !== undefined && (
              <>
                (<Link href={`/presets/${preset}`}>{plainText(title)}</Link>){" "}
              </>
            )}
            and signed {outcome.success ? "what it returned" : "the error that it ended with"}.
            {isPreset && " Anybody can run it again."}
          </li>
        )}
      </ol>
    </section>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A parameter's value; a list is folded, as it may have thousands of entries. */
function Given({
  label,
  value,
  drawn,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly drawn: ReadonlySet<string> | undefined;
}) {
  if (!Array.isArray(value)) return <UnknownText text={textOf(value)} />;
  return (
    <Folded summary={countEntries(value)}>
      <EntryList
        entries={value.map(textOf)}
        label={plainText(label)}
        // Of a list that is only shuffled, everything is.
        drawn={drawn !== undefined && drawn.size < value.length ? drawn : undefined}
      />
    </Folded>
  );
}
