import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** If the addon is not built, `node-gyp-build` throws. */
const WITHOUT_ADDON = `
const Module = require("node:module");
const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "node-gyp-build") throw new Error("No native build was found");
  return load.call(this, name, ...rest);
};`;
const USES = `
import { createAccount } from "${ROOT}/src/evm/account.ts";
import { createReportSigner } from "${ROOT}/src/oracle/signer.ts";
import { createProvingKey } from "${ROOT}/src/vrf/proof.ts";
const key = new Uint8Array(32).fill(7);
const outcomes = [createAccount, createReportSigner, createProvingKey].map((use) => {
  try {
    use(key);
    return "used";
  } catch (error) {
    return error.name;
  }
});
process.stdout.write(outcomes.join(" "));`;

test("without the native addon no key is used, wherever it is for", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  try {
    writeFileSync(path.join(folder, "without.cjs"), WITHOUT_ADDON);
    writeFileSync(path.join(folder, "uses.mjs"), USES);
    const args = ["--require", path.join(folder, "without.cjs"), path.join(folder, "uses.mjs")];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe(Array.from({ length: 3 }, () => "NativeAddonMissingError").join(" "));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
