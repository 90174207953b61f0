import { Type } from "typebox";
import { EXPECTED } from "../lib/schemaCheck.ts";

/** The name of an environment variable, for what must not stand in the file. */
export const variableName = (description: string) =>
  Type.String({
    pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
    [EXPECTED]: "the name of a variable",
    description,
  });

/** An object takes no members that its schema does not name. */
export const STRICT = { additionalProperties: false } as const;
