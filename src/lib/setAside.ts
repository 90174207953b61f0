import { existsSync, renameSync } from "node:fs";

/**
 * Renames an unusable file or folder to a name beside it that includes the time: nothing is ever deleted at startup.
 *
 * @returns the new path.
 */
export function setAside(path: string): string {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
  let name = `${path}.set-aside-${time}`;
  for (let i = 2; existsSync(name); i += 1) name = `${path}.set-aside-${time}-${i}`;
  renameSync(path, name);
  return name;
}
