import { useId, useState, type ReactNode } from "react";
import { ConfirmButton, Field, Select } from "./forms.tsx";

/** For how many hours what a rotation replaces stays valid, in words. */
const OVERLAPS = [
  ["1", "1 hour"],
  ["24", "24 hours"],
  ["72", "3 days"],
  ["168", "7 days"],
  ["0", "not at all: it ends at once"],
] as const;

/** A button that replaces a secret, and asks for how long the present one stays valid. */
export function RotateButton({
  what,
  name = "",
  detail,
  rotate,
  children,
}: {
  /** What is replaced, such as `secret`. */
  readonly what: string;
  /** Which of several. */
  readonly name?: string;
  readonly detail: string;
  readonly rotate: (overlapHours: number) => Promise<void>;
  /** The button's label, also for screen readers: name what it acts on. */
  readonly children: ReactNode;
}) {
  const id = useId();
  const [hours, choose] = useState("24");
  return (
    <ConfirmButton
      question={`Rotate the ${what}${name && ` ${name}`}?`}
      detail={detail}
      more={
        <Field id={id} label={`The present ${what} stays valid for`}>
          {(control) => <Select {...control} value={hours} options={OVERLAPS} onChange={choose} />}
        </Field>
      }
      confirm="Rotate it"
      className=""
      onConfirm={() => rotate(Number(hours))}
    >
      {children}
    </ConfirmButton>
  );
}
