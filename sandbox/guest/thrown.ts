import { Error, cutText, hasInstance, parse, slice, stringify } from "./builtins.ts";

/**
 * Reads a thrown value as the nodes' library does; its getters are the caller's code and may throw. Message and stack
 * are at most `maxChars` long; the stack is `""` if there is none.
 */
export function readThrown(
  thrown: unknown,
  maxChars: number,
): { readonly message: string; readonly stack: string } {
  let message = `invalid value thrown of type ${typeof thrown}`;
  let stack = "";
  if (hasInstance(Error, thrown)) {
    const error = thrown as Error;
    const name: unknown = error.name ?? "Error";
    const given: unknown = error.message ?? "invalid value returned";
    const trace: unknown = error.stack ?? undefined;
    message = reportedText({ name, message: given, details: trace }, maxChars);
    if (name === "PermissionDenied") message = "attempted access to blocked resource detected";
    if (typeof trace === "string") stack = slice(trace, 0, maxChars);
  } else if (typeof thrown === "string") message = slice(thrown, 0, maxChars);
  return { message, stack };
}

/**
 * Returns the message as the nodes report it. They forward name, message and stack as JSON, so a message that isn't a
 * string arrives in its JSON form, and a value that JSON refuses ends the program.
 */
function reportedText(
  error: { readonly name: unknown; readonly message: unknown; readonly details: unknown },
  maxChars: number,
): string {
  const { name, message, details } = error;
  if (
    typeof name === "string" &&
    typeof message === "string" &&
    (details === undefined || typeof details === "string")
  ) {
    return slice(message, 0, maxChars);
  }
  const sent = (parse(stringify({ error })) as { error: { message?: unknown } }).error.message;
  return cutText(typeof sent === "string" ? sent : (stringify(sent) ?? ""), maxChars);
}
