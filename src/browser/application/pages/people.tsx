import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { PasskeyView, PersonView, SessionView } from "../../../client/index.ts";
import { useState } from "react";
import { Link } from "wouter";
import { plainText } from "../../../lib/hiddenCharacters.ts";
import { announce } from "../announce.ts";
import { Loaded, Page } from "../page.tsx";
import { describeBrowser } from "../parts/describeBrowser.ts";
import { Age } from "../parts/format.tsx";
import { ConfirmButton } from "../parts/forms.tsx";
import { ForOperators } from "../parts/forRole.tsx";
import { List, type Column } from "../parts/list.tsx";
import { Notice, Tag, UnknownText } from "../parts/parts.tsx";
import { useMe, useOperator } from "../services.tsx";
import { addPasskey } from "../session.ts";
import { describePasskey } from "./signIn.tsx";

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
          <Link href="/people">People</Link> and <Link href="/audit">audit log</Link> of the whole service
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

/** `/people`: everybody who signs in to the service. */
export function AllPeople() {
  return (
    <Page title="People" trail={[{ href: "/", text: "Home" }]}>
      <h1>People</h1>
      <ForOperators>
        <PeopleList />
      </ForOperators>
    </Page>
  );
}

function PeopleList() {
  const operator = useOperator();
  const me = useMe();
  const queries = useQueryClient();
  const query = useQuery({ queryKey: ["people"], queryFn: () => operator.people() });
  const dapps = useQuery({ queryKey: ["dapps"], queryFn: () => operator.dapps() });
  // The audit log too.
  const refresh = () => queries.invalidateQueries();
  return (
    <>
      <p className="lead">Whoever has accepted an invitation. Owners invite to a dapp, on its tab People.</p>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p className="note">Nobody yet.</p>
          ) : (
            <List<PersonView>
              label="People"
              items={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  head: "Name",
                  kind: "name",
                  cell: ({ name, isOperator }) => (
                    <>
                      <UnknownText text={name} /> {isOperator && <Tag kind="quiet">operator</Tag>}
                    </>
                  ),
                },
                {
                  head: "Roles",
                  kind: "long",
                  cell: ({ memberships }) =>
                    memberships.map(({ dappId, role }, i) => (
                      <span key={dappId}>
                        {i > 0 && ", "}
                        <Link href={`/dapps/${dappId}/people`}>
                          <UnknownText text={dapps.data?.find(({ id }) => id === dappId)?.name || dappId} />
                        </Link>{" "}
                        ({role})
                      </span>
                    )),
                },
                { head: "Since", cell: ({ createdAt }) => <Age iso={createdAt} /> },
                {
                  head: "Change",
                  hasHiddenHead: true,
                  cell: (person) =>
                    me?.id !== person.id && <PersonButtons person={person} refresh={refresh} />,
                },
              ]}
            />
          )
        }
      </Loaded>
    </>
  );
}

function PersonButtons({
  person: { id, name, isOperator },
  refresh,
}: {
  readonly person: PersonView;
  readonly refresh: () => Promise<void>;
}) {
  const operator = useOperator();
  return (
    <div className="buttons">
      <ConfirmButton
        question={isOperator ? "Take back the operator’s rights?" : "Make this person an operator?"}
        detail={
          isOperator
            ? `${plainText(name)} keeps the roles in dapps.`
            : `${plainText(name)} may then do everything in every dapp, as whoever has the operator token.`
        }
        confirm={isOperator ? "Take them back" : "Make an operator"}
        className={isOperator ? "danger" : "action"}
        onConfirm={async () => {
          await operator.setOperator(id, !isOperator);
          await refresh();
          announce(isOperator ? "They are no longer an operator." : "They are an operator now.");
        }}
      >
        {isOperator ? "Take back operator" : "Make operator"}
      </ConfirmButton>
      <ConfirmButton
        question="Remove this person?"
        detail={`Passkeys, sessions and roles of ${plainText(name)} are deleted. API keys that they know go on working: revoke those, too.`}
        confirm="Remove"
        onConfirm={async () => {
          await operator.removePerson(id);
          await refresh();
          announce("The person is removed.");
        }}
      >
        Remove
      </ConfirmButton>
    </div>
  );
}
