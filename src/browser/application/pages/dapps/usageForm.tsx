import { useEffect, useRef, useState, type FormEvent } from "react";
import type { UsageReport } from "../../../../client/index.ts";
import { focusFirstProblem, problemAttributes, Select } from "../../parts/forms.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { useNetworks } from "../../services.tsx";

/** The requested range and network; for absent members the service's defaults apply. */
export type AskedUsage = Partial<Record<(typeof USAGE_FIELDS)[number], string>>;

/** Names of the form's fields, which are also the call's parameters. */
export const USAGE_FIELDS = ["from", "to", "network"] as const;

/** A form for the days and the network of a report, with the problems of the last submission. */
export function UsageForm({
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
