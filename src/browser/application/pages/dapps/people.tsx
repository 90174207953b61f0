import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "wouter";
import type { InvitationView, MemberView, NewInvitation, RoleName } from "../../../../client/index.ts";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { ROLES } from "../../../../domain/vocabulary.ts";
import { announce } from "../../announce.ts";
import { Loaded, sentence } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Age, Code, CopyButton, Time } from "../../parts/format.tsx";
import {
  ConfirmButton,
  ConfirmDialog,
  Field,
  readField,
  TextField,
  useSubmission,
} from "../../parts/forms.tsx";
import { List } from "../../parts/list.tsx";
import { Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { aRole, ROLE_TEXT } from "../../parts/roleText.ts";
import { AuditList } from "../audit.tsx";
import { useMay, useMe, useOperator } from "../../services.tsx";

/** `/dapps/{dappId}/people`: who has a role in a dapp, and who is invited. */
export function People() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  const may = useMay(dappId);
  return (
    <DappFrame dappId={dappId} tab="people">
      {() => (
        <>
          <Members dappId={dappId} />
          {may("listInvitations") === true && <Invitations dappId={dappId} />}
          {may("listAudit") === true && (
            <section className="panel" id="audit">
              <h2>Audit log</h2>
              <AuditList dappId={dappId} />
            </section>
          )}
        </>
      )}
    </DappFrame>
  );
}

function Members({ dappId }: { readonly dappId: string }) {
  const operator = useOperator();
  const may = useMay(dappId);
  const me = useMe();
  const queries = useQueryClient();
  const [change, setChange] = useState<MemberView>();
  const [isAsking, setAsking] = useState(false);
  const query = useQuery({ queryKey: ["members", dappId], queryFn: () => operator.members(dappId) });
  // The audit log too.
  const refresh = () => queries.invalidateQueries();
  return (
    <section className="panel" id="members">
      <h2>Members</h2>
      <p className="note">{ROLES.map((role) => sentence(`${aRole(role)} ${ROLE_TEXT[role]}`)).join(" ")}</p>
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={setAsking}
        question={change === undefined ? "" : `Make ${plainText(change.name)} ${aRole(change.role)}?`}
        detail={change && sentence(`${aRole(change.role)} ${ROLE_TEXT[change.role]}`)}
        confirm="Change the role"
        className="action"
        onConfirm={async () => {
          await operator.changeMember(dappId, change!.personId, change!.role);
          await refresh();
          announce("The role is changed.");
        }}
      />
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p className="note">Nobody yet: only the operator uses this dapp.</p>
          ) : (
            <List<MemberView>
              label="Members"
              items={items}
              keyOf={({ personId }) => personId}
              columns={[
                {
                  head: "Name",
                  kind: "name",
                  cell: ({ personId, name }) => (
                    <>
                      <UnknownText text={name} /> {personId === me?.id && <Tag kind="quiet">you</Tag>}
                    </>
                  ),
                },
                {
                  head: "Role",
                  cell: (member) =>
                    may("changeMember") === true ? (
                      <select
                        aria-label={`Role of ${member.name}`}
                        value={member.role}
                        onChange={({ target }) => {
                          setChange({ ...member, role: target.value as RoleName });
                          setAsking(true);
                        }}
                      >
                        {ROLES.map((one) => (
                          <option key={one}>{one}</option>
                        ))}
                      </select>
                    ) : (
                      member.role
                    ),
                },
                { head: "Since", cell: ({ createdAt }) => <Age iso={createdAt} /> },
                {
                  head: "Remove",
                  hasHiddenHead: true,
                  cell: ({ personId, name }) =>
                    may("removeMember") === true && (
                      <ConfirmButton
                        question="Remove this member?"
                        detail={`${name} has no access from then on. API keys that they know go on working: revoke those, too.`}
                        confirm="Remove"
                        onConfirm={async () => {
                          await operator.removeMember(dappId, personId);
                          await refresh();
                          announce("The member is removed.");
                        }}
                      >
                        Remove
                      </ConfirmButton>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}

function Invitations({ dappId }: { readonly dappId: string }) {
  const operator = useOperator();
  const queries = useQueryClient();
  const [made, setMade] = useState<NewInvitation>();
  const query = useQuery({ queryKey: ["invitations", dappId], queryFn: () => operator.invitations(dappId) });
  const refresh = () => queries.invalidateQueries();
  const { problems, refusal, isBusy, onSubmit } = useSubmission(["name"], async (values, form) => {
    const name = readField(values, "name").trim();
    setMade(await operator.invite(dappId, readField(values, "role") as RoleName, { name }));
    // The next one is for somebody else.
    form.reset();
    await refresh();
  });
  return (
    <section className="panel" id="invitations">
      <h2>Invitations</h2>
      {made !== undefined && (
        <Notice>
          The first who opens this link and accepts, within seven days, becomes {aRole(made.role)}
          {made.name !== "" && (
            <>
              : send it to <UnknownText text={made.name} /> alone
            </>
          )}
          . It is not shown again:{" "}
          <span className="copyable">
            <Code text={made.link} />
            <CopyButton key={made.id} text={made.link} what="link" autoFocus />
          </span>
        </Notice>
      )}
      <Loaded query={query}>
        {(items) =>
          items.length > 0 && (
            <List<InvitationView>
              label="Open invitations"
              items={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  head: "For",
                  kind: "name",
                  cell: ({ name }) => name !== "" && <UnknownText text={name} />,
                },
                { head: "Role", cell: ({ role }) => role },
                { head: "Created", cell: ({ createdAt }) => <Age iso={createdAt} /> },
                { head: "Expires", cell: ({ expiresAt }) => <Time iso={expiresAt} /> },
                {
                  head: "Revoke",
                  hasHiddenHead: true,
                  cell: ({ id }) => (
                    <ConfirmButton
                      question="Revoke this invitation?"
                      detail="Its link no longer works."
                      confirm="Revoke it"
                      onConfirm={async () => {
                        await operator.revokeInvitation(dappId, id);
                        if (made?.id === id) setMade(undefined);
                        await refresh();
                        announce("The invitation is revoked.");
                      }}
                    >
                      Revoke
                    </ConfirmButton>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <form className="fields" onSubmit={onSubmit}>
        <Field id="role" label="Role" problem={refusal}>
          {(control) => (
            <select {...control} name="role" defaultValue="developer">
              {ROLES.map((role) => (
                <option key={role}>{role}</option>
              ))}
            </select>
          )}
        </Field>
        <TextField
          id="name"
          label="For whom"
          problem={problems.get("name")}
          note="The owners see it here and in the audit log. May be empty."
          name="name"
          maxLength={60}
          autoComplete="off"
        />
        <div>
          <button disabled={isBusy}>Create a link</button>
        </div>
      </form>
    </section>
  );
}
