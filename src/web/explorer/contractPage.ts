import type { ContractView } from "../../explorer/listViews.ts";
import { code, copyable, copyButton, count, groupDigits } from "../format.ts";
import { html, type Html } from "../html.ts";
import { facts, folded, listing, tag } from "./parts.ts";

/** What an address's pages have above them. */
export function addressTabs(network: string, address: string, current: "transactions" | "contract"): Html {
  const base = `/explorer/${network}/address/${address}`;
  const tab = (name: typeof current, path: string, text: string) =>
    html`<a href="${path}"${name === current && html` aria-current="page"`}>${text}</a>`;
  return html`<nav class="tabs" aria-label="Address">${tab("transactions", base, "Transactions")}${tab("contract", `${base}/contract`, "Contract")}</nav>`;
}

/** Body of the page of a contract's source, interface and build. */
export function contractPage(view: ContractView): Html {
  const { network, address, name, abi, build } = view;
  const abiText = JSON.stringify(abi, null, 2);
  return html`<h1>${name}</h1>
<p class="subject">${copyable(address, "address")}</p>
${addressTabs(network, address, "contract")}
<section class="panel" id="build"><h2>Build</h2>${facts([
    [
      "Known source",
      build === null ? tag("not built from it", "bad") : tag("built from this source", "good"),
    ],
    ["Compiler", build !== null && html`solc ${code(build.compiler)}`],
    ["Optimizer", build !== null && `${groupDigits(String(build.optimizerRuns))} runs`],
    ["EVM version", build !== null && build.evmVersion],
  ])}
<p class="note">${build === null ? "The code at this address differs from what the compiler makes of the source that this service has, so that source is not shown." : "The code at this address was compared just now, byte by byte, with what the compiler made of this source. The values of immutable variables, which the constructor sets, may differ."}</p></section>
${build !== null && html`<section class="panel" id="source"><h2>Source <span class="count">${count(build.sources.length, "file")}</span></h2>${build.sources.map(({ path, content }, i) => (i === 0 ? html`<h3>${code(path)} ${copyButton(content, path)}</h3>${listing(content, path)}` : folded(code(path), listing(content, path))))}</section>`}
<section class="panel" id="abi"><h2>ABI ${copyButton(JSON.stringify(abi), "ABI")}</h2>${folded(count(abi.length, "entry").replace("entrys", "entries"), listing(abiText, "ABI"))}</section>`;
}
