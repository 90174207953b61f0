import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, useEffect, useRef, type FormEvent } from "react";
import { useParams, useSearchParams } from "wouter";
import type { UsageDay, UsageReport } from "../../../../client/index.ts";
import { DAY_MS } from "../../../../lib/time.ts";
import { BarChart } from "../../parts/barChart.tsx";
import { useSymbolOf } from "../../parts/coin.tsx";
import { count, groupDigits, units } from "../../parts/format.tsx";
import {
  describeError,
  problemsOf,
  focusFirstProblem,
  problemAttributes,
  Select,
} from "../../parts/forms.tsx";
import { List } from "../../parts/list.tsx";
import { Facts, Notice, UnknownText } from "../../parts/parts.tsx";
import { saveCsv } from "../../parts/saveCsv.ts";
import { useClient, useTitleOf, useNetworks } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { sumCoinCharged } from "./coinCharged.ts";

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();

/** `/dapps/{dappId}/usage`: a dapp's usage by day and network, as a chart, a table and CSV. */
export function Usage() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="usage">
      {() => <UsageParts dappId={dappId} />}
    </DappFrame>
  );
}

function UsageParts({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const [search, setSearch] = useSearchParams();
  const asked: AskedUsage = Object.fromEntries(
    USAGE_FIELDS.flatMap((name) => {
      const value = search.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );
  const query = useQuery({
    queryKey: ["usage", dappId, asked],
    queryFn: () => client.usage(asked),
    placeholderData: keepPreviousData,
  });
  const isRefused = query.error !== null && query.data === undefined;
  const fallback = useQuery({
    queryKey: ["usage", dappId, {}],
    queryFn: () => client.usage(),
    enabled: isRefused,
  });
  const report = isRefused ? fallback.data : query.data;
  const [failure, setFailure] = useState<string>();
  const download = async ({ from, to }: UsageReport): Promise<void> => {
    setFailure(undefined);
    try {
      const range = { ...(!isRefused && asked), from, to };
      saveCsv(await client.usageCsv(range), `usage-${from}-${to}.csv`);
    } catch (error) {
      setFailure(describeError(error));
    }
  };
  const found = problemsOf(query.error);
  const problems = USAGE_FIELDS.some((name) => found.has(name)) ? found : NO_PROBLEMS;
  const shown = failure ?? (isRefused && problems.size === 0 ? describeError(query.error) : undefined);
  return (
    <>
      {shown !== undefined && (
        <Notice kind="bad">
          <UnknownText text={shown} />
        </Notice>
      )}
      {report === undefined ? (
        (!isRefused || fallback.isPending) && <p className="note loading">Loading…</p>
      ) : (
        <>
          <UsageForm
            report={report}
            asked={asked}
            problems={problems}
            onChange={(next) => {
              setFailure(undefined);
              setSearch(next);
            }}
          />
          <section className="panel" aria-label="Requests a day">
            <UsageChart report={report} />
            <Totals report={report} />
            <p>
              <button type="button" disabled={query.isPlaceholderData} onClick={() => void download(report)}>
                Download as CSV
              </button>
            </p>
          </section>
          <section className="panel">
            <h2>By day and network</h2>
            <UsageTable items={report.items} />
            <p className="note">
              Days are in UTC. A request counts on the day it was accepted; its cost is added once it has
              ended. Gas is that of the service’s own transactions. Requests that your own contracts make on
              chain are not counted, but what they spend is part of what the subscriptions were topped up
              with.
            </p>
          </section>
        </>
      )}
    </>
  );
}

/** Draws the requests of each day as a bar. */
function UsageChart({ report: { from, to, items } }: { readonly report: UsageReport }) {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const bars = Array.from({ length: days }, (_, i) => {
    const day = new Date(Date.parse(from) + i * DAY_MS).toISOString().slice(0, 10);
    const ofDay = items.filter((one) => one.day === day);
    const requests = ofDay.reduce((sum, one) => sum + requestsOf(one), 0);
    const failed = ofDay.reduce((sum, one) => sum + one.failed, 0);
    return {
      name: day.slice(5),
      title: `${day}: ${count(requests, "request")}, ${failed} failed`,
      requests,
      failed,
    };
  });
  const most = Math.max(...bars.map(({ requests }) => requests));
  const total = bars.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <BarChart bars={bars} label={`${count(total, "request")} from ${from} to ${to}, at most ${most} a day`} />
  );
}

/** Sums requests of all kinds. */
function requestsOf({ requests }: UsageDay): number {
  return Object.values(requests).reduce((sum, value) => sum + value, 0);
}

/** Counts the requests that have not ended. */
function openOf(day: UsageDay): number {
  return requestsOf(day) - day.fulfilled - day.failed;
}

function Totals({ report: { items } }: { readonly report: UsageReport }) {
  const titleOf = useTitleOf();
  const symbolOf = useSymbolOf();
  const coins = [...sumCoinCharged(items)].map(
    ([network, wei]) => `${units(String(wei), symbolOf(network))} on ${titleOf(network)}`,
  );
  const sum = (of: (day: UsageDay) => number | string): string =>
    groupDigits(String(items.reduce((total, day) => total + BigInt(of(day)), 0n)));
  return (
    <Facts
      entries={[
        [
          "Requests",
          `${sum(requestsOf)}: ${sum((day) => day.fulfilled)} fulfilled, ${sum((day) => day.failed)} failed, ${sum(openOf)} in progress`,
        ],
        ["Random words", sum((day) => day.words)],
        [
          "Dry runs",
          `${sum((day) => day.dryRuns)}, and ${count(
            items.reduce((total, day) => total + day.refused, 0),
            "refused call",
          )}`,
        ],
        ["Gas", sum((day) => day.gasUsed)],
        [
          "LINK charged",
          units(String(items.reduce((total, day) => total + BigInt(day.linkJuels), 0n)), "LINK"),
        ],
        coins.length > 0 && ["Coin charged", coins.join(", ")],
        [
          "LINK topped up",
          units(String(items.reduce((total, day) => total + BigInt(day.toppedUpJuels), 0n)), "LINK"),
        ],
      ]}
    />
  );
}

/** What is counted, by the head of its column. */
const COUNTS: readonly (readonly [head: string, count: (day: UsageDay) => number | string])[] = [
  ["Presets", ({ requests }) => requests.preset],
  ["Functions", ({ requests }) => requests.function],
  ["Random", ({ requests }) => requests.random],
  ["Links", ({ requests }) => requests.consumer + requests.unlink],
  ["Fulfilled", ({ fulfilled }) => fulfilled],
  ["Failed", ({ failed }) => failed],
  ["Refused", ({ refused }) => refused],
  ["Dry runs", ({ dryRuns }) => dryRuns],
  ["Words", ({ words }) => words],
  ["Gas", ({ gasUsed }) => gasUsed],
];

function UsageTable({ items }: { readonly items: readonly UsageDay[] }) {
  const titleOf = useTitleOf();
  const symbolOf = useSymbolOf();
  if (items.length === 0) return <p className="note">No usage in this period.</p>;
  return (
    <List
      label="Usage by day and network"
      isDense
      items={items.toReversed()}
      keyOf={({ day, network }) => `${day} ${network}`}
      columns={[
        { head: "Day", cell: ({ day }) => <time dateTime={day}>{day}</time> },
        {
          head: "Network",
          kind: "name",
          isPlain: true,
          cell: ({ network }) => (network === null ? <span className="note">any</span> : titleOf(network)),
        },
        ...COUNTS.map(([head, countOf]) => ({
          head,
          kind: "number" as const,
          cell: (day: UsageDay) => groupDigits(countOf(day)),
        })),
        {
          head: "Charged",
          kind: "number",
          cell: (day) => amountsOf(day.linkJuels, day.coinWei, symbolOf(day.network ?? "")),
        },
        {
          head: "Topped up",
          kind: "number",
          cell: (day) => amountsOf(day.toppedUpJuels, day.toppedUpWei, symbolOf(day.network ?? "")),
        },
      ]}
    />
  );
}

function amountsOf(juels: string, wei: string, symbol: string): string {
  const amounts = [
    ...(juels === "0" && wei !== "0" ? [] : [units(juels, "LINK")]),
    ...(wei === "0" ? [] : [units(wei, symbol)]),
  ];
  return amounts.join(" and ");
}

/** The requested range and network; for absent members the service's defaults apply. */
type AskedUsage = Partial<Record<(typeof USAGE_FIELDS)[number], string>>;

/** Names of the form's fields, which are also the call's parameters. */
const USAGE_FIELDS = ["from", "to", "network"] as const;

/** A form for the days and the network of a report, with the problems of the last submission. */
function UsageForm({
  report,
  asked,
  problems,
  onChange,
}: {
  readonly report: UsageReport;
  readonly asked: AskedUsage;
  /** By field. */
  readonly problems: ReadonlyMap<string, string>;
  readonly onChange: (asked: AskedUsage) => void;
}) {
  const networks = useNetworks().data ?? [];
  const shown = {
    from: asked.from !== undefined && isDay(asked.from) ? asked.from : report.from,
    to: asked.to !== undefined && isDay(asked.to) ? asked.to : report.to,
    network: asked.network ?? "",
  };
  // What was typed only applies to the range it was typed over; another address shows its own range.
  const basis = Object.values(shown).join(" ");
  const [typed, setTyped] = useState<{ readonly basis: string; readonly values: AskedUsage }>();
  const values = { ...shown, ...(typed?.basis === basis && typed.values) };
  const type = (name: keyof AskedUsage, value: string): void =>
    setTyped({ basis, values: { ...values, [name]: value } });

  const form = useRef<HTMLFormElement>(null);
  const wasSent = useRef(false);
  useEffect(() => {
    if (!wasSent.current || problems.size === 0 || form.current === null) return;
    wasSent.current = false;
    focusFirstProblem(form.current);
  });
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    wasSent.current = true;
    setTyped(undefined);
    onChange(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")));
  };

  const problemOf = (name: keyof AskedUsage) =>
    problems.has(name) && (
      <span className="problem" id={`${name}-problem`}>
        {" "}
        <UnknownText text={problems.get(name)!} />
      </span>
    );
  const day = (name: "from" | "to", label: string) => (
    <span>
      <label htmlFor={name}>{label}</label>{" "}
      <input
        type="date"
        id={name}
        name={name}
        value={values[name]}
        onChange={(event) => type(name, event.currentTarget.value)}
        {...problemAttributes(name, problems.get(name))}
      />
      {problemOf(name)}
    </span>
  );
  return (
    <form className="filter" ref={form} onSubmit={send}>
      {day("from", "From")}
      {day("to", "To")}
      <span>
        <label htmlFor="network">Network</label>{" "}
        <Select
          id="network"
          value={values.network}
          options={[["", "any"], ...networks.map(({ name, title }) => [name, title] as const)]}
          onChange={(value) => type("network", value)}
        />
        {problemOf("network")}
      </span>
      <button>Show</button>
    </form>
  );
}

/**
 * Whether a text is a day that a field of type `date` accepts; the browser drops any other value with a
 * warning.
 */
function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text;
}
