import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Package {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optional?: true;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  /** Contained in the archive of another package, whose hash covers it. */
  readonly inBundle?: true;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8")) as {
    packages: Record<string, Package>;
    dependencies: object;
    devDependencies: object;
  };
const packages = Object.entries(read("package-lock.json").packages).filter(([path]) => path !== "");

/** Whether a package is installed on the platform where the service runs and is tested: Linux x64 with glibc. */
const isInstalled = ([path, { os, cpu }]: readonly [string, Package]): boolean =>
  os?.includes("linux") !== false && cpu?.includes("x64") !== false && !path.endsWith("-musl");

// The registry that the lock file was created with lacks packages of other platforms (404 for those tried), and so their hashes.
test("every package that is installed on Linux x64 is pinned by its hash", () => {
  const unpinned = packages.filter(
    ([, { integrity, inBundle }]) => inBundle !== true && integrity?.startsWith("sha512-") !== true,
  );
  const open = unpinned.filter((one) => one[1].optional !== true || isInstalled(one));
  expect(open.map(([path]) => path)).toEqual([]);
});

test("nothing is installed from elsewhere than the registry", () => {
  const strangers = packages.filter(
    ([, { resolved }]) => resolved?.startsWith("https://registry.npmjs.org/") === false,
  );
  expect(strangers.map(([path]) => path)).toEqual([]);
});

test("the lock file is that of package.json", () => {
  const { dependencies, devDependencies } = read("package.json");
  expect(read("package-lock.json").packages[""]).toMatchObject({ dependencies, devDependencies });
});
