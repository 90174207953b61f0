import {
  completeFromList,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import {
  javascriptLanguage,
  localCompletionSource,
  scopeCompletionSource,
} from "@codemirror/lang-javascript";
import { syntaxTree } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import declarationText from "../../../../../sandbox/functions.d.ts?raw";
import { readDeclarations, type Declaration } from "./declarations.ts";

const DECLARATIONS = readDeclarations(declarationText);

/** Platform globals that a source sees besides its own. The editor's browser has them too, and therefore knows their members. */
const PLATFORM = [
  "Array",
  "ArrayBuffer",
  "BigInt",
  "Boolean",
  "DataView",
  "Date",
  "Error",
  "Infinity",
  "Intl",
  "JSON",
  "Map",
  "Math",
  "NaN",
  "Number",
  "Object",
  "Promise",
  "Proxy",
  "RangeError",
  "Reflect",
  "RegExp",
  "Set",
  "String",
  "Symbol",
  "TypeError",
  "Uint8Array",
  "AbortController",
  "Headers",
  "Request",
  "Response",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "atob",
  "btoa",
  "console",
  "crypto",
  "fetch",
  "parseFloat",
  "parseInt",
  "setTimeout",
  "structuredClone",
] as const;

const scope = Object.fromEntries(
  PLATFORM.map((name) => [name, (globalThis as Record<string, unknown>)[name]]),
);

/**
 * Adds completion and types for what a source sees: the nodes' library, the options of an HTTP request, the platform, its own variables.
 */
export function completions(): Extension {
  return [
    javascriptLanguage.data.of({ autocomplete: completeDeclared }),
    javascriptLanguage.data.of({ autocomplete: scopeCompletionSource(scope) }),
    javascriptLanguage.data.of({ autocomplete: localCompletionSource }),
    hoverTooltip((view, position) => {
      const word = view.state.wordAt(position);
      const found = word === null ? undefined : findDeclared(view.state.sliceDoc(word.from, word.to));
      if (word === null || found === undefined) return null;
      return { pos: word.from, end: word.to, above: true, create: () => ({ dom: describe(found) }) };
    }),
  ];
}

const optionsOf = (owner: string): readonly Completion[] =>
  DECLARATIONS.filter((one) => one.owner === owner).map((one) => ({
    label: one.name,
    type: one.type.includes("(") ? "function" : owner === "" ? "variable" : "property",
    detail: one.type.includes("(") ? "" : one.type.replace(/^[^:]*: ?/, ""),
    info: () => describe(one),
    boost: 1,
  }));

const GLOBALS = completeFromList(optionsOf(""));
const MEMBERS = optionsOf("Functions");
const REQUEST_OPTIONS = optionsOf("HttpRequest");

function completeDeclared(context: CompletionContext) {
  const member = context.matchBefore(/\bFunctions\.\w*$/);
  if (member !== null)
    return { from: member.from + "Functions.".length, options: MEMBERS, validFor: /^\w*$/ };
  if (context.matchBefore(/\.\w*$/) !== null) return null;
  return completeRequest(context) ?? GLOBALS(context);
}

/** Completes the option names of an HTTP request within its argument's braces. */
function completeRequest(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/\w*$/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const node = syntaxTree(context.state).resolveInner(context.pos, -1);
  const object = ["ObjectExpression", "Property"].includes(node.name) ? node : node.parent;
  const literal = object?.name === "Property" ? object.parent : object;
  const call = literal?.name === "ObjectExpression" ? literal.parent?.parent : null;
  if (call?.name !== "CallExpression") return null;
  if (!/^Functions\s*\.\s*makeHttpRequest\b/.test(context.state.sliceDoc(call.from, literal!.from)))
    return null;
  return { from: word.from, options: REQUEST_OPTIONS, validFor: /^\w*$/ };
}

function findDeclared(name: string): Declaration | undefined {
  return DECLARATIONS.find((one) => one.name === name && ["", "Functions"].includes(one.owner));
}

function describe({ type, doc }: Declaration): HTMLElement {
  const element = document.createElement("div");
  element.className = "declaration";
  const code = Object.assign(document.createElement("code"), { textContent: type });
  element.append(code, Object.assign(document.createElement("p"), { textContent: doc }));
  return element;
}
