import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { runCli } from "../cli/runCli.ts";
import { createSessionBrowser, signUp } from "../support/passkey.ts";
import { connectOperator } from "../support/signIn.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

let tyche: TycheProcess | undefined;
afterEach(async () => {
  if (tyche === undefined) return;
  await tyche.stop();
  removeDataDir(tyche.dataDir);
});

async function start(env: Readonly<Record<string, string>>): Promise<TycheProcess> {
  const dataDir = makeDataDir();
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ networks: { fuji: "embedded" } }));
  tyche = await startTycheProcess({ dataDir, env });
  return tyche;
}

const COINFLIP = "/api/vrfv2/presets?network=fuji&preset=coinflip";
const serviceUrlOf = ({ dataDir }: TycheProcess): string =>
  readFileSync(path.join(dataDir, "service-url"), "utf8").trim();

/** Returns the status of a page for a Host header, which `fetch` doesn't let anyone set. */
function statusFor(url: string, host: string, origin?: string): Promise<number | undefined> {
  const headers = { host, ...(origin === undefined ? {} : { origin }) };
  return new Promise((resolve, reject) => {
    request(`${url}/metrics`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("links start with the public address, whose host name is answered to, and this machine uses its own", async () => {
  const service = await start({ TYCHE_PUBLIC_URL: "https://Tyche.example.org/" });
  const { url } = service;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(serviceUrlOf(service)).toBe(url);
  expect(service.output()).toContain("API       https://tyche.example.org\n");

  const { data } = await service.call("POST", COINFLIP, { body: {} });
  expect(data.url).toMatch(/^https:\/\/tyche\.example\.org\/explorer\/fuji\/tx\/0x[0-9a-f]{64}$/);
  expect(data.vrfv2EventHash).toMatch(/^https:\/\/tyche\.example\.org\/explorer\/fuji\/tx\/0x/);
  const { data: networks } = await service.call("GET", "/api/networks");
  expect(networks.items[0].explorerUrl).toBe("https://tyche.example.org/explorer/fuji");

  expect(await statusFor(url, "tyche.example.org")).toBe(200);
  expect(await statusFor(url, "other.example.org")).toBe(421);

  const operator = connectOperator(service);
  const { id } = await operator.createDapp({ name: "of a team" });
  const { link } = await operator.invite(id, "owner");
  expect(link).toMatch(/^https:\/\/tyche\.example\.org\/invitation#/);
  const { browser, passkey } = await signUp(url, link, "Ada", "https://tyche.example.org");
  const options = await browser.challenge();
  expect(options.rpId).toBe("tyche.example.org");
  const signIn = (origin: string) => browser.post("/session", { passkey: passkey.sign(options, origin) });
  expect((await signIn("http://tyche.example.org")).status).toBe(403);
  expect(await createSessionBrowser(url).post("/session/challenge", {})).toMatchObject({
    status: 400,
    data: { err: expect.stringContaining("open the application at https://tyche.example.org") },
  });
  const again = passkey.sign(await browser.challenge(), browser.origin);
  expect((await browser.post("/session", { passkey: again })).status).toBe(200);
});

test("a public address on a loopback name does not admit pages of other sites", async () => {
  const { url } = await start({ TYCHE_PUBLIC_URL: "http://localhost:8080" });
  expect(await statusFor(url, "localhost:8080")).toBe(200);
  expect(await statusFor(url, "localhost:8080", "https://other.example.org")).toBe(403);
});

test.each(["0.0.0.0", "::"])("on HOST=%s this machine is told a loopback address", async (host) => {
  const service = await start({ HOST: host });
  const { url, dataDir } = service;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(serviceUrlOf(service)).toBe(url);
  const { data } = await service.call("POST", COINFLIP, { body: {} });
  expect(data.url).toMatch(new RegExp(`^${url}/explorer/fuji/tx/0x`));
  const { code, stdout } = await runCli(["call", "coinflip", "--network", "fuji"], "", {
    TYCHE_DATA_DIR: dataDir,
  });
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[01]\n$/) });
});
