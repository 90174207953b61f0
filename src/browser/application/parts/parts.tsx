import type { ReactNode } from "react";
import type { TransactionView, ExplorerNetwork } from "../../../client/index.ts";
import { splitAtHidden } from "../../../lib/hiddenCharacters.ts";
import { splitAtTimes } from "../../../lib/time.ts";
import { Time } from "./format.tsx";

/** Text of unknown origin, with characters that would hide or reorder others made visible; line breaks and tabs stay. */
export function UnknownText({ text }: { readonly text: string }) {
  return (
    <>
      {splitAtHidden(text).map((part, i) =>
        i % 2 === 0 ? (
          part
        ) : (
          <span key={i} className="hidden-char">
            {part}
          </span>
        ),
      )}
    </>
  );
}

/** Why something waits: text of unknown origin, with its points in time as pages show them. */
export function Why({ text }: { readonly text: string }) {
  return (
    <>
      {splitAtTimes(text).map((part, i) =>
        i % 2 === 0 ? <UnknownText key={i} text={part} /> : <Time key={i} iso={part} />,
      )}
    </>
  );
}

/** A result as text. An empty one says so, rather than look like no result. */
export function ResultText({ text }: { readonly text: string }) {
  return text === "" ? <span className="note">empty text</span> : <UnknownText text={text} />;
}

/** A name and its value; omitted if there is no value. */
export type Fact = readonly [name: ReactNode, value: ReactNode] | false;

/** A list of names with values. */
export function Facts({ entries }: { readonly entries: readonly Fact[] }) {
  const shown = entries.filter(
    (entry) => entry !== false && entry[1] !== null && entry[1] !== undefined && entry[1] !== false,
  );
  return (
    <dl className="facts">
      {shown.map((entry, i) => (
        <div key={i}>
          <dt>{entry !== false && entry[0]}</dt>
          <dd>{entry !== false && entry[1]}</dd>
        </div>
      ))}
    </dl>
  );
}

export type TagKind = "good" | "bad" | "busy" | "quiet";

/** A word for a state, in color. */
export function Tag({ kind, children }: { readonly kind: TagKind; readonly children: ReactNode }) {
  return <span className={`tag ${kind}`}>{children}</span>;
}

/** A transaction's status. */
export function TransactionStatus({
  status,
  isOfFailure = false,
}: {
  readonly status: TransactionView["status"];
  /** Whether something that it is about failed: then it says what succeeded. */
  readonly isOfFailure?: boolean;
}) {
  if (status === "pending") return <Tag kind="busy">not mined yet</Tag>;
  if (status === "reverted") return <Tag kind="bad">reverted</Tag>;
  return <Tag kind="good">{isOfFailure ? "transaction succeeded" : "succeeded"}</Tag>;
}

/** A message above or in place of something. Screen readers announce a `bad` one at once. */
export function Notice({
  kind,
  children,
}: {
  readonly kind?: "bad" | undefined;
  readonly children: ReactNode;
}) {
  return kind === "bad" ? (
    <div className="notice bad" role="alert">
      {children}
    </div>
  ) : (
    <div className="notice" role="status">
      {children}
    </div>
  );
}

/** A table that scrolls sideways if it is wider than the page, with the keyboard too. */
export function Scrollable({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}

/** Long content, collapsed unless it `isOpen` at first. It opens for a field in it that can't be submitted: browsers say why only where it is shown. */
export function Folded({
  summary,
  isOpen = false,
  children,
}: {
  readonly summary: ReactNode;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <details open={isOpen} onInvalidCapture={(event) => (event.currentTarget.open = true)}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}

/** Code or other text of unknown origin, shown verbatim. */
export function Listing({
  text,
  label,
  marked,
  isNumbered = marked !== undefined,
}: {
  readonly text: string;
  readonly label: string;
  /** Number of a line to mark, from 1. */
  readonly marked?: number | undefined;
  /** Whether lines are numbered. Default: if one is marked. */
  readonly isNumbered?: boolean;
}) {
  return (
    <pre className="listing" tabIndex={0} role="region" aria-label={label}>
      {isNumbered ? (
        text
          .split("\n")
          .map((line, i) => <Line key={i} line={line} number={i + 1} isMarked={i + 1 === marked} />)
      ) : (
        <UnknownText text={text} />
      )}
    </pre>
  );
}

function Line({
  line,
  number,
  isMarked,
}: {
  readonly line: string;
  readonly number: number;
  readonly isMarked: boolean;
}) {
  const content = (
    <>
      <UnknownText text={line} />
      {"\n"}
    </>
  );
  return (
    <>
      <span className="line-number" data-number={number} />
      {isMarked ? <mark>{content}</mark> : content}
    </>
  );
}

/** Raw bytes in a scrollable box. */
export function RawBytes({ hex, label }: { readonly hex: string; readonly label: string }) {
  return (
    <pre className="listing raw" tabIndex={0} role="region" aria-label={label}>
      {hex}
    </pre>
  );
}

/** What to know about a source although it ran. */
export function Warnings({ warnings = [] }: { readonly warnings?: readonly string[] | undefined }) {
  return warnings.map((warning) => (
    <div className="notice" key={warning}>
      {warning}
    </div>
  ));
}

/** A network's state as a colored word. `isReached`: whether its node answers, as far as that is known. */
export function NetworkStatus({
  status,
  isReached = true,
}: Pick<ExplorerNetwork, "status"> & { readonly isReached?: boolean | undefined }) {
  if (status === "serving" && !isReached) return <Tag kind="busy">not answering</Tag>;
  return <Tag kind={status === "serving" ? "good" : status === "starting" ? "busy" : "bad"}>{status}</Tag>;
}
