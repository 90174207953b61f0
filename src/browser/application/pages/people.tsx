import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { AuditEntry, SessionView } from "../../../client/index.ts";
import { Link } from "wouter";
import { announce } from "../announce.ts";
import { Loaded, Page, Refusal } from "../page.tsx";
import { Age, Code, Time } from "../parts/format.tsx";
import { ConfirmButton } from "../parts/forms.tsx";
import { List } from "../parts/list.tsx";
import { Tag, UnknownText } from "../parts/parts.tsx";
import { useMe, useOperator } from "../services.tsx";

/** `/sessions`: the browsers in which people are signed in. */
export function Sessions() {
  const operator = useOperator();
  const isOperator = useMe()?.isOperator === true;
  const queries = useQueryClient();
  const query = useQuery({ queryKey: ["sessions"], queryFn: () => operator.sessions() });
  return (
    <Page title="Sessions" trail={[{ href: "/", text: "Home" }]}>
      <h1>Sessions</h1>
      {isOperator && (
        <p>
          <Link href="/audit">Audit log</Link> of the whole service
        </p>
      )}
      <p className="lead">Browsers signed in with a passkey. Each ends 30 days after its last use.</p>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p className="note">None.</p>
          ) : (
            <List<SessionView>
              label="Sessions"
              items={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  head: "Person",
                  kind: "name",
                  cell: ({ name, isCurrent }) => (
                    <>
                      <UnknownText text={name} /> {isCurrent && <Tag kind="quiet">this browser</Tag>}
                    </>
                  ),
                },
                { head: "Browser", kind: "long", cell: ({ browser }) => <UnknownText text={browser} /> },
                { head: "Signed in", cell: ({ createdAt }) => <Age iso={createdAt} /> },
                { head: "Last used", cell: ({ lastUsedAt }) => <Age iso={lastUsedAt} /> },
                {
                  head: "End",
                  hasHiddenHead: true,
                  cell: ({ id }) => (
                    <ConfirmButton
                      question="End this session?"
                      detail="The browser is signed out at once."
                      confirm="End it"
                      onConfirm={async () => {
                        await operator.endSession(id);
                        await queries.invalidateQueries({ queryKey: ["sessions"] });
                        announce("The session is ended.");
                      }}
                    >
                      End
                    </ConfirmButton>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

/** `/audit`: who changed what in the whole service. */
export function Audit() {
  return (
    <Page title="Audit log" trail={[{ href: "/", text: "Home" }]}>
      <h1>Audit log</h1>
      <AuditList />
    </Page>
  );
}

/** Who changed what, in a dapp or in the whole service, newest first. */
export function AuditList({ dappId }: { readonly dappId?: string }) {
  const operator = useOperator();
  const query = useInfiniteQuery({
    queryKey: ["audit", dappId],
    queryFn: ({ pageParam }) => operator.audit({ dappId, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  if (query.data === undefined)
    return query.error === null ? <p className="note loading">Loading…</p> : <Refusal error={query.error} />;
  return (
    <>
      <List<AuditEntry>
        label="Audit log"
        items={query.data.pages.flatMap(({ items }) => items)}
        keyOf={({ id }) => id}
        columns={[
          { head: "When", cell: ({ at }) => <Time iso={at} /> },
          {
            head: "Who",
            kind: "long",
            cell: ({ actor, actorName }) =>
              actorName === "" ? <Code text={actor} /> : <UnknownText text={actorName} />,
          },
          { head: "What", cell: ({ action }) => <code>{action}</code> },
          {
            head: "To",
            kind: "long",
            cell: ({ subject, dappId: dapp }) => <Code text={subject ?? dapp ?? "—"} />,
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
