import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import type { DappView, Facility } from "../../../client/index.ts";
import { Loaded } from "../page.tsx";
import { useOperator } from "../services.tsx";
import { Field, Select } from "./forms.tsx";
import { plainText } from "../../../lib/hiddenCharacters.ts";

/** Renders something for the dapps that have a facility; says so if none has. */
export function WithDapps({
  facility,
  children,
}: {
  readonly facility: Facility;
  readonly children: (dapps: readonly DappView[], wanted: string) => ReactNode;
}) {
  const operator = useOperator();
  const [search] = useSearchParams();
  const query = useQuery({ queryKey: ["dapps"], queryFn: () => operator.dapps() });
  return (
    <Loaded query={query}>
      {(list) => {
        const users = list.filter(({ facilities }) => facilities.includes(facility));
        const wanted = users.find(({ id }) => id === search.get("dapp")) ?? users[0];
        return wanted === undefined ? (
          <p className="note">
            No dapp has permission to use {facility}: <Link href="/">create one that does</Link>, or permit it
            in the settings of one.
          </p>
        ) : (
          children(users, wanted.id)
        );
      }}
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
