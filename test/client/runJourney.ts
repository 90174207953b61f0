import { runJourney } from "./journey.ts";

// For platforms other than Node: arguments come in whatever way the platform has.
const [baseUrl, apiKey] = (globalThis as unknown as { readonly Deno: { readonly args: [string, string] } })
  .Deno.args;
console.log(JSON.stringify(await runJourney(baseUrl, apiKey)));
