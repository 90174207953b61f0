import { useState } from "react";
import { Field, Select } from "./forms.tsx";

/** The API's default network for presets. */
const DEFAULT_NETWORK = "polygon_mumbai";

/**
 * Returns the name of the network that a form is for, and a function that changes it. Until one is chosen: `preferred`, or the
 * first network.
 */
export function useChosenNetwork(
  networks: readonly { readonly name: string }[],
  preferred = DEFAULT_NETWORK,
): readonly [network: string, choose: (name: string) => void] {
  const [chosen, choose] = useState<string>();
  const first = networks.find(({ name }) => name === preferred) ?? networks[0];
  return [chosen ?? first?.name ?? "", choose];
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
