import type { EventView, TransactionView } from "../../../../client/index.ts";
import { Code, PartyLink } from "../../parts/format.tsx";
import { Folded, RawBytes } from "../../parts/parts.tsx";
import { type KnownResults, ValueTable } from "../../parts/values.tsx";

/** Consecutive events of the same kind are folded, if they are more. */
const MAX_ALIKE = 3;

/** The events of a transaction. */
export function Events({ transaction }: { readonly transaction: TransactionView }) {
  const { network, events, moreEvents = 0 } = transaction;
  const results = resultsOf(transaction);
  const runs: [EventView, ...EventView[]][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last !== undefined && kindOf(last[0]) === kindOf(event)) last.push(event);
    else runs.push([event]);
  }
  return (
    <section className="panel" id="events">
      <h2>
        Events <span className="count">{events.length + moreEvents}</span>
      </h2>
      {events.length === 0 && <p className="note">This transaction emitted no events.</p>}
      {runs.map((run) => {
        const [{ logIndex, event, contract }] = run;
        const parts = run.map((one) => (
          <EventPart key={one.logIndex} event={one} {...{ network, results }} />
        ));
        if (run.length <= MAX_ALIKE) return parts;
        return (
          <Folded
            key={logIndex}
            summary={
              <>
                <span className="index">{logIndex}</span> <b>{event ?? "Unknown event"}</b> × {run.length}{" "}
                <span className="note">{contract.name ?? contract.address}</span>
              </>
            }
          >
            {parts}
          </Folded>
        );
      })}
      {moreEvents > 0 && <p className="note">{moreEvents} more are not listed.</p>}
    </section>
  );
}

/** Returns results in one line as their requests' types, by request id: those of presets, and of this service's own requests. */
export function resultsOf({ presets, requests = [] }: TransactionView): ReadonlyMap<string, string> {
  return new Map([
    ...presets.flatMap(({ requestId, answer }) =>
      answer?.result === undefined ? [] : [[requestId, answer.result] as const],
    ),
    ...requests.flatMap(({ requestId, result, success }) =>
      result === undefined || success === false ? [] : [[requestId, result] as const],
    ),
  ]);
}

function kindOf({ contract, event, topics }: EventView): string {
  return `${contract.address} ${event ?? topics[0]}`;
}

/** An event, folded to its name. */
function EventPart({
  event: { logIndex, contract, event, fields, topics, data },
  network,
  results,
}: Pick<KnownResults, "results"> & {
  readonly event: EventView;
  readonly network: string;
}) {
  const raw = <RawEvent topics={topics} data={data} />;
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
            <ValueTable values={fields} {...{ network, results }} />
            <Folded summary="Topics and data">{raw}</Folded>
          </>
        )}
      </div>
    </Folded>
  );
}

/** The topics and data of an event, as they are on chain. */
export function RawEvent({ topics, data }: Pick<EventView, "topics" | "data">) {
  return (
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
}
