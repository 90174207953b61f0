import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encryptKeystoreJsonSync } from "ethers";
import { afterAll, expect, test } from "vitest";
import { loadOperatorKey } from "../../../src/app/network/operatorKey.ts";

const SECRET_KEY = `0x${"2a".repeat(32)}`;
const ADDRESS = "0xff9fd43afb8a6dd78a0a0f1ae2d0be3e64d1e3b2";
const folder = mkdtempSync(join(tmpdir(), "tyche-operator-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keystore = join(folder, "key.json");
const passwordFile = join(folder, "key.pass");
writeFileSync(
  keystore,
  encryptKeystoreJsonSync({ address: ADDRESS, privateKey: SECRET_KEY }, "pass word ", {
    scrypt: { N: 1024, r: 8, p: 1 },
  }),
);
writeFileSync(passwordFile, "pass word \n");

const load = async (key: Parameters<typeof loadOperatorKey>[0]["key"], environment = {}) =>
  (await loadOperatorKey({ network: "mychain", key, environment })).address;
const fromVariable = await load({ env: "KEY" }, { KEY: SECRET_KEY });

test("a variable, a key file and a remote signer name one account", async () => {
  expect(await load({ keystore, passwordFile })).toBe(fromVariable);
  expect(await load({ remote: { url: "http://127.0.0.1:1", address: fromVariable } })).toBe(fromVariable);
});

test("no key, none in the variable, no file and a wrong password each say what is missing, and no secret", async () => {
  const wrong = join(folder, "wrong.pass");
  writeFileSync(wrong, "hunter2");
  const cases = [
    [undefined, "networks.mychain.operatorKey is missing"],
    [{ env: "NONE" }, "NONE, which holds the operator's key of mychain, is not set"],
    [{ keystore, passwordFile: join(folder, "none") }, "networks.mychain.operatorKey.passwordFile"],
    [{ keystore: folder, passwordFile }, "networks.mychain.operatorKey.keystore"],
    [{ keystore, passwordFile: wrong }, "password is wrong"],
  ] as const;
  for (const [key, message] of cases) {
    const error = await load(key).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message).toContain(message);
    expect(error?.message).not.toMatch(/hunter2|2a2a/);
  }
});
