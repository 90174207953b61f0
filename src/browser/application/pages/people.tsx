import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { AuditEntry, PasskeyView, SessionView } from "../../../client/index.ts";
import { useState } from "react";
import { Link } from "wouter";
import { plainText } from "../../../lib/hiddenCharacters.ts";
import { announce } from "../announce.ts";
import { Loaded, Page, Refusal } from "../page.tsx";
import { AUDIT_WORDS, describeChange } from "../parts/auditWords.ts";
import { describeBrowser } from "../parts/describeBrowser.ts";
import { Age, Code, Time } from "../parts/format.tsx";
import { ConfirmButton } from "../parts/forms.tsx";
import { List, type Column } from "../parts/list.tsx";
import { Notice, Tag, UnknownText } from "../parts/parts.tsx";
import { refetchUnlessRefused } from "../refetch.ts";
import { useMe, useOperator } from "../services.tsx";
import { addPasskey } from "../session.ts";
import { describePasskey } from "./signIn.tsx";

/** Other people and programs make changes too. */
const REFRESH_MS = 5_000;

/** `/sessions`: the browsers in which people are signed in. */
export function Sessions() {
  const operator = useOperator();
  const me = useMe();
  const queries = useQueryClient();
  const query = useQuery({ queryKey: ["sessions"], queryFn: () => operator.sessions() });
  return (
    <Page title="Sessions" trail={[{ href: "/", text: "Home" }]}>
      <h1>Sessions</h1>
      {me?.isOperator === true && (
        <p>
          <Link href="/audit">Audit log</Link> of the whole service
        </p>
      )}
      <p className="lead">Browsers signed in with a passkey. Each ends 30 days after its last use.</p>
      {me?.id === null && (
        <p className="note">
          The operator token, with which you are signed in, isn't listed: end this session with “Sign out”.
        </p>
      )}
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
                { head: "Browser", kind: "long", cell: ({ browser }) => <BrowserName userAgent={browser} /> },
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
      <Passkeys />
    </Page>
  );
}

function BrowserName({ userAgent }: { readonly userAgent: string }) {
  return (
    <span title={plainText(userAgent)}>
      <UnknownText text={describeBrowser(userAgent)} />
    </span>
  );
}

/** What a person signs in with: a second one, so that a lost device doesn't end the account. */
function Passkeys() {
  const operator = useOperator();
  const me = useMe();
  const queries = useQueryClient();
  const [problem, setProblem] = useState<string>();
  if (me === undefined || me.id === null) return null;
  const add = async (): Promise<void> => {
    const wrong = await addPasskey().then(() => undefined, describePasskey);
    setProblem(wrong);
    if (wrong !== undefined) return;
    await queries.invalidateQueries({ queryKey: ["me"] });
    announce("The passkey is added.");
  };
  const remove: Column<PasskeyView> = {
    head: "Remove",
    hasHiddenHead: true,
    cell: ({ id }) => (
      <ConfirmButton
        question="Remove this passkey?"
        detail="It no longer signs you in, and your other browsers are signed out at once."
        confirm="Remove it"
        onConfirm={async () => {
          await operator.removePasskey(id);
          await queries.invalidateQueries();
          announce("The passkey is removed.");
        }}
      >
        Remove
      </ConfirmButton>
    ),
  };
  return (
    <section id="passkeys">
      <h2>Passkeys</h2>
      <p className="note">Add one on another device, so that you can sign in when you lose this one.</p>
      <List<PasskeyView>
        label="Passkeys"
        items={me.passkeys}
        keyOf={({ id }) => id}
        columns={[
          {
            head: "Made in",
            kind: "long",
            cell: ({ browser }) => <BrowserName userAgent={browser || "—"} />,
          },
          { head: "Made", cell: ({ createdAt }) => <Age iso={createdAt} /> },
          // The last one stays.
          ...(me.passkeys.length > 1 ? [remove] : []),
        ]}
      />
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <button type="button" onClick={() => void add()}>
        Add a passkey
      </button>
    </section>
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
      <UnknownText text={name} />
    </b>
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
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  if (query.data === undefined)
    return query.error === null ? <p className="note loading">Loading…</p> : <Refusal error={query.error} />;
  const entries = query.data.pages.flatMap(({ items }) => items);
  if (entries.length === 0)
    return (
      <p className="note">
        Nothing has been changed yet. Who creates, reveals, changes or deletes something is named here, with
        the time.
      </p>
    );
  return (
    <>
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
              ) : actorName !== "" ? (
                <UnknownText text={actorName} />
              ) : actor === "operator" ? (
                "Operator token"
              ) : actor.startsWith("session_") ? (
                <span title={actor}>Operator</span>
              ) : (
                <Code text={actor} />
              ),
          },
          {
            head: "What",
            kind: "long",
            cell: ({ action, subject, subjectName, dappId: dapp, changes }) => (
              <>
                {AUDIT_WORDS[action] ?? action}{" "}
                {(subject ?? subjectName) !== null && (
                  <Named id={subject ?? dapp ?? ""} dappId={dapp} then={subjectName} />
                )}
                {dapp !== null && ![dappId, subject].includes(dapp) && action !== "deleteDapp" && (
                  <>
                    {" "}
                    in the dapp <Named id={dapp} dappId={dapp} />
                  </>
                )}
                {changes.length > 0 && <UnknownText text={` (${changes.map(describeChange).join(", ")})`} />}
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
