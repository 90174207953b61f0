import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import type { DappView, Facility } from "../../../client/index.ts";
import { Loaded } from "../page.tsx";
import type { MemberOperation } from "../../../domain/operations.ts";
import { isAllowed, useMeQuery, useOperator } from "../services.tsx";
import { Field, Select } from "./forms.tsx";
import { plainText } from "../../../lib/hiddenCharacters.ts";

/** Renders something for the dapps that have a facility and that who is signed in may use so; says so if there is none. */
export function WithDapps({
  facility,
  operation,
  otherwise,
  children,
}: {
  readonly facility: Facility;
  readonly operation: MemberOperation;
  /** In place of it, where others use those dapps. */
  readonly otherwise: (having: readonly DappView[]) => ReactNode;
  readonly children: (dapps: readonly DappView[], wanted: string) => ReactNode;
}) {
  const operator = useOperator();
  const signedIn = useMeQuery();
  const [search] = useSearchParams();
  const query = useQuery({ queryKey: ["dapps"], queryFn: () => operator.dapps() });
  return (
    <Loaded query={signedIn}>
      {(me) => (
        <Loaded query={query}>
          {(list) => {
            const having = list.filter(({ facilities }) => facilities.includes(facility));
            const users = having.filter(({ id }) => isAllowed(me, { dappId: id, operation }));
            if (users.length === 0 && having.length > 0) return otherwise(having);
            const wanted = users.find(({ id }) => id === search.get("dapp")) ?? users[0];
            return wanted === undefined ? (
              <p className="panel">
                No dapp has permission to use {facility}: <Link href="/">create one that does</Link>, or
                permit it in the settings of one.
              </p>
            ) : (
              children(users, wanted.id)
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

/** Selects the dapp whose subscriptions are used. */
export function DappSelect({
  dapps,
  value,
  onChange,
}: {
  readonly dapps: readonly Pick<DappView, "id" | "name">[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  return (
    <Field id="dapp" label="Dapp that pays">
      {(control) => (
        <Select
          {...control}
          value={value}
          options={dapps.map(({ id, name }) => [id, plainText(name)] as const)}
          onChange={onChange}
        />
      )}
    </Field>
  );
}
