import type { Authorization } from "./credential.ts";
import { describeCall } from "./describedCall.ts";
import { codesOf, exampleOf, type ErrorRow, type Operation, type Parameter } from "./description.ts";
import { describeType, type Schema } from "./describeType.ts";
import { copyButton } from "./code.ts";
import { h, type Child } from "./dom.ts";
import { renderInline } from "../../lib/markdown.ts";
import { writeSamples } from "./samples.ts";
import { createTryForm } from "./tryForm.ts";

const NEEDS = {
  apiKey: "Takes the API key of a dapp, or the operator token.",
  operatorToken: "Takes the operator token. An API key gets 403.",
} as const;

/** What all operations of the page share. */
export interface ViewContext {
  readonly authorization: Authorization;
  readonly errors: readonly ErrorRow[];
  /** The language in which samples are shown, which the reader chooses for all calls at once. */
  language: string;
}

/** Creates the foldable description of an operation; what is in it is made when it is opened. */
export function createOperationView(operation: Operation, context: ViewContext): HTMLDetailsElement {
  const { operationId, method, path, summary } = operation;
  const view = h(
    "details",
    { class: "operation", id: operationId },
    h(
      "summary",
      {},
      h("span", { class: `method ${method}` }, method.toUpperCase()),
      h("code", {}, path),
      h("span", { class: "what" }, summary),
    ),
  );
  view.addEventListener("toggle", () => {
    if (!view.open) return;
    // The address can be copied, and opens this call again.
    if (location.hash !== `#${operationId}`) history.replaceState(null, "", `#${operationId}`);
    if (view.childElementCount === 1) view.append(...drawOperation(operation, context));
  });
  return view;
}

function drawOperation(operation: Operation, context: ViewContext): readonly Node[] {
  const { parameters = [], requestBody, responses, credential, description } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  const answer = responses["200"]?.content?.["application/json"];
  const data = answer?.schema?.properties?.["data"];
  const codes = codesOf(operation);
  return [
    h("p", {}, text(description)),
    h("p", { class: "note" }, credential === undefined ? "Needs no key." : NEEDS[credential]),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        parameters.length === 0 ? undefined : h("h3", {}, "Parameters"),
        drawFields(
          parameters.map(({ description, ...one }) => ({
            ...one,
            schema: { ...one.schema, ...(description === undefined ? {} : { description }) },
          })),
          "sent",
        ),
        body === undefined ? undefined : [h("h3", {}, "Body"), drawSchema(body, "sent")],
        data === undefined ? undefined : [h("h3", {}, "Answer: data"), drawSchema(data, "answered")],
      ),
      h(
        "div",
        {},
        h("h3", {}, "Example"),
        drawSamples(operation, context),
        answer === undefined
          ? undefined
          : h(
              "details",
              {},
              h("summary", {}, "Its answer"),
              h("pre", { tabindex: "0" }, JSON.stringify(exampleOf(answer), null, 2)),
            ),
        h("h3", {}, "Try it"),
        createTryForm(operation, context.authorization),
      ),
    ),
    h(
      "details",
      { class: "errors" },
      h("summary", {}, `Errors: ${codes.length}`),
      h("dl", {}, context.errors.filter(({ code }) => codes.includes(code)).map(drawError)),
    ),
  ];
}

function drawError({ code, status, meaning, remedy }: ErrorRow): Child {
  return [
    h("dt", {}, h("a", { href: `#error-${code}` }, h("code", {}, code)), ` ${status}`),
    h("dd", {}, text(meaning), " ", text(remedy)),
  ];
}

/** Callers have to know what they must send, and what an answer may lack. */
type Direction = "sent" | "answered";

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly in?: Parameter["in"];
}

/** Shows the members of an object; of several kinds of objects, those of each under its title. */
function drawSchema(schema: Schema, direction: Direction): Child {
  const { anyOf, items, properties, required = [] } = schema;
  const kinds = anyOf?.filter((one) => one.type !== "null") ?? [];
  if (kinds.some(hasMembers))
    return kinds.length === 1
      ? drawSchema(kinds[0]!, direction)
      : kinds.map((one, i) =>
          h(
            "details",
            {},
            h("summary", {}, one.title ?? (hasMembers(one) ? `Form ${i + 1}` : describeType(one))),
            drawSchema(one, direction),
          ),
        );
  if (items !== undefined && hasMembers(items)) return drawSchema(items, direction);
  if (properties === undefined) return h("p", { class: "type" }, describeType(schema));
  return drawFields(
    Object.entries(properties).map(([name, one]) => ({
      name,
      schema: one,
      required: required.includes(name),
    })),
    direction,
  );
}

/** Whether a schema allows objects whose members are described. */
function hasMembers({ properties, items, anyOf = [] }: Schema): boolean {
  return properties !== undefined || (items !== undefined && hasMembers(items)) || anyOf.some(hasMembers);
}

function drawFields(fields: readonly Field[], direction: Direction): Child {
  if (fields.length === 0) return undefined;
  return h(
    "dl",
    { class: "members" },
    fields.map(({ name, schema, required, in: place = "query" }) => {
      const notes = [
        describeType(schema),
        ...(place === "query" ? [] : [`in the ${place}`]),
        ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
        ...(direction === "answered" && !required ? ["may be absent"] : []),
      ];
      return [
        h(
          "dt",
          {},
          h("code", {}, name),
          notes.map((note) => h("span", { class: "type" }, note)),
          direction === "sent" && required ? h("span", { class: "required" }, "required") : undefined,
        ),
        h(
          "dd",
          {},
          text(schema.description ?? schema.title ?? ""),
          hasMembers(schema)
            ? h("details", {}, h("summary", {}, `Members of ${name}`), drawSchema(schema, direction))
            : undefined,
        ),
      ];
    }),
  );
}

/** Shows the call in one of the languages, with a button for each. */
function drawSamples(operation: Operation, context: ViewContext): HTMLElement {
  const samples = writeSamples(describeCall(operation.method, operation.path, operation));
  const chosen = () => samples.find(({ name }) => name === context.language) ?? samples[0]!;
  const shown = h("pre", { tabindex: "0", role: "region" });
  const buttons = samples.map(({ name }) => h("button", { type: "button" }, name));
  const show = (): void => {
    const { name, text } = chosen();
    shown.textContent = text;
    shown.ariaLabel = `${name}: ${operation.operationId}`;
    for (const button of buttons) button.ariaPressed = String(button.textContent === name);
  };
  for (const button of buttons)
    button.addEventListener("click", () => {
      context.language = button.textContent;
      document.dispatchEvent(new Event("language"));
    });
  document.addEventListener("language", show);
  show();
  return h(
    "div",
    { class: "samples" },
    h(
      "div",
      { class: "row" },
      buttons,
      copyButton(() => shown.textContent),
    ),
    shown,
  );
}

function text(markdown: string): Child {
  return renderInline(markdown, (href) => href);
}
