import { useState } from "react";
import { findChosenNetwork, keepChosenNetwork } from "./chosenNetwork.ts";
import { Field, Select } from "./forms.tsx";

/**
 * Returns the name of the network that a form is for, and a function that changes it. Every form begins with the one that was chosen last
 * in any form of this browser.
 */
export function useChosenNetwork(
  networks: readonly { readonly name: string }[],
): readonly [network: string, choose: (name: string) => void] {
  const [chosen, setChosen] = useState<string>();
  const choose = (name: string): void => {
    keepChosenNetwork(name);
    setChosen(name);
  };
  return [chosen ?? findChosenNetwork(networks), choose];
}

/** Selects a network. */
export function NetworkSelect({
  networks,
  value,
  onChange,
  id = "network",
}: {
  readonly networks: readonly { readonly name: string; readonly title: string }[];
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly id?: string;
}) {
  return (
    <Field id={id} label="Network">
      {(control) => (
        <Select
          {...control}
          value={value}
          options={networks.map(({ name, title }) => [name, title] as const)}
          onChange={onChange}
        />
      )}
    </Field>
  );
}
