import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import type { SharedResult } from "../../../../client/index.ts";
import { countEntries, describeShared } from "../../../../lib/sharedWords.ts";
import { Loaded, Page } from "../../page.tsx";
import { CheckPart } from "../../parts/checkPart.tsx";
import { EntryList } from "../../parts/entryList.tsx";
import { Code, Copyable, PartyLink, Time, TransactionLink } from "../../parts/format.tsx";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { Facts, Folded, UnknownText, type Fact } from "../../parts/parts.tsx";
import { QrCode } from "../../parts/qrCode.tsx";
import { Beacon, transactionsOf } from "../../parts/requestParts.tsx";
import { useExplorer, useNetworks } from "../../services.tsx";
import { OutcomePart } from "./outcome.tsx";
import { VerdictPart } from "./verdictPart.tsx";

/** `/r/{id}`: a result as a certificate for everyone, which reveals nothing of the dapp that is not on chain. */
export function Shared() {
  const { id } = useParams<{ readonly id: string }>();
  const explorer = useExplorer();
  const query = useQuery({ queryKey: ["shared", id], queryFn: () => explorer.shared(id), staleTime: 60_000 });
  return <Loaded query={query}>{(shared) => <Certificate shared={shared} />}</Loaded>;
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
      <section className="panel certificate" aria-label="Result">
        <div>
          <OutcomePart outcome={outcome} {...(shared.shown === undefined ? {} : { shown: shared.shown })} />
        </div>
        <QrCode address={address} label="QR code of this page's address" />
      </section>
      {known !== undefined && (
        <VerdictPart id={shared.id} known={known} hash={hash} requestId={outcome.requestId} />
      )}
      <section className="panel" aria-label="About">
        <Facts
          entries={[
            ["Label", outcome.label !== undefined && <UnknownText text={outcome.label} />],
            ...Object.entries(params).map(([name, value]): Fact => [
              <UnknownText text={parameterTitles[name] ?? name} />,
              <Given label={parameterTitles[name] ?? name} value={value} drawn={drawn} />,
            ]),
            [
              "Organiser",
              dappId !== undefined && (
                <>
                  <Code text={dappId} />: the id of their application, which is on chain with the label
                </>
              ),
            ],
            [
              "Round of drand",
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
        {!isRandom && <li>{fixed} were written to the chain, where nobody can change them any more.</li>}
        {(isRandom || isPreset) && (
          <li>
            {isRandom ? "Random numbers" : "Then a random number"} followed, with a proof that it is the one
            that belongs to this request (VRF), which the chain has checked.
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
            {title !== undefined && (
              <>
                (<Link href={`/presets/${preset}`}>{plainText(title)}</Link>){" "}
              </>
            )}
            and signed what it returned.{isPreset && " Anybody can run it again."}
          </li>
        )}
      </ol>
    </section>
  );
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
  const textOf = (one: unknown): string => (typeof one === "string" ? one : JSON.stringify(one));
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
