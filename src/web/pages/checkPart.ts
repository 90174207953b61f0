import type { NetworkView } from "../../requests/views.ts";
import { copyable } from "../format.ts";
import { html, type Html } from "../html.ts";

/**
 * How anybody checks a result without this service.
 *
 * @param hash transaction that delivered it.
 */
export function checkPart(name: string, network: NetworkView | undefined, hash: string): Html {
  const rpcUrl = network?.rpcUrl;
  const fields = new URLSearchParams({ tx: hash, ...(rpcUrl === undefined ? {} : { rpc: rpcUrl }) });
  const command = `npx tyche verify ${name} ${hash} --rpc-url ${rpcUrl ?? "https://ANY-NODE"}`;
  return html`<section class="panel" id="check"><h2>Verify without us</h2><p>Everything that decides this result is on chain. Two ways to check it take nobody's word but a node's:</p>
<ul><li><a href="/verifier.html#${fields.toString()}">The page that verifies</a> computes every step in your browser. It is a single file: save it, read it, open it from anywhere.</li>
<li>The command, on a machine of yours: ${copyable(command, "command")}</li></ul>
${network?.embedded && html`<p class="note">The operator of this service runs this chain and its oracle. The checks show that nothing was changed afterwards; they list what remains to be trusted.</p>`}</section>`;
}

/** The transaction of an explorer's page. */
export function hashOf(url: string): string {
  return url.split("/").at(-1) ?? "";
}
