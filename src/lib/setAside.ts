import { existsSync, renameSync } from "node:fs";

/**
 * Moves a file or folder that can't be used out of the way, under a name beside it that says when: nothing is ever deleted at a start.
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
