/** Node's errors for arguments, as Deno's Node modules give them. */

/** `ERR_OUT_OF_RANGE`. */
export function outOfRange(name: string, range: string, value: unknown): RangeError {
  const text =
    typeof value === "bigint"
      ? `${withUnderscores(String(value))}n`
      : typeof value === "number" && Number.isInteger(value) && Math.abs(value) > 2 ** 32
        ? withUnderscores(String(value))
        : String(value);
  return Object.assign(
    new RangeError(`The value of "${name}" is out of range. It must be ${range}. Received ${text}`),
    {
      code: "ERR_OUT_OF_RANGE",
    },
  );
}

/** `ERR_INVALID_ARG_TYPE`. */
export function wrongType(name: string, expected: string, value: unknown): TypeError {
  return Object.assign(
    new TypeError(`The "${name}" argument must be of type ${expected}. Received ${describe(value)}`),
    {
      code: "ERR_INVALID_ARG_TYPE",
    },
  );
}

/** What Node says of a value after `Received`. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "object") {
    const name = (value.constructor as { name?: string } | undefined)?.name;
    return name ? `an instance of ${name}` : "[Object: null prototype] {}";
  }
  const text =
    typeof value === "string"
      ? `'${value.length > 28 ? `${value.slice(0, 25)}...` : value}'`
      : typeof value === "bigint"
        ? `${value}n`
        : String(value);
  return `type ${typeof value} (${text})`;
}

function withUnderscores(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, "_");
}
