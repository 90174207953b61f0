import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import type { SharedResult } from "../../../../client/index.ts";
import { Loaded, Page } from "../../page.tsx";
import { CheckPart } from "../../parts/checkPart.tsx";
import { Age, Copyable, Time, TransactionLink, Code } from "../../parts/format.tsx";
import { Facts, Folded, plainText, UnknownText } from "../../parts/parts.tsx";
import { transactionsOf } from "../../parts/requestParts.tsx";
import { useExplorer, useTitleOf } from "../../services.tsx";
import { OutcomePart } from "./outcome.tsx";

/** `/r/{id}`: a result for everyone, which reveals nothing else of the dapp. */
export function Shared() {
  const { id } = useParams<{ readonly id: string }>();
  const explorer = useExplorer();
  const query = useQuery({ queryKey: ["shared", id], queryFn: () => explorer.shared(id), staleTime: 60_000 });
  return <Loaded query={query}>{(shared) => <SharedParts shared={shared} />}</Loaded>;
}

function SharedParts({ shared }: { readonly shared: SharedResult }) {
  const { outcome, network, updatedAt } = shared;
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
              "Date",
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

function titleOfResult({ preset, outcome }: SharedResult): string {
  const what = preset ?? ("randomNumber" in outcome ? "Random numbers" : "Function");
  return outcome.label === undefined ? what : `${what}: ${outcome.label}`;
}
