/**
 * Renders `/docs`: the API description in Swagger UI, with samples of each call, and the key of whoever is signed in to the application.
 */
import SwaggerUIBundle, { type SwaggerSystem } from "swagger-ui-dist/swagger-ui-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import { createOperator } from "../../client/index.ts";
import { readPageKey } from "../pageKey.ts";
import { keepAccessible } from "./accessible.ts";
import { drawChoices } from "./bodyChoices.ts";
import { describeCall } from "./describedCall.ts";
import "./docs.css";
import { writeSamples } from "./samples.ts";

const host = document.querySelector("#docs")!;
const button = document.querySelector<HTMLButtonElement>("#take-key")!;
const told = document.querySelector("#told")!;
/** Someone who pressed a button should hear of a failure sooner than a program. */
const RETRIES = 2;

type Operations = Readonly<Record<string, Readonly<Record<string, Parameters<typeof describeCall>[2]>>>>;
interface Description {
  readonly info: { readonly description: string };
  readonly paths: Operations;
}

document.body.classList.toggle("signed-in", readPageKey() !== "");
await start();

async function start(): Promise<void> {
  let description: Description;
  try {
    const answer = await fetch("/openapi.json");
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    description = (await answer.json()) as Description;
  } catch {
    host.replaceChildren("The API description could not be loaded. Reload the page.");
    return;
  }
  const [introduction = "", errors = ""] = description.info.description.split(/\n\n(?=\| Code \|)/);
  const ui = drawCalls(description, introduction);
  drawErrors(errors);
  button.addEventListener("click", () => void tellOf(takeKey(ui)));
  // Until now a press would have been lost.
  button.disabled = false;
}

