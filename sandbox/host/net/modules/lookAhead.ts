import type { Manifest, NpmPackage, NpmRegistry } from "./npmRegistry.ts";
import { dependencyRange } from "./packageFiles.ts";

/** Package ranges resolved before anything asks for them; a bundler finds the others as it meets them. */
export const MAX_AHEAD = 100;

/**
 * Chooses versions for a package's dependencies, level by level from the top as Deno does, and starts their downloads. A version that
 * the package itself pins thus also serves the levels below, whichever module happens to be read first. A dependency that can't be
 * fetched is left to whoever imports it.
 */
export async function lookAhead(npm: NpmRegistry, root: NpmPackage): Promise<void> {
  const seen = new Set<string>();
  let level: readonly Manifest[] = [root.manifest];
  while (level.length > 0) {
    const found = level.flatMap(dependenciesOf).flatMap(({ name, range }) => {
      const wanted = `${name}@${range}`;
      if (seen.has(wanted) || seen.size >= MAX_AHEAD) return [];
      seen.add(wanted);
      return npm.choose(name, range).catch(() => undefined);
    });
    level = (await Promise.all(found)).filter((manifest) => manifest !== undefined);
  }
}

function dependenciesOf(manifest: Manifest): readonly { readonly name: string; readonly range: string }[] {
  const dependencies = manifest["dependencies"];
  if (typeof dependencies !== "object" || dependencies === null) return [];
  return Object.keys(dependencies)
    .filter((name) => PACKAGE_NAME.test(name))
    .slice(0, MAX_AHEAD)
    .map((name) => dependencyRange(manifest, name))
    .filter((dependency) => dependency !== null);
}

const PACKAGE_NAME = /^(?:@[\w.~-]{1,100}\/)?[\w.~-]{1,214}$/;
