import { isObject } from "../lib/isObject.ts";

/**
 * Checks that a value that another program sent is a `T`. Returns what is wrong with it, such as `items[0].id must be a text`, or
 * `undefined`. A shape fits an answer whose type in `src/api/types.ts` extends `T`: the compiler refuses any other.
 *
 * @param path what to call the value.
 */
export interface Shape<in T> {
  (value: unknown, path: string): string | undefined;
  /** Never there; it carries the type. */
  readonly isFor?: (value: T) => void;
}

/** An object in which the members that may be undefined may be absent. */
type Members<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
};

export const text: Shape<string> = (value, path) =>
  typeof value === "string" ? undefined : `${path} must be a text`;

export const number: Shape<number> = (value, path) =>
  typeof value === "number" ? undefined : `${path} must be a number`;

export const flag: Shape<boolean> = (value, path) =>
  typeof value === "boolean" ? undefined : `${path} must be true or false`;

/** A whole number in decimal digits. */
export const decimal: Shape<string> = (value, path) =>
  typeof value === "string" && /^[0-9]{1,80}$/.test(value)
    ? undefined
    : `${path} must be a whole number in decimal digits`;

export const anything: Shape<unknown> = () => undefined;

export const absent: Shape<undefined> = (value, path) =>
  value === undefined ? undefined : `${path} must be left out`;

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, path) => (value === null ? undefined : shape(value, path));
}

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, path) =>
    Array.isArray(value)
      ? firstProblem(value.entries(), ([i, item]) => shape(item, `${path}[${i}]`))
      : `${path} must be a list`;
}

/** An object with at least these members. */
export function object<T>(members: { readonly [K in keyof T]: Shape<T[K]> }): Shape<Members<T>> {
  return (value, path) =>
    isObject(value)
      ? firstProblem(Object.entries<Shape<never>>(members), ([name, shape]) =>
          shape(value[name], join(path, name)),
        )
      : `${path} must be an object`;
}

/** An object whose members all have the same shape. */
export function recordOf<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, path) =>
    isObject(value)
      ? firstProblem(Object.entries(value), ([name, member]) => shape(member, join(path, name)))
      : `${path} must be an object`;
}

function firstProblem<Item>(
  items: Iterable<Item>,
  check: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
