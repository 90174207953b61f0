import { Field } from "./forms.tsx";
import { plainText } from "../../../lib/hiddenCharacters.ts";
import { UnknownText } from "./parts.tsx";
import type { PresetField } from "./presetFields.ts";

/**
 * A field for one parameter of a preset, named `param.{name}`.
 *
 * @param suggestions id of the `datalist` with values for a line of text.
 */
export function Parameter({
  field,
  problem,
  suggestions,
}: {
  readonly field: PresetField;
  readonly problem?: string | undefined;
  readonly suggestions?: string | undefined;
}) {
  const { name, title, description, kind, choices, fallback, isRequired, isNumeric } = field;
  const id = `param.${name}`;
  const shared = { name: id, required: isRequired, defaultValue: fallback };
  const typed = { ...shared, spellCheck: false, autoComplete: "off" };
  return (
    <Field
      id={id}
      wide
      problem={problem}
      label={
        title === undefined ? (
          <UnknownText text={name} />
        ) : (
          <>
            <UnknownText text={title} />{" "}
            <code>
              <UnknownText text={name} />
            </code>
          </>
        )
      }
      note={
        <>
          <UnknownText text={description} />
          {kind === "lines" && " One entry per line; blank lines are ignored."}
          {kind === "json" && choices === undefined && " As JSON."}
        </>
      }
    >
      {(control) =>
        choices !== undefined ? (
          <select {...control} {...shared}>
            {/* The empty choice stands for an absent parameter. */}
            {(isRequired && fallback !== "" ? choices : ["", ...choices]).map((one) => (
              <option key={one} value={one}>
                {plainText(one)}
              </option>
            ))}
          </select>
        ) : kind === "text" ? (
          <input
            {...control}
            {...typed}
            list={suggestions}
            inputMode={isNumeric && suggestions === undefined ? "numeric" : undefined}
          />
        ) : (
          <textarea {...control} {...typed} rows={5} className={kind === "json" ? "mono" : undefined} />
        )
      }
    </Field>
  );
}
