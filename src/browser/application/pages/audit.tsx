import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { AuditEntry, AuditPage } from "../../../client/index.ts";

import { writeCsv } from "../../../lib/csv.ts";
import { AUDIT_TEXT } from "../../../domain/operations.ts";
import { Page, Refusal } from "../page.tsx";
import { describeChange, nameActor } from "../parts/auditText.ts";
import { Code, Time } from "../parts/format.tsx";
import { describeError } from "../parts/forms.tsx";
import { ForOperators } from "../parts/forRole.tsx";
import { List } from "../parts/list.tsx";
import { Notice, UnknownText, Why } from "../parts/parts.tsx";
import { saveCsv } from "../parts/saveCsv.ts";
import { refetchUnlessRefused } from "../refetch.ts";
import { useOperator } from "../services.tsx";

/** Other people and programs make changes too. */
const REFRESH_MS = 5_000;

/** `/audit`: who changed what in the whole service. */
export function Audit() {
  return (
    <Page title="Audit log" trail={[{ href: "/", text: "Home" }]}>
      <h1>Audit log</h1>
      <ForOperators>
        <AuditList />
      </ForOperators>
    </Page>
  );
}

/** What was changed by the name that it had then, or else a dapp or an API key by the name of now; anything else by its id. */
function Named({
  id,
  dappId,
  then = null,
}: {
  readonly id: string;
  readonly dappId: string | null;
  readonly then?: string | null;
}) {
  const operator = useOperator();
  const dapps = useQuery({
    queryKey: ["dapps"],
    queryFn: () => operator.dapps(),
    enabled: then === null && /^(?:dapp|key)_/.test(id),
  });
  const keys = useQuery({
    queryKey: ["keys", dappId],
    queryFn: () => operator.keys(dappId!),
    enabled: then === null && id.startsWith("key_") && dapps.data?.some((one) => one.id === dappId) === true,
  });
  const name = then ?? [...(dapps.data ?? []), ...(keys.data ?? [])].find((one) => one.id === id)?.name ?? "";
  return name === "" ? (
    <Code text={id} />
  ) : (
    <b title={id}>
      {id.startsWith("wh_") && dappId !== null ? (
        // Several may be on one host.
        <Link href={`/dapps/${dappId}/webhooks/${id}`}>
          <UnknownText text={name} />
        </Link>
      ) : (
        <UnknownText text={name} />
      )}
    </b>
  );
}

/** Selects what of the audit log is shown, and saves it. */
function AuditTools({
  action,
  onAction,
  read,
}: {
  readonly action: string | undefined;
  readonly onAction: (action: string | undefined) => void;
  readonly read: (page: {
    readonly action: string | undefined;
    readonly cursor: string | undefined;
    readonly limit: number;
  }) => Promise<AuditPage>;
}) {
  const [problem, setProblem] = useState<string>();
  const save = async (): Promise<void> => {
    setProblem(undefined);
    try {
      const entries: AuditEntry[] = [];
      let cursor: string | undefined;
      do {
        const page = await read({ action, cursor, limit: 100 });
        entries.push(...page.items);
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      saveCsv(writeAuditCsv(entries), `audit-${new Date().toISOString().slice(0, 10)}.csv`);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  return (
    <div className="buttons">
      <select
        aria-label="Show"
        value={action ?? ""}
        onChange={({ target }) => onAction(target.value || undefined)}
      >
        <option value="">everything</option>
        {[...AUDIT_TEXT].map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      <button type="button" onClick={() => void save()}>
        Download as CSV
      </button>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
    </div>
  );
}

function writeAuditCsv(entries: readonly AuditEntry[]): string {
  return writeCsv([
    ["at", "actor", "actorName", "action", "dappId", "subject", "subjectName", "changes"],
    ...entries.map((one) => [
      one.at,
      one.actor,
      nameActor(one),
      one.action,
      one.dappId,
      one.subject,
      one.subjectName,
      one.changes.map(describeChange).join(", "),
    ]),
  ]);
}

/** Who changed what, in a dapp or in the whole service, newest first. */
export function AuditList({ dappId }: { readonly dappId?: string }) {
  const operator = useOperator();
  const [action, setAction] = useState<string>();
  const query = useInfiniteQuery({
    queryKey: ["audit", dappId, action],
    queryFn: ({ pageParam }) => operator.audit({ dappId, action, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    // The choice of what is shown stays in place while that is read.
    placeholderData: keepPreviousData,
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  if (query.data === undefined)
    return query.error === null ? <p className="note loading">Loading…</p> : <Refusal error={query.error} />;
  const entries = query.data.pages.flatMap(({ items }) => items);
  if (entries.length === 0 && action === undefined)
    return (
      <p className="note">
        Nothing has been changed yet. Who creates, reveals, changes or deletes something is named here, with
        the time.
      </p>
    );
  return (
    <>
      <AuditTools action={action} onAction={setAction} read={(page) => operator.audit({ dappId, ...page })} />
      <List<AuditEntry>
        label="Audit log"
        items={entries}
        keyOf={({ id }) => id}
        columns={[
          { head: "When", cell: ({ at }) => <Time iso={at} /> },
          {
            head: "Who",
            kind: "long",
            cell: ({ actor, actorName, dappId: dapp }) =>
              actor.startsWith("key_") ? (
                <>
                  API key <Named id={actor} dappId={dapp} then={actorName || null} />
                </>
              ) : nameActor({ actor, actorName }) === "" ? (
                <Code text={actor} />
              ) : (
                <span title={actor}>
                  <UnknownText text={nameActor({ actor, actorName })} />
                </span>
              ),
          },
          {
            head: "What",
            kind: "long",
            cell: ({ action, subject, subjectName, dappId: dapp, changes }) => (
              <>
                {AUDIT_TEXT.get(action) ?? action}{" "}
                {(subject ?? subjectName) !== null && (
                  <Named id={subject ?? dapp ?? ""} dappId={dapp} then={subjectName} />
                )}
                {dapp !== null && ![dappId, subject].includes(dapp) && action !== "deleteDapp" && (
                  <>
                    {" "}
                    in the dapp <Named id={dapp} dappId={dapp} />
                  </>
                )}
                {changes.length > 0 && <Why text={` (${changes.map(describeChange).join(", ")})`} />}
              </>
            ),
          },
        ]}
      />
      {query.hasNextPage && (
        <p>
          <button type="button" disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
            Older
          </button>
        </p>
      )}
    </>
  );
}
