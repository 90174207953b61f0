/**
 * Checks a value that another program sent. Returns what is wrong with it, such as `items[0].id must be a text`, or `undefined`.
 *
 * @param path what to call the value.
 */
export type Shape = (value: unknown, path: string) => string | undefined;

export const text: Shape = (value, path) =>
  typeof value === "string" ? undefined : `${path} must be a text`;

export const number: Shape = (value, path) =>
  typeof value === "number" ? undefined : `${path} must be a number`;

export const flag: Shape = (value, path) =>
  typeof value === "boolean" ? undefined : `${path} must be true or false`;

/** A whole number in decimal digits. */
export const decimal: Shape = (value, path) =>
  typeof value === "string" && /^[0-9]{1,80}$/.test(value)
    ? undefined
    : `${path} must be a whole number in decimal digits`;

export const anything: Shape = () => undefined;

export const absent: Shape = (value, path) => (value === undefined ? undefined : `${path} must be left out`);

export function nullable(shape: Shape): Shape {
  return (value, path) => (value === null ? undefined : shape(value, path));
}

export function optional(shape: Shape): Shape {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}

export function listOf(shape: Shape): Shape {
  return (value, path) =>
    Array.isArray(value)
      ? firstProblem(value.entries(), ([i, item]) => shape(item, `${path}[${i}]`))
      : `${path} must be a list`;
}

/** An object with at least these members. */
export function object(members: Readonly<Record<string, Shape>>): Shape {
  return (value, path) =>
    isObject(value)
      ? firstProblem(Object.entries(members), ([name, shape]) => shape(value[name], join(path, name)))
      : `${path} must be an object`;
}

/** An object whose members all have the same shape. */
export function recordOf(shape: Shape): Shape {
  return (value, path) =>
    isObject(value)
      ? firstProblem(Object.entries(value), ([name, member]) => shape(member, join(path, name)))
      : `${path} must be an object`;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
