/** Makes clients of the description at FOLDER/openapi.json: `openapiTypescript.ts` and the folder `heyApi`. Usage: `generate.js FOLDER` */
import { readFileSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import process from "node:process";

const folder = path.resolve(process.argv[2]);
const description = JSON.parse(readFileSync(path.join(folder, "openapi.json"), "utf8"));

// The generators write TypeScript with its compiler's interface, which version 7 no longer has.
const compiler = new URL("typescript.js", import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) => next(specifier === "typescript" ? compiler : specifier, context),
});
// Imported once the hook is there: they load the compiler as they are loaded.
const { default: openapiTypescript, astToString } = await import("openapi-typescript");
const { createClient } = await import("@hey-api/openapi-ts");

writeFileSync(path.join(folder, "openapiTypescript.ts"), astToString(await openapiTypescript(description)));
await createClient({
  input: description,
  output: path.join(folder, "heyApi"),
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
  logs: { level: "silent" },
});
