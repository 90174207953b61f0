import type { Dapp } from "../../requests/service.ts";
import { copyable } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import type { Page } from "../layout.ts";

const TABS = [
  { name: "overview", path: "", text: "Overview" },
  { name: "config", path: "/config-vars", text: "Fetch Config Vars" },
  { name: "consumers", path: "/consumers", text: "Consumers" },
  { name: "requests", path: "/requests", text: "Requests" },
  { name: "dry-runs", path: "/dry-runs", text: "Dry runs" },
  { name: "usage", path: "/usage", text: "Usage" },
  { name: "settings", path: "/settings", text: "Settings" },
] as const;

/** A page of a dapp: its name, its id, its tabs. */
export function dappPage(dapp: Dapp, tab: (typeof TABS)[number]["name"], body: Html, title?: string): Page {
  const { text } = TABS.find(({ name }) => name === tab)!;
  return {
    title: `${title ?? text} · ${dapp.name}`,
    section: "home",
    trail: [{ href: "/", text: "Home" }],
    body: html`<h1>${showText(dapp.name)}</h1>
<p class="subject">${copyable(dapp.id, "dapp id")}</p>
<nav class="tabs" aria-label="Dapp">${TABS.map(({ name, path, text: label }) => html`<a href="/dapps/${dapp.id}${path}"${name === tab && html` aria-current="page"`}>${label}</a>`)}</nav>
${body}`,
  };
}
