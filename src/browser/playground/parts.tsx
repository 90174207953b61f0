import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { splitAtHidden } from "../../lib/hiddenCharacters.ts";

const SHOWN_MS = 1500;

/** Text of unknown origin, with characters that would hide or reorder others made visible. */
export function UnknownText({ text }: { readonly text: string }) {
  return (
    <>
      {splitAtHidden(text).map((part, i) => (i % 2 === 0 ? part : <span class="hidden-char">{part}</span>))}
    </>
  );
}

/** A button that copies a text; nothing where the browser gives no clipboard (any origin that is neither TLS nor loopback). */
export function CopyButton({
  text,
  what,
  label = "Copy",
}: {
  readonly text: string | (() => Promise<string>);
  readonly what: string;
  readonly label?: string;
}) {
  const [shown, show] = useState(label);
  if (navigator.clipboard === undefined) return null;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      show("Copied");
    } catch {
      show("Can't copy");
    }
    setTimeout(() => show(label), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {shown}
      <span class="visually-hidden"> {what}</span>
    </button>
  );
}

/** A field with its label. */
export function Field({
  id,
  label,
  note,
  children,
}: {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {note !== undefined && <p class="note">{note}</p>}
    </div>
  );
}

/** A choice; `options` are values and what is shown for them. */
export function Select({
  id,
  value,
  options,
  onChange,
}: {
  readonly id: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([name, text]) => (
        <option value={name}>{text}</option>
      ))}
    </select>
  );
}
