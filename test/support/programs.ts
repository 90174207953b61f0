import path from "node:path";

/** Programs that tests start by the dozen, by the name of their bundled module. */
export const PROGRAMS = {
  tyche: "src/tyche.ts",
  crashEntry: "test/crash/crashEntry.ts",
  lyingNode: "test/external/support/lyingNode.ts",
} as const;

/** Returns the file to run for a program: bundled in the tests, its source elsewhere. */
export function programFile(name: keyof typeof PROGRAMS): string {
  const folder = process.env["BUNDLED_PROGRAMS"];
  return folder === undefined
    ? path.resolve(import.meta.dirname, "../..", PROGRAMS[name])
    : path.join(folder, `${name}.mjs`);
}
