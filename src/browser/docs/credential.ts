import { isUsableKey } from "../../domain/usableKey.ts";
import { createOperator, ForbiddenError } from "../../client/index.ts";
import { readPageKey } from "../pageKey.ts";
import { h } from "./dom.ts";
import type { CredentialKind } from "./samples.ts";

/** Someone who pressed a button should hear of a failure sooner than a program. */
const RETRIES = 2;

/** The place where the reader authorizes the calls of this page. It keeps what is entered in memory only. */
export interface Authorization {
  readonly element: HTMLElement;
  /** Returns what a call sends in `Authorization`; empty if nothing was given. */
  credentialFor(kind: CredentialKind): string;
}

/** Creates the field for a credential, and the button that takes one of the dapps of whoever is signed in to the application. */
export function createAuthorization(): Authorization {
  const field = h("input", {
    id: "credential",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "told",
  });
  const button = h("button", { id: "take-key", type: "button" }, "Use a dapp's API key");
  const told = h("span", { id: "told", class: "note", role: "status" });
  /** The sign-in's token, for the calls that take no dapp's key. */
  let token = "";
  field.addEventListener("input", () => (token = ""));
  const take = async (): Promise<readonly (string | Node)[]> => {
    const taken = await readSignIn();
    if (taken === undefined) return [h("a", { href: "/sign-in" }, "Sign in to the application"), " first."];
    const operator = createOperator({ baseUrl: location.origin, token: taken, retries: RETRIES });
    for (const { id, name } of await operator.dapps()) {
      const keys = await operator.keys(id).catch((error: unknown) => {
        // Only owners see keys.
        if (error instanceof ForbiddenError) return [];
        throw error;
      });
      const key = keys.find((one) => isUsableKey(one) && one.access === "full");
      if (key === undefined) continue;
      field.value = (await operator.revealKey(id, key.id)).apiKey;
      token = taken;
      return [
        `Calls from here use a key of the dapp ${name}, and your sign-in where they need the operator token.`,
      ];
    }
    return ["No dapp that you own has a live key: ask an owner of yours for one."];
  };
  button.addEventListener("click", () => {
    told.textContent = "";
    take().then(
      (shown) => told.replaceChildren(...shown),
      (error: unknown) =>
        (told.textContent = `No key could be loaded: ${error instanceof Error ? error.message : String(error)}.`),
    );
  });
  const element = h(
    "section",
    { class: "panel", id: "authorize" },
    h("h2", {}, "Authorize"),
    h("label", { for: "credential" }, "API key of a dapp, or the operator token"),
    h("div", { class: "row" }, field, button),
    h(
      "p",
      { class: "note" },
      "For the calls that you send from this page. It is kept until you leave the page, and nowhere else.",
    ),
    told,
  );
  return {
    element,
    credentialFor: (kind) => (kind === "operatorToken" && token !== "" ? token : field.value.trim()),
  };
}

/** Returns the token of the reader's session in the application, if there is one. */
async function readSignIn(): Promise<string | undefined> {
  const answer = await fetch("/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ pageKey: readPageKey() }),
  });
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  const { data } = (await answer.json()) as { readonly data: { readonly token?: string | null } };
  return data.token ?? undefined;
}
