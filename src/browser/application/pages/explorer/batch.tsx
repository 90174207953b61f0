import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import type { RequestSummary } from "../../../../client/index.ts";
import { FindField, isFoundBy } from "../../parts/findField.tsx";
import { count, TransactionLink } from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { Facts, type Fact, ResultText, UnknownText } from "../../parts/parts.tsx";
import { Answer, listed, type ListedRequest, ORGANISER, whatOf } from "../../parts/requestList.tsx";

/** Rows that are listed at first: a batch may have a hundred. */
const MAX_ROWS = 40;
/** Shorter lists need no field to search them. */
const SEARCHED_FROM = 6;
/** With more different results, they are not counted one by one. */
const MAX_TALLIED = 6;

/** A request of a batch, whoever made it. */
export interface BatchRow extends Pick<ListedRequest, "requestId" | "name" | "answer" | "dappId"> {
  /** Its newest transaction. Default: that of the page. */
  readonly transactionHash?: string | undefined;
  /** What is asked for. */
  readonly title: string;
  /** Its page; absent for what this service did not request. */
  readonly href?: string;
  /** Renders what the chain has of it. Default: nothing. */
  readonly details?: (() => ReactNode) | undefined;
}

/** Returns the row of one of the service's own requests. */
export function rowOf(request: RequestSummary): BatchRow {
  const { transactionHash } = request;
  return { ...listed(request), title: whatOf(request), transactionHash };
}

/** The requests of a transaction or block: how they ended, and each with its result; what the chain has of a single one stands elsewhere. */
export function Batch({
  rows,
  network,
}: {
  readonly rows: readonly BatchRow[];
  /** Whose block it is. Default: they are of one transaction, whose page this is. */
  readonly network?: string;
}) {
  const [wanted, setWanted] = useState("");
  const [isWhole, setWhole] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const found = rows
    .map((row, i) => ({ ...row, place: i + 1 }))
    .filter(({ name, answer }) => [name, answer?.text ?? "waiting"].some(isFoundBy(wanted)));
  const shown = isWhole || wanted.trim() !== "" ? found : found.slice(0, MAX_ROWS);
  const toggle = (id: string): void => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  const hasDetails = rows.length > 1 && rows.some(({ details }) => details !== undefined);
  return (
    <section className="panel" id="requests">
      {rows.length === 1 ? (
        <h2>Request</h2>
      ) : (
        <>
          <h2>
            Requests <span className="count">{rows.length}</span>
          </h2>
          <Facts entries={totalsOf(rows)} />
        </>
      )}
      {rows.length >= SEARCHED_FROM && (
        <FindField
          label="Requests"
          placeholder="Name, label or result"
          wanted={wanted}
          onWanted={setWanted}
          found={found.length}
          all={rows.length}
        />
      )}
      <List
        label="Requests"
        isCompact
        items={shown}
        keyOf={({ requestId }) => requestId}
        columns={[
          {
            head: "Request",
            kind: "long",
            cell: ({ href, name, place }) => (
              <>
                {rows.length > 1 && <span className="index">{place}</span>}{" "}
                {href === undefined ? (
                  <UnknownText text={name} />
                ) : (
                  <Link href={href}>
                    <UnknownText text={name} />
                  </Link>
                )}
              </>
            ),
          },
          { head: "Result", kind: "long", isPlain: true, cell: ({ answer }) => <Answer answer={answer} /> },
          ...(network === undefined
            ? []
            : [
                {
                  head: "Transaction",
                  cell: ({ transactionHash }: BatchRow) =>
                    transactionHash !== undefined && (
                      <TransactionLink network={network} hash={transactionHash} />
                    ),
                },
              ]),
          ...(rows.some(({ dappId }) => dappId !== undefined) && !hasOneOrganiser(rows) ? [ORGANISER] : []),
          ...(hasDetails
            ? [
                {
                  head: "Details",
                  hasHiddenHead: true,
                  cell: ({ requestId, name, details }: BatchRow) =>
                    details !== undefined && (
                      <button
                        type="button"
                        className="copy"
                        aria-expanded={open.has(requestId)}
                        onClick={() => toggle(requestId)}
                      >
                        {open.has(requestId) ? "Hide" : "Details"}
                        <span className="visually-hidden">
                          {open.has(requestId) && " details"} of {name}
                        </span>
                      </button>
                    ),
                },
              ]
            : []),
        ]}
        detailOf={({ requestId, details }) => (open.has(requestId) ? details?.() : undefined)}
      />
      {found.length === 0 && (
        <p className="note">
          None of the {rows.length} requests has <UnknownText text={JSON.stringify(wanted.trim())} /> in its
          name, label or result.
        </p>
      )}
      {shown.length < found.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {found.length}
        </button>
      )}
    </section>
  );
}

/** Says how many succeeded, and of what was asked for how often which result came. */
function totalsOf(rows: readonly BatchRow[]): Fact[] {
  const failed = rows.filter(({ answer }) => answer?.isError === true).length;
  const waiting = rows.filter(({ answer }) => answer === undefined).length;
  const byTitle = [...Map.groupBy(rows, ({ title }) => title)];
  return [
    ["Succeeded", `${rows.length - failed - waiting} of ${rows.length}`],
    ["Failed", failed > 0 && String(failed)],
    ["Waiting", waiting > 0 && String(waiting)],
    [ORGANISER.head, hasOneOrganiser(rows) && ORGANISER.cell(rows[0]!)],
    ...byTitle.map(([title, own]): Fact => {
      const results = own.flatMap(({ answer }) => (answer?.isError === false ? [answer.text] : []));
      const tally = tallyOf(results);
      const counted = (
        <span className="named">
          {tally?.map(([text, { length }]) => (
            <span key={text}>
              <b>
                <ResultText text={text} />
              </b>
              : {length}
            </span>
          ))}
        </span>
      );
      const each = tally === undefined ? count(own.length, "request") : counted;
      return (tally !== undefined || byTitle.length > 1) && [<UnknownText text={title} />, each];
    }),
  ];
}

/** Groups results that are the same, in their order; `undefined` if they are too different to count. */
export function tallyOf(
  results: readonly string[],
): readonly (readonly [string, readonly string[]])[] | undefined {
  const tally = [...Map.groupBy(results, (text) => text)];
  if (tally.length > MAX_TALLIED || tally.length >= results.length) return undefined;
  return tally.toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
}

/** Whether the same organiser gave all of several a label: then it is named once, above them. */
function hasOneOrganiser([first, ...others]: readonly BatchRow[]): boolean {
  return (
    first?.dappId !== undefined && others.length > 0 && others.every(({ dappId }) => dappId === first.dappId)
  );
}
