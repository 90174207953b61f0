import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { useParams, useSearchParams } from "wouter";
import type { UsageDay, UsageReport } from "../../../../client/index.ts";
import { BarChart } from "../../parts/barChart.tsx";
import { coin, count, groupDigits, units } from "../../parts/format.tsx";
import { describeError, readField } from "../../parts/forms.tsx";
import { Facts, Notice, Scrollable, UnknownText } from "../../parts/parts.tsx";
import { useClient, useNetworks } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";

const DAY_MS = 86_400_000;

/** `/dapps/{dappId}/usage`: what a dapp has used by day and network, as a chart, a table and CSV. */
export function Usage() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="usage">
      {() => <UsageParts dappId={dappId} />}
    </DappFrame>
  );
}

type Asked = Partial<Record<"from" | "to" | "network", string>>;

function UsageParts({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const [search, setSearch] = useSearchParams();
  const asked: Asked = Object.fromEntries(
    ["from", "to", "network"].flatMap((name) => {
      const value = search.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );
  const query = useQuery({
    queryKey: ["usage", dappId, asked],
    queryFn: () => client.usage(asked),
    placeholderData: keepPreviousData,
  });
  const fallback = useQuery({
    queryKey: ["usage", dappId, {}],
    queryFn: () => client.usage(),
    enabled: query.error !== null,
  });
  const report = query.error === null ? query.data : fallback.data;
  const [problem, setProblem] = useState<string>();
  const download = async (): Promise<void> => {
    try {
      saveFile(await client.usageCsv(asked), `usage-${report!.from}-${report!.to}.csv`);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const shown = problem ?? (query.error === null ? undefined : describeError(query.error));
  return (
    <>
      {shown !== undefined && (
        <Notice kind="bad">
          <UnknownText text={shown} />
        </Notice>
      )}
      {report === undefined ? (
        query.error === null && <p className="note loading">Loading…</p>
      ) : (
        <>
          <RangeForm
            key={`${report.from} ${report.to}`}
            report={report}
            network={asked.network ?? ""}
            onChange={(next) => {
              setProblem(undefined);
              setSearch(next);
            }}
          />
          <section className="panel" aria-label="Requests a day">
            <UsageChart report={report} />
            <Totals report={report} />
            <p>
              <button type="button" onClick={() => void download()}>
                Download as CSV
              </button>
            </p>
          </section>
          <section className="panel">
            <h2>By day and network</h2>
            <UsageTable items={report.items} />
            <p className="note">
              Days are in UTC; a request counts on the day on which it was accepted, and what it cost once it
              has ended. Gas is that of the service’s own transactions. What your own contracts request on
              chain is not counted here.
            </p>
          </section>
        </>
      )}
    </>
  );
}

function saveFile(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}

function RangeForm({
  report: { from, to },
  network,
  onChange,
}: {
  readonly report: UsageReport;
  readonly network: string;
  readonly onChange: (asked: Record<string, string>) => void;
}) {
  const networks = useNetworks().data ?? [];
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    onChange(Object.fromEntries(["from", "to", "network"].map((name) => [name, readField(fields, name)])));
  };
  const day = (name: string, label: string, value: string) => (
    <span>
      <label htmlFor={name}>{label}</label> <input type="date" id={name} name={name} defaultValue={value} />
    </span>
  );
  return (
    <form className="filter" onSubmit={send}>
      {day("from", "From", from)}
      {day("to", "To", to)}
      <span>
        <label htmlFor="network">Network</label>{" "}
        <select id="network" name="network" defaultValue={network}>
          <option value="">any</option>
          {networks.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </span>
      <button>Show</button>
    </form>
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
    return { title: `${day}: ${count(requests, "request")}, ${failed} failed`, requests, failed };
  });
  const most = Math.max(1, ...bars.map(({ requests }) => requests));
  const total = bars.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <>
      <BarChart
        bars={bars}
        label={`${count(total, "request")} from ${from} to ${to}, at most ${most} a day`}
      />
      <p className="chart-axis note">
        <span>{from}</span>
        <span>at most {count(most, "request")} a day</span>
        <span>{to}</span>
      </p>
    </>
  );
}

/** Requests of all kinds. */
function requestsOf({ requests }: UsageDay): number {
  return Object.values(requests).reduce((sum, value) => sum + value, 0);
}

function Totals({ report: { items } }: { readonly report: UsageReport }) {
  const sum = (of: (day: UsageDay) => number | string): string =>
    groupDigits(String(items.reduce((total, day) => total + BigInt(of(day)), 0n)));
  return (
    <Facts
      entries={[
        [
          "Requests",
          `${sum(requestsOf)}: ${sum((day) => day.fulfilled)} fulfilled, ${sum((day) => day.failed)} failed`,
        ],
        ["Random words", sum((day) => day.words)],
        ["Dry runs", `${sum((day) => day.dryRuns)}, and ${sum((day) => day.refused)} refused calls`],
        ["Gas", sum((day) => day.gasUsed)],
        [
          "LINK charged",
          units(String(items.reduce((total, day) => total + BigInt(day.linkJuels), 0n)), "LINK"),
        ],
      ]}
    />
  );
}

const HEADS = "Presets,Functions,Random,Links,Fulfilled,Failed,Refused,Dry runs,Words,Gas,Charged".split(",");

function UsageTable({ items }: { readonly items: readonly UsageDay[] }) {
  if (items.length === 0) return <p className="note">Nothing in these days.</p>;
  return (
    <Scrollable label="Usage by day and network">
      <table className="list">
        <thead>
          <tr>
            <th>Day</th>
            <th>Network</th>
            {HEADS.map((head) => (
              <th key={head} className="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.toReversed().map((day) => (
            <tr key={`${day.day} ${day.network}`}>
              <td>{day.day}</td>
              <td>{day.network ?? <span className="note">any</span>}</td>
              {cellsOf(day).map((cell, i) => (
                <td key={i} className="number">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function cellsOf(day: UsageDay): readonly string[] {
  const { requests, network, linkJuels, coinWei } = day;
  const counts = [
    requests.preset,
    requests.function,
    requests.random,
    requests.consumer + requests.unlink,
    day.fulfilled,
    day.failed,
    day.refused,
    day.dryRuns,
    day.words,
    day.gasUsed,
  ];
  const charged = [
    ...(linkJuels === "0" && coinWei !== "0" ? [] : [units(linkJuels, "LINK")]),
    ...(coinWei === "0" ? [] : [coin(coinWei, network ?? "")]),
  ];
  return [...counts.map((value) => groupDigits(value)), charged.join(" and ")];
}
