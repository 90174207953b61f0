import { createRequire } from "node:module";

/** Version of the package, from its `package.json`. */
export const { version } = createRequire(import.meta.url)("../../package.json") as {
  readonly version: string;
};
