import { Fragment } from "react";
import type { RequestState, RequestView, StateChange } from "../../../../client/index.ts";
import { Age, TransactionLink } from "../../parts/format.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { stepsAhead } from "./steps.ts";
import { isEnded } from "../../../../domain/vocabulary.ts";

/** What happens in a state, for readers who see the word for the first time. */
const MEANINGS: Readonly<Record<RequestState, string>> = {
  checking: "the source is run once",
  received: "stored",
  submitted: "its transaction is sent",
  randomness: "the VRF proof is on chain",
  executing: "the oracle's nodes run the function",
  fulfilled: "the result is on chain",
  failed: "ended without a result",
};

/** A request's progress: the steps it has passed, the current one, and those ahead. */
export function Timeline({ request }: { readonly request: RequestView }) {
  const { timeline } = request;
  return (
    <ol className="timeline">
      {timeline.map((entry, i) => (
        <PastStep
          key={entry.seq}
          entry={entry}
          before={timeline[i - 1]}
          network={request.network}
          isCurrent={i === timeline.length - 1 && !isEnded(request.state)}
        />
      ))}
      {stepsAhead(request).map((step) => (
        <li key={step} className="ahead">
          <b>{step}</b> <span className="note">{MEANINGS[step]}</span>
        </li>
      ))}
    </ol>
  );
}

function PastStep({
  entry: { state, at, transactionHash, detail },
  before,
  network,
  isCurrent,
}: {
  readonly entry: StateChange;
  readonly before: StateChange | undefined;
  readonly network: string;
  readonly isCurrent: boolean;
}) {
  return (
    <li className={isCurrent ? `${state} current` : state} aria-current={isCurrent ? "step" : undefined}>
      <b>{state}</b>{" "}
      <span className="note">
        {MEANINGS[state]};{" "}
        {before === undefined ? (
          <Age iso={at} />
        ) : (
          <time dateTime={at} title={at}>
            {Date.parse(at) - Date.parse(before.at)} ms later
          </time>
        )}
      </span>
      {transactionHash !== undefined && (
        <Fragment>
          <br />
          <TransactionLink network={network} hash={transactionHash} />
        </Fragment>
      )}
      {detail !== undefined && (
        <Fragment>
          <br />
          <span className="note">
            <UnknownText text={detail} />
          </span>
        </Fragment>
      )}
    </li>
  );
}
