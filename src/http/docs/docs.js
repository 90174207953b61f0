// Draws the page out of /openapi.json. Text reaches the page as text nodes only: no description can bring markup of its own.

const KEY = "tyche-docs-key";
const keyInput = document.querySelector("#key");
keyInput.value = sessionStorage.getItem(KEY) ?? "";
keyInput.addEventListener("input", () => sessionStorage.setItem(KEY, keyInput.value.trim()));

/** Makes an element; children are nodes or texts, properties are set as they are. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** The little Markdown that the descriptions use: paragraphs, tables, `code`, **bold**. */
function markdown(text = "") {
  return text.split(/\n{2,}/).map((block) => {
    if (block.startsWith("|")) return table(block.split("\n"));
    return element("p", {}, ...inline(block));
  });
}

function inline(text) {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .filter(Boolean)
    .map((part) => {
      if (part.startsWith("`")) return element("code", { textContent: part.slice(1, -1) });
      if (part.startsWith("**")) return element("b", { textContent: part.slice(2, -2) });
      return part;
    });
}

function table(lines) {
  const rows = lines.map((line) => line.slice(1, -1).split("|"));
  const [head, , ...body] = rows;
  return grid(
    head.map((cell) => cell.trim()),
    body.map((cells) => cells.map((cell) => inline(cell.trim()))),
  );
}

function grid(head, rows) {
  const cells = (name, row) => element("tr", {}, ...row.map((cell) => element(name, {}, ...[cell].flat())));
  const body = element("tbody", {}, ...rows.map((row) => cells("td", row)));
  return element(
    "div",
    { className: "scroll" },
    element("table", {}, element("thead", {}, cells("th", head)), body),
  );
}

let api;
const resolve = (schema) =>
  schema?.$ref === undefined
    ? schema
    : resolve(
        schema.$ref
          .slice(2)
          .split("/")
          .reduce((at, name) => at[name], api),
      );

/** Type, allowed values and default of a schema in a few words. */
function typeOf(schema) {
  const { type, enum: values, const: only, default: fallback, items, anyOf } = schema;
  if (only !== undefined) return JSON.stringify(only);
  const base = values
    ? values.map((value) => JSON.stringify(value)).join(" | ")
    : anyOf
      ? anyOf.map((one) => typeOf(resolve(one))).join(" or ")
      : [type ?? "any"].flat().join(" or ");
  const bounds = schema.minimum === undefined ? "" : `, ${schema.minimum} to ${schema.maximum ?? "…"}`;
  const list = items === undefined ? "" : ` of ${typeOf(resolve(items))}`;
  return base + list + bounds + (fallback === undefined ? "" : `, default ${JSON.stringify(fallback)}`);
}

function fieldTable(schema, listed = []) {
  const { properties = {}, required = [] } = resolve(schema) ?? {};
  const shown = Object.entries(properties).filter(([name]) => !listed.includes(name));
  const rows = shown.map(([name, property]) => {
    const field = resolve(property);
    const label = [element("code", { textContent: name }), required.includes(name) ? " required" : ""];
    return [label, typeOf(field), inline(field.description ?? "")];
  });
  return rows.length === 0
    ? element("p", { className: "note", textContent: "None." })
    : grid(["Name", "Type", "Meaning"], rows);
}

/** Shapes that a body may have, with their names. */
function bodyShapes(operation) {
  const content = operation.requestBody?.content["application/json"];
  if (content === undefined) return [];
  const shapes = content.schema.anyOf ?? [content.schema];
  const examples = Object.values(content.examples ?? {}).map(({ value }) => value);
  return shapes.map((shape, index) => {
    const schema = resolve(shape);
    return { name: schema.title ?? "", schema, example: examples[index] ?? content.example ?? {} };
  });
}

function section(method, path, operation) {
  const shapes = bodyShapes(operation);
  const fields = operation.parameters.filter((parameter) => parameter.in !== "header");
  const listed = fields.map(({ name }) => name);
  const answer = resolve(operation.responses[200].content["application/json"].schema).properties.data;
  const errors = Object.entries(operation.responses).filter(([status]) => status >= "400");
  return element(
    "section",
    { id: operation.operationId },
    element("h2", { textContent: operation.summary }),
    element("p", { className: "route" }, element("b", { textContent: method }), path),
    ...markdown(operation.description),
    ...(fields.length > 0 ? [element("h3", { textContent: "Path and query" }), parameterTable(fields)] : []),
    ...shapes.flatMap(({ name, schema }) => [
      element("h3", { textContent: name === "" ? "Body" : `Body of ${name}` }),
      fieldTable(schema, listed),
    ]),
    element("h3", { textContent: "Answer: members of data" }),
    fieldTable(answer),
    element(
      "details",
      {},
      element("summary", { textContent: "Errors" }),
      grid(
        ["Status", "Code and meaning"],
        errors.map(([status, { description }]) => [status, inline(description)]),
      ),
    ),
    tryIt(method, path, fields, shapes),
  );
}

