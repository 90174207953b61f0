import type { LabelParams } from "../../../client/index.ts";
import { readField, TextField } from "./forms.tsx";

/** Names under which the API reports problems with these fields. */
export const LABEL_NAMES: readonly string[] = ["label", "once"];

/** The fields that say what a request is for. */
export function LabelField({ problems }: { readonly problems: ReadonlyMap<string, string> }) {
  return (
    <>
      <TextField
        id="label"
        label="Label"
        problem={problems.get("label") ?? problems.get("once")}
        note="What it is for, on chain for all to see, in lower case: whoever verifies the result learns how many others have this label. May be empty."
        name="label"
        maxLength={100}
      />
      <label className="check">
        <input type="checkbox" name="once" /> the only request with this label
      </label>
    </>
  );
}

/** Reads the fields of {@link LabelField}. */
export function readLabel(values: FormData): LabelParams {
  const label = readField(values, "label").trim();
  return { label: label === "" ? undefined : label, once: values.has("once") ? true : undefined };
}