/** Reports the outcome beside the button. */
async function tellOf(work: Promise<string>): Promise<void> {
  told.textContent = "";
  try {
    told.textContent = await work;
  } catch (error) {
    told.textContent = `No key could be loaded: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** Renders every call with its form. */
function drawCalls(description: Description, introduction: string): SwaggerSystem {
  const ui = SwaggerUIBundle({
    // The only server is its own, so there is nothing to choose. Errors come last.
    spec: { ...description, servers: undefined, info: { ...description.info, description: introduction } },
    domNode: host,
    docExpansion: "list",
    layout: "TycheLayout",
    // Swagger UI's links lie within the buttons that expand an operation, where the keyboard can't reach them; ours are beside the samples.
    deepLinking: false,
    onComplete: () => {
      openLinked(description, ui);
      addEventListener("hashchange", () => openLinked(description, ui));
    },
    defaultModelsExpandDepth: -1,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    // The key is kept in memory only.
    persistAuthorization: false,
    validatorUrl: null,
    syntaxHighlight: false,
    plugins: [
      ({ React: { createElement } }) => ({
        // Swagger UI's own parses the whole description anew for each operation that is opened: seconds.
        fn: {
          resolveSubtree: (_: unknown, place: readonly string[]) =>
            Promise.resolve({ errors: [], spec: resolve(description, at(description, place)) }),
        },
        // The contents of the standard layout without its landmarks: the page has its own.
        components: {
          TycheLayout: ({ getComponent }) =>
            createElement(
              "div",
              { className: "swagger-ui" },
              createElement(getComponent("InfoContainer", true)),
              createElement(
                "div",
                { className: "scheme-container" },
                createElement(getComponent("AuthorizeBtnContainer", true)),
              ),
              createElement(getComponent("operations", true)),
            ),
        },
        wrapComponents: {
          RequestBody: (Original, system) => (props) =>
            system.React.createElement(
              "div",
              null,
              drawChoices(system, props as unknown as Parameters<typeof drawChoices>[1]),
              system.React.createElement(Original, props),
            ),
          responses: (Original, system) => (props) =>
            system.React.createElement(
              "div",
              null,
              samplesOf(description, system, String(props["path"]), String(props["method"])),
              // Dozens of error codes would lie between a call and the next one. What a call was answered is shown at once.
              system.React.createElement(
                "details",
                { className: "responses", open: Boolean(props["tryItOutResponse"]) },
                system.React.createElement("summary", null, "Responses"),
                system.React.createElement(Original, props),
              ),
            ),
        },
      }),
    ],
  });
  keepAccessible(host);
  return ui;
}

/** Returns what lies at a place within a JSON value. */
function at(value: unknown, place: readonly string[]): unknown {
  return place.reduce((part, name) => (part as Readonly<Record<string, unknown>> | undefined)?.[name], value);
}

/** Returns a part of a description with each reference replaced by what it refers to; no part refers to itself. */
function resolve(description: Description, part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((item) => resolve(description, item));
  const { $ref, ...rest } = part as { readonly $ref?: string };
  const referred = $ref === undefined ? {} : resolve(description, at(description, $ref.slice(2).split("/")));
  return Object.assign(
    {},
    referred,
    Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, resolve(description, value)])),
  );
}

/** Opens the operation that the address names after `#`, and scrolls to it. */
function openLinked({ paths }: Description, ui: SwaggerSystem): void {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const named = operations.find(({ operationId }) => `#${operationId}` === location.hash);
  if (named === undefined) return;
  const place = [named.tags[0], named.operationId];
  ui.layoutActions.show(["operations", ...place], true);
  const goThere = (): boolean => {
    const block = document.querySelector(`[id="operations-${place.join("-")}"].is-open`);
    block?.scrollIntoView();
    return block !== null;
  };
  if (goThere()) return;
  // On a first load, the operation is rendered a little later.
  const drawn = new MutationObserver(() => goThere() && drawn.disconnect());
  drawn.observe(host, { childList: true, subtree: true, attributeFilter: ["class"] });
}

/** Renders an operation's samples, which are placed before its responses. */
function samplesOf(description: Description, system: SwaggerSystem, path: string, method: string) {
  const { createElement } = system.React;
  const operation = description.paths[path]?.[method];
  if (operation === undefined) return null;
  return createElement(
    "div",
    { className: "samples" },
    createElement(
      "p",
      null,
      createElement("a", { href: `#${operation.operationId}` }, `Link to ${operation.operationId}`),
    ),
    ...writeSamples(describeCall(method, path, operation)).map(({ name, text }) =>
      createElement(
        "details",
        { key: name },
        createElement("summary", null, name),
        createElement("pre", { "aria-label": `${name}: ${operation.operationId}`, role: "region" }, text),
      ),
    ),
  );
}

/** Takes a live key of the first dapp if the reader is signed in to the application. Returns a message for the reader. */
async function takeKey(ui: SwaggerSystem): Promise<string> {
  const answer = await fetch("/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ pageKey: readPageKey() }),
  });
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  const { data } = (await answer.json()) as { readonly data: { readonly token?: string | null } };
  if (typeof data.token !== "string") return "Sign in to the application first.";
  const operator = createOperator({ baseUrl: location.origin, token: data.token, retries: RETRIES });
  for (const { id, name } of await operator.dapps()) {
    const key = (await operator.keys(id)).find(({ revokedAt }) => revokedAt === null);
    if (key === undefined) continue;
    ui.preauthorizeApiKey("apiKey", (await operator.revealKey(id, key.id)).apiKey);
    return `Calls from here use a key of the dapp ${name}.`;
  }
  return "No dapp has a live key.";
}

/** Renders the table of all error codes from the Markdown of the description. */
function drawErrors(markdown: string): void {
  const [head = [], , ...rows] = markdown
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.slice(1, -1).split("|"));
  const row = (cells: readonly string[], tag: "th" | "td"): HTMLElement => {
    const line = document.createElement("tr");
    for (const cell of cells) line.append(fill(document.createElement(tag), cell.trim()));
    return line;
  };
  const table = document.querySelector("#errors table")!;
  const body = document.createElement("tbody");
  body.append(...rows.map((cells) => row(cells, "td")));
  const top = document.createElement("thead");
  top.append(row(head, "th"));
  table.replaceChildren(top, body);
}

/** Appends text that contains `code` spans to an element. */
function fill(element: HTMLElement, text: string): HTMLElement {
  text.split("`").forEach((part, i) => {
    if (i % 2 === 0) element.append(part);
    else element.append(Object.assign(document.createElement("code"), { textContent: part }));
  });
  return element;
}
