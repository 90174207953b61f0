import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import type { PresetProblem } from "../../../../client/index.ts";
import { Loaded, Page } from "../../page.tsx";
import { List } from "../../parts/list.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { useMe, useOperator } from "../../services.tsx";

const REFRESH_MS = 2_000;

/** `/presets`: the installed presets, and those that are not served, with the reason. */
export function PresetList() {
  const operator = useOperator();
  const [search] = useSearchParams();
  const dapp = search.get("dapp");
  const query = dapp === null ? "" : `?dapp=${encodeURIComponent(dapp)}`;
  const presets = useQuery({
    queryKey: ["presets"],
    queryFn: () => operator.presets(),
    refetchInterval: REFRESH_MS,
  });
  const isOperator = useMe()?.isOperator === true;
  const problems = useQuery({
    enabled: isOperator,
    queryKey: ["presetProblems"],
    queryFn: () => operator.presetProblems(),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Presets">
      <h1>Presets</h1>
      <p className="lead">One call draws a random word and feeds it to a function, both on chain.</p>
      <Loaded query={presets}>
        {(list) => (
          <ul className="cards">
            {list.map(({ name, title, description }) => (
              <li key={name} className="panel">
                <h2>
                  <Link href={`/presets/${encodeURIComponent(name)}${query}`}>
                    <UnknownText text={title} />
                  </Link>
                </h2>
                <p>
                  <code>
                    <UnknownText text={name} />
                  </code>
                </p>
                <p className="note">
                  <UnknownText text={description} />
                </p>
              </li>
            ))}
            <li className="panel">
              <h2>
                <Link href={`/random${query}`}>Random numbers</Link>
              </h2>
              <p>
                <code>random</code>
              </p>
              <p className="note">The words themselves: 256 bits each, with their VRF proof.</p>
            </li>
          </ul>
        )}
      </Loaded>
      {problems.data !== undefined && problems.data.length > 0 && <Broken problems={problems.data} />}
    </Page>
  );
}

/** Presets that are not served, each with every reason and its position. */
function Broken({ problems }: { readonly problems: readonly PresetProblem[] }) {
  return (
    <section className="panel" id="broken">
      <h2>Not served</h2>
      <p className="note">Fix the files: the service reloads a preset as soon as one of its files changes.</p>
      <List
        label="Presets that are not served"
        items={problems}
        keyOf={(_, i) => i}
        columns={[
          { head: "Preset", cell: ({ preset }) => <UnknownText text={preset} /> },
          {
            head: "File and line",
            kind: "long",
            cell: (problem) => (
              <code className="hex">
                <UnknownText text={placeOf(problem)} />
              </code>
            ),
          },
          { head: "Reason", kind: "long", cell: ({ reason }) => <UnknownText text={reason} /> },
        ]}
      />
    </section>
  );
}

function placeOf({ file, line, column }: PresetProblem): string {
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}
