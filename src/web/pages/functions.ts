import { plainText, html } from "../html.ts";
import type { Site } from "../site.ts";

/**
 * Adds `/functions`, the playground: an editor that dry-runs a source and runs it on a network.
 *
 * The page calls the public API with a key of the dapp that is chosen. It gets the key as a person does who reveals it: by a POST with
 * the form token of this session, which a page of another origin can't send. The page holds the key in memory alone.
 */
export function functionRoutes(site: Site): void {
  const { dapps, service } = site.deps;

  site.get("/functions", async (ctx) => {
    const users = (await dapps.list()).filter(({ facilities }) => facilities.includes("functions"));
    const choices = await Promise.all(
      users.map(async ({ id, name }) => {
        const key = (await dapps.keys(id)).find(({ apiKey }) => apiKey !== null);
        return { id, name: plainText(name), keyId: key?.id ?? null };
      }),
    );
    const model = {
      dapps: choices,
      networks: service.networks().map(({ name, title, functions }) => ({
        name,
        title,
        maxSourceBytes: functions.maxSourceBytes,
        maxResponseBytes: functions.maxResponseBytes,
      })),
      token: site.deps.access.formToken(ctx),
    };
    site.show(ctx, {
      title: "Functions",
      section: "functions",
      app: "playground",
      body: html`<h1>Functions</h1>
<p class="lead">Write a source, dry-run it in the sandbox of the oracle's nodes, then run it on a network.</p>
${
  choices.length === 0
    ? html`<p class="panel">No dapp is permitted to use functions: <a href="/">create one that is</a>.</p>`
    : html`<div id="playground" data-model="${JSON.stringify(model)}"><p class="panel note">The editor needs JavaScript. Without it, <code>tyche simulate</code> and <code>tyche call run</code> do the same on the command line.</p></div>`
}`,
    });
  });
}
