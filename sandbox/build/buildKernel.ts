import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publishFile } from "./publishFile.ts";

const SANDBOX_DIR = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(SANDBOX_DIR, "host", "child", "kernel", "kernel.c");

/** Name of the addon's file in the npm package. */
export const PACKAGED_KERNEL = `kernel-${process.platform}-${process.arch}.node`;

/**
 * Returns the path of the addon through which a sandbox process makes system calls. The npm package ships it for Linux on x64. Elsewhere
 * the C compiler builds it on first use, and it is cached under `node_modules/.cache/tyche` by the hash of its source.
 * @throws If there is no C compiler.
 */
export function buildKernel(): string {
  const packaged = join(SANDBOX_DIR, PACKAGED_KERNEL);
  if (existsSync(packaged)) return packaged;
  const modules = join(createRequire(import.meta.url).resolve("isolated-vm/package.json"), "..", "..");
  const folder = join(modules, ".cache", "tyche");
  const hash = createHash("sha256").update(readFileSync(SOURCE)).digest("hex").slice(0, 32);
  const path = join(folder, `${hash}-${PACKAGED_KERNEL}`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  publishFile(path, (draft) =>
    execFileSync("cc", ["-O2", "-s", "-shared", "-fPIC", "-o", draft, SOURCE], {
      stdio: ["ignore", "ignore", "pipe"],
    }),
  );
  return path;
}

/** Like {@link buildKernel}, but `null` where the addon isn't available. */
export function findKernel(): string | null {
  try {
    return process.platform === "linux" ? buildKernel() : null;
  } catch {
    return null;
  }
}

if (import.meta.main && process.platform === "linux") buildKernel();
