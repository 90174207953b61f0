import { useEffect, useMemo, useRef, useState } from "react";
import type { Editor } from "./editor.ts";
import { UnknownText } from "../../parts/parts.tsx";
import type { Failure } from "./run.ts";

/**
 * The editor, which is loaded after the page has rendered. Until then, or if loading fails, a plain field replaces it, with the failed
 * line shown below.
 */
export function EditorField(props: {
  readonly source: string;
  /** Increases when `source` is replaced other than by typing; only then does the editor adopt it. */
  readonly version: number;
  readonly failure: Failure | undefined;
  readonly onChange: (source: string) => void;
  /** Dry-runs it. Absent: it can only be read. */
  readonly onRun: (() => void) | undefined;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const [isMissing, setMissing] = useState(false);
  // The editor outlives many renders, so it calls the latest callbacks.
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    let made: Editor | undefined;
    let isGone = false;
    const load = async (): Promise<void> => {
      const { createEditor } = await import("./editor.ts");
      if (isGone || host.current === null) return;
      made = createEditor(host.current, {
        source: latest.current.source,
        label: "Source",
        onChange: (source) => latest.current.onChange(source),
        onRun: props.onRun && (() => latest.current.onRun?.()),
      });
      // Whoever is typing in the plain field already goes on in the editor: what is typed next would be lost.
      const field = document.activeElement;
      if (field instanceof HTMLTextAreaElement && field === host.current.nextElementSibling)
        made.focus(field.selectionStart, field.selectionEnd);
      setEditor(made);
    };
    load().catch(() => {
      if (!isGone) setMissing(true);
    });
    return () => {
      isGone = true;
      made?.close();
    };
  }, []);
  const { version } = props;
  useEffect(() => {
    if (version > 0) editor?.setSource(latest.current.source);
  }, [editor, version]);
  useEffect(() => editor?.mark(props.failure), [editor, props.failure]);

  return (
    <div className="editor">
      {isMissing && (
        <p className="notice" role="alert">
          The editor could not be loaded. Sources can be written and run in this plain field, too. To try
          again, reload the page; copy a link first to keep this source.
        </p>
      )}
      <div ref={host} />
      {editor === undefined && <PlainField {...props} />}
      {props.onRun !== undefined && (
        <p className="note">{editor !== undefined && "Ctrl+Space completes, "}Ctrl+Enter dry-runs.</p>
      )}
    </div>
  );
}

function PlainField({ source, failure, onChange, onRun }: Parameters<typeof EditorField>[0]) {
  // The line as it was when it failed; later typing moves it.
  const line = useMemo(
    () => (failure === undefined ? undefined : source.split("\n")[failure.line - 1]),
    [failure],
  );
  const isFailed = failure !== undefined && line !== undefined;
  return (
    <>
      <textarea
        className="mono"
        aria-label="Source"
        aria-invalid={isFailed ? true : undefined}
        aria-describedby={isFailed ? FAILED_LINE_ID : undefined}
        rows={18}
        spellCheck={false}
        readOnly={onRun === undefined}
        value={source}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (onRun === undefined || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          onRun();
        }}
      />
      {isFailed && (
        <p className="problem" id={FAILED_LINE_ID}>
          Line {failure.line}:{" "}
          <code>
            <UnknownText text={line.trim().slice(0, MAX_LINE_CHARACTERS)} />
          </code>
        </p>
      )}
    </>
  );
}

const FAILED_LINE_ID = "failed-line";
/** A minified source is a single line. */
const MAX_LINE_CHARACTERS = 200;
