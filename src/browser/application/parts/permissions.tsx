import { FACILITIES, type Facility } from "../../../domain/vocabulary.ts";

/** What a dapp may use, in words. */
export const PERMISSION_TEXT: Readonly<Record<Facility, string>> = {
  presets: "presets and random numbers",
  functions: "functions",
};

/** Fields of a form that say what a dapp may use. */
export function PermissionFields({ given = FACILITIES }: { readonly given?: readonly Facility[] }) {
  return (
    <fieldset>
      <legend>Permissions</legend>
      {FACILITIES.map((one) => (
        <label key={one} className="check">
          <input type="checkbox" name={one} defaultChecked={given.includes(one)} /> {PERMISSION_TEXT[one]}
        </label>
      ))}
    </fieldset>
  );
}

/** Returns what the fields of {@link PermissionFields} say. Throws if that is nothing. */
export function readPermissions(values: FormData): readonly Facility[] {
  const facilities = FACILITIES.filter((one) => values.has(one));
  if (facilities.length === 0) throw new Error("Choose at least one permission.");
  return facilities;
}
