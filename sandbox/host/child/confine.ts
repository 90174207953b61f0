/**
 * Gives up, before any caller's code runs, what only starting up needed: reading files, loading native code and, where
 * the parent could not start this process as an unprivileged user, the root identity.
 * @param dropToUid Decimal user and group id to change to; empty: the parent has done so, or may not.
 */
export function confine(dropToUid: string): void {
  if (dropToUid !== "") {
    const id = Number(dropToUid);
    process.setgroups?.([]);
    process.setgid?.(id);
    process.setuid?.(id);
    if (process.getuid?.() !== id) throw new Error("the sandbox process could not give up its user");
  }
  const { permission } = process;
  permission.drop("fs");
  permission.drop("addon");
  const left = SCOPES.filter((scope) => permission.has(scope));
  if (left.length > 0) throw new Error(`the sandbox process could not give up ${left.join(", ")}`);
}

/** Everything Node's permission model knows. A scope it does not know is dropped without a word, hence the check. */
const SCOPES = ["fs", "fs.read", "fs.write", "addon", "child", "worker", "net", "inspector", "wasi", "ffi"];
