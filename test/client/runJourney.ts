import { runJourney } from "./journey.ts";

// For platforms other than Node, which pass arguments in ways of their own.
const [baseUrl, apiKey] = (globalThis as unknown as { readonly Deno: { readonly args: [string, string] } })
  .Deno.args;
console.log(JSON.stringify(await runJourney(baseUrl, apiKey)));
