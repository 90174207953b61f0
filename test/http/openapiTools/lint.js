/**
 * Prints, as JSON, what Redocly and Spectral find by their recommended rules in the description at FILE, warnings and hints included: by
 * linter, a list of `{ rule, message, at }`. Usage: `lint.js FILE`
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectralCore from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";

const source = readFileSync(process.argv[2], "utf8");

const config = await createConfig({ extends: ["recommended"] });
const problems = await lintFromString({ source, config, absoluteRef: "/openapi.json" });
const linter = new spectralCore.Spectral();
linter.setRuleset({ extends: [[rulesets.oas, "recommended"]] });
const results = await linter.run(source);

const redocly = problems.map(({ ruleId, message, location }) => ({
  rule: ruleId,
  message,
  at: location[0]?.pointer,
}));
const spectral = results.map(({ code, message, path }) => ({ rule: code, message, at: path.join("/") }));
console.log(JSON.stringify({ redocly, spectral }));
