import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useRef, useState, type ComponentProps, type FormEvent, type ReactNode } from "react";
import { ApiError } from "../../../client/index.ts";
import { sentence } from "../page.tsx";
import { UnknownText } from "./parts.tsx";

/** Attributes that tie a control to its label, its note and its problem. */
export interface ControlAttributes {
  readonly id: string;
  readonly "aria-invalid"?: true;
  readonly "aria-describedby"?: string;
}

/** A field with its label, a note on what it accepts, and its problem. `children` renders the control with the given attributes. */
export function Field({
  id,
  label,
  note,
  problem,
  wide = false,
  children,
}: {
  readonly id: string;
  readonly label: ReactNode;
  readonly note?: ReactNode;
  readonly problem?: string | undefined;
  readonly wide?: boolean | undefined;
  readonly children: (control: ControlAttributes) => ReactNode;
}) {
  const noteId = note === undefined ? undefined : `${id}-note`;
  return (
    <div className={wide ? "field wide" : "field"}>
      <label htmlFor={id}>{label}</label>
      {children({ id, ...problemAttributes(id, problem, noteId) })}
      {note !== undefined && (
        <p className="note" id={noteId}>
          {note}
        </p>
      )}
      {problem !== undefined && (
        <p className="problem" id={`${id}-problem`}>
          <UnknownText text={problem} />
        </p>
      )}
    </div>
  );
}

/**
 * Returns the attributes for a control whose problem, if any, is shown in an element with the id `{id}-problem`.
 *
 * @param noteId element that describes the control in any case.
 */
export function problemAttributes(
  id: string,
  problem: string | undefined,
  noteId?: string,
): Omit<ControlAttributes, "id"> {
  if (problem === undefined) return noteId === undefined ? {} : { "aria-describedby": noteId };
  const ids = noteId === undefined ? [] : [noteId];
  return { "aria-invalid": true, "aria-describedby": [`${id}-problem`, ...ids].join(" ") };
}

/** A field for a line of text; what {@link Field} does not take are the attributes of its input. */
export function TextField({
  id,
  label,
  note,
  problem,
  wide,
  ...input
}: Omit<Parameters<typeof Field>[0], "children"> & Omit<ComponentProps<"input">, "id">) {
  return (
    <Field {...{ id, label, note, problem, wide }}>
      {(control) => <input autoComplete="off" {...input} {...control} />}
    </Field>
  );
}

/** A field for a point in time, or none; in UTC, as the pages show times. {@link readTime} reads it. */
export function TimeField({
  name,
  value = null,
  onChange,
  ...field
}: Omit<Parameters<typeof Field>[0], "children"> & {
  readonly name: string;
  /** ISO 8601, in UTC. */
  readonly value?: string | null | undefined;
  /** Is told what {@link readTime} would read. */
  readonly onChange?: (iso: string | undefined) => void;
}) {
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          type="datetime-local"
          name={name}
          step="any"
          max="9999-12-31T23:59"
          defaultValue={value?.replace(/Z$/, "")}
          onChange={({ currentTarget }) => onChange?.(isoOf(currentTarget.value))}
        />
      )}
    </Field>
  );
}

/** A control for a value that isn't shown as it is typed. A password's input would join the lines of a key. */
export function HiddenText(
  attributes: ControlAttributes & {
    readonly name: string;
    readonly required?: true;
    readonly autoFocus?: boolean;
  },
) {
  return <textarea {...attributes} className="hidden-text" rows={2} autoComplete="off" spellCheck={false} />;
}

/** A select box, controlled by React and so without a name; `options` are values with their labels. */
export function Select({
  id,
  value,
  options,
  onChange,
  ...described
}: ControlAttributes & {
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly disabled?: boolean;
  readonly onChange: (value: string) => void;
}) {
  return (
    <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)} {...described}>
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** The confirmation asked for before an action that can't be undone. */
interface Question {
  readonly question: string;
  readonly detail?: ReactNode;
  /** What is below that, such as fields. */
  readonly more?: ReactNode;
  /** Label of the dialog's confirm button. */
  readonly confirm: string;
  /** If it rejects, the dialog shows the error. */
  readonly onConfirm: () => Promise<void>;
  /** Class of the button that confirms, and if it is `danger`, which is the default, of the one that asks. */
  readonly className?: string;
}

/** A dialog that runs an action only once it is confirmed. */
export function ConfirmDialog({
  isOpen,
  onOpenChange,
  trigger,
  question,
  detail,
  more,
  confirm,
  onConfirm,
  className = "danger",
}: Question & {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  /** What opens the dialog, if nothing else does. */
  readonly trigger?: ReactNode;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
      onOpenChange(false);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        setProblem(undefined);
        onOpenChange(open);
      }}
    >
      {trigger}
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="dialog-backdrop" />
        <AlertDialog.Popup className="dialog panel">
          <AlertDialog.Title render={<h2 />}>{question}</AlertDialog.Title>
          {detail !== undefined && <AlertDialog.Description>{detail}</AlertDialog.Description>}
          {more}
          {problem !== undefined && (
            <div className="notice bad" role="alert">
              <UnknownText text={problem} />
            </div>
          )}
          <div className="buttons">
            <button type="button" className={className} disabled={isBusy} onClick={() => void act()}>
              {confirm}
            </button>
            <AlertDialog.Close>Cancel</AlertDialog.Close>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** A button that runs an action only after a confirmation. */
