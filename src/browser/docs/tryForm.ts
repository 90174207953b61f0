import { findObject } from "../../lib/isObject.ts";
import type { Authorization } from "./credential.ts";
import { exampleOf, type Operation, type Parameter } from "./description.ts";
import type { Schema } from "./describeType.ts";
import { h, type Child } from "./dom.ts";

/** Creates the form that sends a call from this page and shows what it was answered. */
export function createTryForm(operation: Operation, authorization: Authorization): HTMLFormElement {
  const { operationId, parameters = [], requestBody, credential, method } = operation;
  const content = requestBody?.content["application/json"];
  const fields = parameters.map((one) => [one, createField(one, operationId)] as const);
  const body = h("textarea", { id: `${operationId}-body`, rows: "6", spellcheck: "false" });
  if (content !== undefined) body.value = JSON.stringify(exampleOf(content) ?? {}, null, 2);
  const answer = h("div", { class: "answer", role: "status" });
  const send = h("button", { class: "action" }, "Send");
  const form = h(
    "form",
    { class: "try" },
    fields.map(([{ name, required }, field]) => [
      h("label", { for: field.id }, h("code", {}, name), required ? " (required)" : ""),
      field,
    ]),
    content === undefined
      ? undefined
      : [
          h("label", { for: body.id }, "Body"),
          content.schema === undefined ? undefined : createChoices(content.schema, body),
          body,
        ],
    method === "get" ? undefined : h("p", { class: "note" }, "This is a real call: it changes what it says."),
    send,
    answer,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (send.ariaDisabled === "true") return;
    send.ariaDisabled = "true";
    const call = buildRequest(
      operation,
      fields.map(([one, field]) => [one, field.value] as const),
    );
    const headers = {
      ...call.headers,
      ...(credential === undefined ? {} : authorizationOf(authorization.credentialFor(credential))),
      ...(content === undefined ? {} : { "Content-Type": "application/json" }),
    };
    void sendCall(call.url, {
      method: method.toUpperCase(),
      headers,
      ...(content === undefined ? {} : { body: body.value }),
    })
      .then((shown) => answer.replaceChildren(...shown))
      .finally(() => (send.ariaDisabled = null));
  });
  return form;
}

function authorizationOf(credential: string): Readonly<Record<string, string>> {
  return credential === "" ? {} : { Authorization: credential };
}

function createField(
  { name, required, schema }: Parameter,
  operationId: string,
): HTMLInputElement | HTMLSelectElement {
  const id = `${operationId}-${name}`;
  const values = schema.type === "boolean" ? [true, false] : schema.enum;
  if (values === undefined) return h("input", { id, required, autocomplete: "off", spellcheck: "false" });
  const options = values.map((value) => h("option", {}, String(value)));
  return h(
    "select",
    { id, required },
    required ? undefined : h("option", { value: "" }, "not given"),
    options,
  );
}

/** Fills the values into the path, the query and the headers. */
function buildRequest({ path }: Operation, values: readonly (readonly [Parameter, string])[]) {
  let filled = path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const [{ name, in: place }, value] of values) {
    if (value === "") continue;
    if (place === "path") filled = filled.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (place === "query") query.set(name, value);
    else headers[name] = value;
  }
  return { url: query.size === 0 ? filled : `${filled}?${query.toString()}`, headers };
}

async function sendCall(url: string, options: RequestInit): Promise<readonly Node[]> {
  const began = performance.now();
  try {
    const response = await fetch(url, options);
    const text = await response.text();
    const time = Math.round(performance.now() - began);
    return [
      h("p", {}, h("b", {}, String(response.status)), ` in ${time} ms`),
      h("pre", { tabindex: "0" }, pretty(text)),
    ];
  } catch (error) {
    return [
      h("p", {}, `The call could not be sent: ${error instanceof Error ? error.message : String(error)}.`),
    ];
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/**
 * Creates a choice for each member of a JSON body that has a fixed list of values, and writes what is chosen into the text. A member that
 * takes a list of such values gets a checkbox for each. Hidden while the text is not a JSON object.
 */
function createChoices({ properties = {} }: Schema, body: HTMLTextAreaElement): HTMLElement {
  const updates: ((value: Readonly<Record<string, unknown>>) => void)[] = [];
  const put = (name: string, value: unknown): void => {
    body.value = JSON.stringify({ ...findObject(body.value), [name]: value }, null, 2);
  };
  const choices = Object.entries(properties).flatMap(([name, member]): Child[] => {
    if (member.enum !== undefined)
      return [createSelect(name, member.enum as readonly string[], updates, put)];
    const values = member.items?.enum as readonly string[] | undefined;
    return values === undefined ? [] : [createBoxes(name, values, updates, put)];
  });
  const element = h("div", { class: "choices" }, choices);
  const update = (): void => {
    const value = findObject(body.value);
    element.hidden = value === undefined || choices.length === 0;
    if (value !== undefined) for (const one of updates) one(value);
  };
  body.addEventListener("input", update);
  update();
  return element;
}

type Put = (name: string, value: unknown) => void;
type Updates = ((value: Readonly<Record<string, unknown>>) => void)[];

function createSelect(name: string, values: readonly string[], updates: Updates, put: Put): HTMLElement {
  const select = h(
    "select",
    {},
    h("option", { value: "" }, "not given"),
    values.map((value) => h("option", {}, value)),
  );
  select.addEventListener("change", () => put(name, select.value === "" ? undefined : select.value));
  updates.push(
    (body) => (select.value = values.includes(body[name] as string) ? (body[name] as string) : ""),
  );
  return h("label", {}, `${name} `, select);
}

function createBoxes(name: string, values: readonly string[], updates: Updates, put: Put): HTMLElement {
  const boxes = values.map((value) => h("input", { type: "checkbox", value }));
  for (const box of boxes)
    box.addEventListener("change", () =>
      put(
        name,
        boxes.filter((one) => one.checked).map((one) => one.value),
      ),
    );
  updates.push((body) => {
    const chosen = Array.isArray(body[name]) ? (body[name] as readonly unknown[]) : values;
    for (const box of boxes) box.checked = chosen.includes(box.value);
  });
  return h(
    "fieldset",
    {},
    h("legend", {}, name),
    boxes.map((box) => h("label", {}, box, ` ${box.value}`)),
  );
}
