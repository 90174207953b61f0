import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import type { SharedResult } from "../../../../client/index.ts";
import { Loaded, Page } from "../../page.tsx";
import { CheckPart } from "../../parts/checkPart.tsx";
import { Age, Code, Copyable, PartyLink, Time, TransactionLink } from "../../parts/format.tsx";
import { Facts, Folded, plainText, UnknownText } from "../../parts/parts.tsx";
import { Beacon, transactionsOf } from "../../parts/requestParts.tsx";
import { useExplorer, useTitleOf } from "../../services.tsx";
import { OutcomePart } from "./outcome.tsx";

/** `/r/{id}`: a result for everyone, which reveals nothing of the dapp that is not on chain. */
export function Shared() {
  const { id } = useParams<{ readonly id: string }>();
  const explorer = useExplorer();
  const query = useQuery({ queryKey: ["shared", id], queryFn: () => explorer.shared(id), staleTime: 60_000 });
  return <Loaded query={query}>{(shared) => <SharedParts shared={shared} />}</Loaded>;
}

function SharedParts({ shared }: { readonly shared: SharedResult }) {
  const { outcome, network, updatedAt, params, dappId } = shared;
  const titleOf = useTitleOf();
  const title = titleOfResult(shared);
  const links = transactionsOf(outcome);
  return (
    <Page title={plainText(title)}>
      <h1>
        <UnknownText text={title} /> on {titleOf(network)}
      </h1>
      <section className="panel" aria-label="Result">
        <OutcomePart outcome={outcome} {...(shared.shown === undefined ? {} : { shown: shared.shown })} />
        <Facts
          entries={[
            ...Object.entries(params ?? {}).map(
              ([name, value]) => [<UnknownText text={name} />, <Given value={value} />] as const,
            ),
            ["Label", outcome.label !== undefined && <UnknownText text={JSON.stringify(outcome.label)} />],
            ["Drawn for", dappId !== undefined && <Code text={dappId} />],
            [
              "Beacon",
              "beacon" in outcome && outcome.beacon !== undefined && <Beacon beacon={outcome.beacon} />,
            ],
            ["Delivered", <Delivery network={network} hash={links[0]!.hash} />],
            ...links.map(
              ({ name, hash }) =>
                [
                  name,
                  <TransactionLink network={network} hash={hash}>
                    <Code text={hash} />
                  </TransactionLink>,
                ] as const,
            ),
            [
              "Stored",
              <>
                <Time iso={updatedAt} /> (<Age iso={updatedAt} />)
              </>,
            ],
          ]}
        />
        <Folded summary="Bytes and ids on chain">
          <Facts
            entries={[
              ["Result", "result" in outcome && <Copyable text={outcome.result} what="result" />],
              ["Request", <Copyable text={outcome.requestId} what="request" />],
            ]}
          />
        </Folded>
      </section>
      <CheckPart network={network} hash={links[0]!.hash} />
    </Page>
  );
}

/** A parameter's value; of a list, each entry. */
function Given({ value }: { readonly value: unknown }) {
  return <UnknownText text={JSON.stringify(value)} />;
}

/** When the transaction with a result was mined, by its block, and who signed it. */
function Delivery({ network, hash }: { readonly network: string; readonly hash: string }) {
  const explorer = useExplorer();
  const { data, error } = useQuery({
    queryKey: ["transaction", network, hash],
    queryFn: () => explorer.transaction(network, hash),
    staleTime: 60_000,
  });
  if (data === undefined) return <>{error === null ? "…" : "see the transaction"}</>;
  return (
    <>
      {data.block !== null && <Time iso={data.block.at} />} by{" "}
      <PartyLink network={network} party={data.from} />
    </>
  );
}

function titleOfResult({ preset, outcome }: SharedResult): string {
  const what = preset ?? ("randomNumber" in outcome ? "Random numbers" : "Function");
  return outcome.label === undefined ? what : `${what}: ${outcome.label}`;
}