export function ConfirmButton({
  children,
  className = "danger",
  ...question
}: Question & {
  /** The button's label, also for screen readers: name what it acts on. */
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <ConfirmDialog
      {...question}
      className={className}
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <AlertDialog.Trigger className={className === "danger" ? className : ""}>
          {children}
        </AlertDialog.Trigger>
      }
    />
  );
}

/** A form that a button opens and closes; once closed from within, the button has the focus. */
export function useEdit() {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return {
    isOpen,
    /** Attributes of the button. */
    button: {
      type: "button",
      ref: button,
      "aria-expanded": isOpen,
      onClick: () => setOpen(!isOpen),
    } as const,
    close: () => {
      setOpen(false);
      button.current?.focus();
    },
  };
}

/** The buttons of a form. */
export function FormButtons({
  label,
  isBusy,
  close,
}: {
  /** Of the one that sends it. */
  readonly label: string;
  readonly isBusy: boolean;
  /** Closes the form; absent where it is always open. */
  readonly close?: (() => void) | undefined;
}) {
  return (
    <div className="buttons">
      <button className="action" disabled={isBusy}>
        {label}
      </button>
      {close !== undefined && (
        <button type="button" onClick={close}>
          Cancel
        </button>
      )}
    </div>
  );
}

/** Returns the text of a form's field; empty if there is none. */
export function readField(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}

/** Returns what a {@link TimeField} says in ISO 8601; `undefined` if it is empty. */
export function readTime(fields: FormData, name: string): string | undefined {
  return isoOf(readField(fields, name));
}

function isoOf(typed: string): string | undefined {
  return typed === "" ? undefined : `${typed}Z`;
}

/** What becomes of a form that is sent. */
export interface Submission {
  /** What is wrong with what was sent last, by field. */
  readonly problems: ReadonlyMap<string, string>;
  /** Why it failed, unless fields show that. */
  readonly refusal: string | undefined;
  readonly isBusy: boolean;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

/**
 * Sends a form, and focuses the first field that is wrong.
 *
 * @param fields names of the parameters whose problems the form can show.
 * @param send returns problems by field if it sends nothing because of them; what it throws is described.
 */
export function useSubmission(
  fields: readonly string[],
  send: (values: FormData, form: HTMLFormElement) => Promise<ReadonlyMap<string, string> | void>,
): Submission {
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    setProblems(new Map());
    setRefusal(undefined);
    setBusy(true);
    try {
      const found = await send(new FormData(form), form);
      if (found !== undefined) {
        setProblems(found);
        focusFirstProblem(form);
      }
    } catch (error) {
      const found = problemsOf(error);
      if (found.size > 0 && [...found.keys()].every((name) => fields.includes(name))) {
        setProblems(found);
        focusFirstProblem(form);
      } else setRefusal(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return {
    problems,
    refusal,
    isBusy,
    onSubmit(event) {
      event.preventDefault();
      void submit(event.currentTarget);
    },
  };
}

/** Describes an error to people. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return sentence(error.message);
  return "Something failed.";
}

/**
 * Returns what is wrong with each parameter of a call, by name; empty if the error concerns none. Entries of lists are counted from 1.
 */
export function problemsOf(error: unknown): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  if (!(error instanceof ApiError) || error.code !== "invalid_parameter") return problems;
  for (const { path, message } of error.details) {
    const [, name = "", ...within] = path.split("/");
    const places = within.map((part) => (/^[0-9]+$/.test(part) ? `entry ${Number(part) + 1}` : part));
    const text = [...(places.length === 0 ? [] : [places.join(", ")]), message].join(" ");
    problems.set(name, problems.has(name) ? `${problems.get(name)}; ${text}` : text);
  }
  return problems;
}

/** How long to wait for a problem mark to be rendered. */
const DRAWN_WITHIN_MS = 2_000;

/** Focuses the first control of a form that is marked as invalid, once it is rendered; does nothing if there is none. */
export function focusFirstProblem(form: HTMLFormElement): void {
  const focus = (): boolean => {
    const control = form.querySelector<HTMLElement>("[aria-invalid=true]");
    control?.focus();
    return control !== null;
  };
  requestAnimationFrame(() => {
    if (focus()) return;
    const observer = new MutationObserver(() => focus() && observer.disconnect());
    observer.observe(form, { subtree: true, childList: true, attributeFilter: ["aria-invalid"] });
    setTimeout(() => observer.disconnect(), DRAWN_WITHIN_MS);
  });
}
