import type { Schema } from "./describeType.ts";
import type { CredentialKind } from "./samples.ts";

/** The part of the OpenAPI document that this page shows. */
export interface Description {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** An operation, where it is, and what it needs. */
export interface Operation extends DescribedOperation {
  readonly method: string;
  readonly path: string;
  /** `undefined`: everybody may call it. */
  readonly credential: CredentialKind | undefined;
}

/** A code that calls fail with. */
export interface ErrorRow {
  readonly code: string;
  readonly status: string;
  readonly meaning: string;
  readonly remedy: string;
}

/** Reads the service's description of its API, with every reference replaced by what it refers to. */
export async function readDescription(): Promise<Description> {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  const description = (await answer.json()) as Description;
  return { ...description, paths: resolve(description, description.paths) as Description["paths"] };
}

/** Lists the operations in the order of their groups. */
export function operationsOf({ tags, paths }: Description): readonly Operation[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method,
      path,
      credential: credentialOf(operation),
    })),
  );
  return tags.flatMap(({ name }) => all.filter((operation) => operation.tags[0] === name));
}

/** Returns the first example of a body. */
export function exampleOf({ example, examples = {} }: Content): unknown {
  return example ?? Object.values(examples)[0]?.value;
}

/** Splits the text of a description into the introduction and the rows of its table of errors. */
export function splitIntroduction({ info }: Description): {
  readonly introduction: string;
  readonly errors: readonly ErrorRow[];
} {
  const [introduction = "", table = ""] = info.description.split(/\n\n(?=\| Code \|)/);
  const errors = table
    .split("\n")
    .slice(2)
    .map((line) => line.slice(1, -1).split("|"))
    .map(([code = "", status = "", meaning = "", remedy = ""]) => ({
      code: code.replaceAll("`", "").trim(),
      status: status.trim(),
      meaning: meaning.trim(),
      remedy: remedy.trim(),
    }));
  return { introduction, errors };
}

/** Returns the codes that an operation fails with. */
export function codesOf({ responses }: DescribedOperation): readonly string[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { content }]) => Object.keys(content?.["application/json"]?.examples ?? {}));
}

/** Returns which credential an operation takes; `undefined`: none. */
export function credentialOf({ security }: DescribedOperation): CredentialKind | undefined {
  if (security?.length === 0) return undefined;
  return security?.some((scheme) => "operatorToken" in scheme) === true ? "operatorToken" : "apiKey";
}

/** Returns a part of a description with each reference replaced by what it refers to; no part refers to itself. */
function resolve(description: unknown, part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((item) => resolve(description, item));
  const { $ref, ...rest } = part as { readonly $ref?: string };
  const referred =
    $ref === undefined ? {} : (resolve(description, at(description, $ref.slice(2).split("/"))) as object);
  return {
    ...referred,
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, resolve(description, value)])),
  };
}

function at(value: unknown, place: readonly string[]): unknown {
  return place.reduce((part, name) => (part as Readonly<Record<string, unknown>> | undefined)?.[name], value);
}
