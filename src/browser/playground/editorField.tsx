import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor } from "./editor.ts";
import type { Failure } from "./run.ts";

/** The editor, which is loaded when the page has been drawn. Until then, and where it can't be loaded, a plain field stands in. */
export function EditorField(props: {
  readonly source: string;
  /** Grows when `source` is replaced by something else than what was typed; only then the editor takes it over. */
  readonly version: number;
  readonly failure: Failure | undefined;
  readonly onChange: (source: string) => void;
  readonly onRun: () => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor>();
  // The editor outlives many drawings: it calls what the last one was given.
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
        onRun: () => latest.current.onRun(),
      });
      setEditor(made);
    };
    load().catch(() => {});
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
    <div class="editor">
      <div ref={host} />
      {editor === undefined && (
        <textarea
          class="mono"
          aria-label="Source"
          rows={18}
          spellcheck={false}
          value={props.source}
          onInput={(event) => props.onChange(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
