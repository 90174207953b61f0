import type { Static } from "typebox";
import { callSchemas } from "./callSchemas.ts";
import { DAPP_SCHEMAS, secretSchemas } from "./dappSchemas.ts";
import type { SchemaTerms } from "./parameterSchemas.ts";
import { PAGE_SCHEMAS, readSchemas } from "./readSchemas.ts";
import { triggerSchemas } from "./triggerSchemas.ts";

/** Creates the schema of the parameters of each kind of call. */
export function createRequestSchemas(terms: SchemaTerms) {
  return {
    ...callSchemas(terms),
    ...readSchemas(terms),
    ...secretSchemas(terms),
    ...triggerSchemas(terms),
    ...DAPP_SCHEMAS,
    ...PAGE_SCHEMAS,
  };
}

export type RequestSchemas = ReturnType<typeof createRequestSchemas>;

/** The parameters of a call once they are checked: defaults are filled in. */
export type Checked<Name extends keyof RequestSchemas> = ReadonlyAll<Static<RequestSchemas[Name]>>;

type ReadonlyAll<Value> = Value extends readonly (infer Item)[]
  ? readonly ReadonlyAll<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: ReadonlyAll<Value[Name]> }
    : Value;
