/** Draws `/docs`: the description of the API in Swagger UI, with samples of each call, and the key of whoever is signed in to the application. */
import SwaggerUIBundle, { type SwaggerSystem } from "swagger-ui-dist/swagger-ui-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import { createOperator } from "../../client/index.ts";
import { keepAccessible } from "./accessible.ts";
import { describeCall } from "./describedCall.ts";
import "./docs.css";
import { writeSamples } from "./samples.ts";

const host = document.querySelector("#docs")!;
const button = document.querySelector<HTMLButtonElement>("#take-key")!;
const told = document.querySelector("#told")!;

type Operations = Readonly<Record<string, Readonly<Record<string, Parameters<typeof describeCall>[2]>>>>;
interface Description {
  readonly info: { readonly description: string };
  readonly paths: Operations;
}

const description = (await (await fetch("/openapi.json")).json()) as Description;
const [introduction = "", errors = ""] = description.info.description.split(/\n\n(?=\| Code \|)/);

/** Under each operation, before what it answers. */
const samples = (system: SwaggerSystem, path: string, method: string) => {
  const { createElement } = system.React;
  const operation = description.paths[path]?.[method];
  if (operation === undefined) return null;
  return createElement(
    "div",
    { className: "samples" },
    ...writeSamples(describeCall(method, path, operation)).map(({ name, text }) =>
      createElement(
        "details",
        { key: name },
        createElement("summary", null, name),
        createElement("pre", { "aria-label": `${name}: ${operation.operationId}`, role: "region" }, text),
      ),
    ),
  );
};

const ui = SwaggerUIBundle({
  // One server, its own: nothing to choose. Errors come last.
  spec: { ...description, servers: undefined, info: { ...description.info, description: introduction } },
  domNode: host,
  docExpansion: "list",
  layout: "TycheLayout",
  // Links within the buttons that unfold an operation could not be reached with a keyboard.
  deepLinking: false,
  defaultModelsExpandDepth: -1,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // The key is kept in memory alone.
  persistAuthorization: false,
  validatorUrl: null,
  syntaxHighlight: false,
  plugins: [
    ({ React: { createElement } }) => ({
      // What the usual layout has in it, without landmarks of its own: the page has them.
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
        responses: (Original, system) => (props) =>
          system.React.createElement(
            "div",
            null,
            samples(system, String(props["path"]), String(props["method"])),
            system.React.createElement(Original, props),
          ),
      },
    }),
  ],
});
keepAccessible(host);
drawErrors(errors);
button.addEventListener("click", () => void takeKey());

/** Takes over a live key of the first dapp, if whoever reads is signed in to the application. */
async function takeKey(): Promise<void> {
  told.textContent = "";
  const answer = await fetch("/session", { method: "POST" });
  const { data } = (await answer.json()) as { readonly data: { readonly token?: string | null } };
  if (typeof data.token !== "string") {
    told.textContent = "Sign in to the application first.";
    return;
  }
  const operator = createOperator({ baseUrl: location.origin, token: data.token });
  for (const { id, name } of await operator.dapps()) {
    const key = (await operator.keys(id)).find(({ revokedAt }) => revokedAt === null);
    if (key === undefined) continue;
    ui.preauthorizeApiKey("apiKey", (await operator.revealKey(id, key.id)).apiKey);
    told.textContent = `Calls from here use a key of the dapp ${name}.`;
    return;
  }
  told.textContent = "No dapp has a live key.";
}

/** The table of all error codes, out of the Markdown of the description. */
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

/** Text with `code` in it. */
function fill(element: HTMLElement, text: string): HTMLElement {
  text.split("`").forEach((part, i) => {
    if (i % 2 === 0) element.append(part);
    else element.append(Object.assign(document.createElement("code"), { textContent: part }));
  });
  return element;
}
