/** Files and folders beside the code that the code reads at run time. */
export const ASSETS: readonly string[] = [
  "plugins",
  "src/cli/answerShapes.json",
  "src/http/examples.json",
  "src/web/static",
  "src/web/typeface",
  "src/presets/modules",
  "sandbox/functions.d.ts",
  "sandbox/host/child/kernel/kernel.c",
];

/** Matches a module named outside an import, as for workers and child processes. */
export const MODULE_URL = /new URL\("([^"]+)\.ts", import\.meta\.url\)/g;