function parameterTable(fields) {
  return grid(
    ["Name", "Type", "Meaning"],
    fields.map(({ name, required, schema, description, in: place }) => [
      [element("code", { textContent: name }), required ? " required" : ""],
      `${typeOf(schema)}${place === "path" ? " (path)" : ""}`,
      inline(description ?? ""),
    ]),
  );
}

/** A form that sends the call and shows what comes back. */
function tryIt(method, path, fields, shapes) {
  const inputs = new Map(
    fields.map(({ name, schema }) => [name, element("input", { placeholder: String(schema.default ?? "") })]),
  );
  const body = element("textarea", { rows: 8, spellcheck: false, ariaLabel: "JSON body" });
  const fill = ({ example }) => {
    body.value = JSON.stringify(example, null, 2);
  };
  if (shapes.length > 0) fill(shapes[0]);
  const output = element("div", { ariaLive: "polite" });
  const send = element("button", { className: "send", textContent: "Send", type: "submit" });
  const copy = element("button", { textContent: "Copy as curl", type: "button" });

  const build = () => {
    const query = new URLSearchParams();
    let url = path;
    for (const { name, in: place } of fields) {
      const { value } = inputs.get(name);
      if (place === "path") url = url.replace(`{${name}}`, encodeURIComponent(value));
      else if (value !== "") query.set(name, value);
    }
    const search = query.size > 0 ? `?${query}` : "";
    const headers = { Authorization: keyInput.value.trim() };
    if (shapes.length > 0) headers["Content-Type"] = "application/json";
    return { url: location.origin + url + search, headers, body: shapes.length > 0 ? body.value : undefined };
  };
  const form = element(
    "form",
    {},
    element("h3", { textContent: "Try it" }),
    shapes.length > 1
      ? element(
          "div",
          { className: "choices" },
          ...shapes.map((shape) =>
            element("button", { type: "button", textContent: shape.name, onclick: () => fill(shape) }),
          ),
        )
      : undefined,
    element(
      "div",
      { className: "fields" },
      ...fields.map(({ name }) => element("label", {}, name, inputs.get(name))),
    ),
    shapes.length > 0 ? element("label", { className: "body-label" }, "Body", body) : undefined,
    element("div", { className: "actions" }, send, copy),
    output,
  );
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(curlOf(method, build()));
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy as curl"), 1500);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    output.replaceChildren(element("p", { className: "note", textContent: "Waiting for the answer …" }));
    output.replaceChildren(...(await answerOf(method, build())));
    send.disabled = false;
  });
  return form;
}

async function answerOf(method, { url, headers, body }) {
  const started = performance.now();
  try {
    const reply = await fetch(url, { method: method.toUpperCase(), headers, body });
    const text = await reply.text();
    const ms = Math.round(performance.now() - started);
    const status = element("span", {
      className: reply.ok ? "status-good" : "status-bad",
      textContent: `${reply.status} ${reply.statusText}`,
    });
    const id = reply.headers.get("Tyche-Request-Id");
    return [
      element("p", {}, status, ` in ${ms} ms${id === null ? "" : `, request ${id}`}`),
      element("pre", { textContent: pretty(text) }),
    ];
  } catch (error) {
    return [element("p", { className: "status-bad", textContent: `No answer: ${error.message}` })];
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function curlOf(method, { url, headers, body }) {
  const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`-d ${quote(body)}`);
  return [`curl -X ${method.toUpperCase()} ${quote(url)}`, ...lines].join(" \\\n  ");
}

async function draw() {
  api = await (await fetch("/openapi.json")).json();
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const intro = element(
    "section",
    { id: "intro" },
    element("h1", { textContent: api.info.title }),
    element("p", { textContent: api.info.summary }),
    ...markdown(api.info.description),
  );
  document
    .querySelector("#main")
    .replaceChildren(
      intro,
      ...operations.map(({ method, path, operation }) => section(method, path, operation)),
    );
  document
    .querySelector("#nav")
    .replaceChildren(
      element("a", { href: "#intro", textContent: "Introduction" }),
      ...api.tags.flatMap(({ name }) => [
        element("h2", { textContent: name }),
        ...operations
          .filter(({ operation }) => operation.tags.includes(name))
          .map(({ operation: { operationId, summary } }) =>
            element("a", { href: `#${operationId}`, textContent: summary }),
          ),
      ]),
    );
  if (location.hash !== "") document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

draw().catch((error) => {
  document.querySelector("#loading").textContent = `The API can't be described now: ${error.message}`;
});
