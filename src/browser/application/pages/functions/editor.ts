import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completions } from "./completions.ts";

/** A source editor. */
export interface Editor {
  setSource(source: string): void;
  /** Takes the focus and selects a part of the source, counted in UTF-16 units. */
  focus(from: number, to: number): void;
  /** Marks where a run failed: a line, counted from 1, and what is wrong with it. `undefined` removes the mark. */
  mark(
    failure:
      | { readonly line: number; readonly column?: number | undefined; readonly message: string }
      | undefined,
  ): void;
  close(): void;
}

/**
 * Creates an editor within `host`. It lives in a shadow root: there CodeMirror puts its styles into constructed style sheets, and needs no
 * inline styles that the content security policy would have to allow. The Tab key leaves the editor, as it leaves any other field.
 */
export function createEditor(
  host: HTMLElement,
  options: {
    readonly source: string;
    readonly label: string;
    readonly onChange: (source: string) => void;
    /** Ctrl+Enter, or Cmd+Enter. Absent: the source can only be read. */
    readonly onRun: (() => void) | undefined;
  },
): Editor {
  const { source, label, onChange, onRun } = options;
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const run = onRun === undefined ? [] : [{ key: "Mod-Enter", run: () => (onRun(), true) }];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: source,
      extensions: [
        keymap.of([...run, ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorState.readOnly.of(onRun === undefined),
        language(),
        lineNumbers(),
        lintGutter(),
        history(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        drawSelection(),
        EditorView.lineWrapping,
        replaceByCommand(),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
        THEME,
      ],
    }),
  });
  return {
    setSource: (next) =>
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: next },
        selection: { anchor: 0 },
      }),
    focus(from, to) {
      view.dispatch({ selection: { anchor: from, head: to } });
      view.focus();
    },
    mark(failure) {
      if (failure === undefined || failure.line > view.state.doc.lines) {
        view.dispatch(setDiagnostics(view.state, []));
        return;
      }
      const line = view.state.doc.line(failure.line);
      const from = Math.min(line.from + Math.max((failure.column ?? 1) - 1, 0), line.to);
      view.dispatch(
        setDiagnostics(view.state, [{ from, to: line.to, severity: "error", message: failure.message }]),
        { effects: EditorView.scrollIntoView(line.from, { y: "nearest" }) },
      );
    },
    close: () => view.destroy(),
  };
}

/**
 * Makes CodeMirror itself insert what is typed over a selection. Otherwise Chromium carries over the appearance of the deleted lines in a
 * `style` attribute, which the content security policy refuses with an error in the console.
 */
function replaceByCommand(): Extension {
  return EditorView.domEventHandlers({
    beforeinput(event, view) {
      const { data, inputType } = event;
      const { from, to, empty } = view.state.selection.main;
      if (inputType !== "insertText" || data === null || empty || view.composing) return false;
      const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: "input.type" });
      const handlers = view.state.facet(EditorView.inputHandler);
      if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
      event.preventDefault();
      return true;
    },
  });
}

function language(): Extension {
  return [
    javascript({ typescript: true }),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    completions(),
    syntaxHighlighting(HIGHLIGHT),
  ];
}

/** Colors of the page; each is readable on its background in both color schemes. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword], color: "light-dark(#7a3e9d, #cba6f0)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--accent)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--busy)" },
  { tag: [tags.comment], color: "var(--faint)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "light-dark(#235a97, #8ab8ee)" },
  { tag: [tags.typeName], color: "light-dark(#7a3e9d, #cba6f0)" },
]);

const THEME = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--code)",
    borderRadius: "6px",
    border: "1px solid var(--edge)",
    fontSize: "0.88rem",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    lineHeight: "1.55",
    minHeight: "20rem",
    maxHeight: "36rem",
    overflow: "auto",
  },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--ink) 5%, transparent)",
  },
  "&.cm-focused .cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--panel)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(90vw, 34rem)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8" },
  ".declaration": { maxWidth: "min(90vw, 30rem)", padding: "0.5rem 0.7rem", whiteSpace: "normal" },
  ".declaration code": { fontFamily: "var(--mono)", overflowWrap: "anywhere" },
  ".declaration p": { margin: "0.3rem 0 0", fontFamily: "system-ui, sans-serif" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)", color: "var(--bad)" },
});
