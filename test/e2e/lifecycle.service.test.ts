import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeDataDir, removeDataDir, runTyche, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

const dataDirs: string[] = [];
const newDataDir = (): string => {
  const dataDir = makeDataDir();
  dataDirs.push(dataDir);
  return dataDir;
};
const coinflip = (tyche: TycheProcess) => tyche.call("POST", "/api/vrfv2/presets?network=fuji", { body: {} });
const rpc = async (url: string, method: string, params: readonly unknown[]) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return ((await response.json()) as { result: unknown }).result;
};
const rpcUrlOf = async (tyche: TycheProcess, network: string): Promise<string> => {
  const { data } = await tyche.call("GET", "/api/networks");
  return data.items.find((one: { name: string }) => one.name === network).rpcUrl;
};
/** Takes a port, unless another program has it. */
const hold = async (port: number): Promise<Server> => {
  const server = createServer();
  await new Promise<void>((resolve) =>
    server.once("error", () => resolve()).listen(port, "127.0.0.1", resolve),
  );
  return server;
};

afterEach(() => {
  for (const dataDir of dataDirs.splice(0)) removeDataDir(dataDir);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "after %s a second start goes on with keys, subscriptions and chains",
  async (signal) => {
    const dataDir = newDataDir();
    const first = await startTycheProcess({ dataDir, networks: ["fuji", "sepolia"] });
    const { data } = await coinflip(first);
    const config = await runTyche(["dapp", "config", "--json"], { TYCHE_DATA_DIR: dataDir });
    const code = await first.stop(signal);
    expect(code).toBe(signal === "SIGTERM" ? 0 : null);
    expect(/stopped after \d+\.\d s/.test(first.output())).toBe(signal === "SIGTERM");

    const second = await startTycheProcess({ dataDir });
    expect(second.output()).toContain("continued");
    expect(second.apiKey).toBe(first.apiKey);
    const { output } = await runTyche(["dapp", "config", "--json"], { TYCHE_DATA_DIR: dataDir });
    // Between the two starts another program may take a port; the start then names the new one.
    const moved = [
      ...second.output().matchAll(/port (\d+) is taken .*? is now http:\/\/127\.0\.0\.1:(\d+)/g),
    ];
    expect(output).toBe(
      moved.reduce(
        (text, [, from, to]) => text.replaceAll(`127.0.0.1:${from}"`, `127.0.0.1:${to}"`),
        config.output,
      ),
    );
    expect(
      await rpc(await rpcUrlOf(second, "fuji"), "eth_getTransactionReceipt", [data.vrfv2Hash]),
    ).toMatchObject({ status: "0x1" });
    expect((await coinflip(second)).data.success).toBe(true);
    await second.stop();
  },
);

test("keeps all files and folders readable for their owner, and for nobody else, whatever the umask is", async () => {
  const tyche = await startTycheProcess({
    networks: ["fuji"],
    under: ["sh", "-c", 'umask 777; exec "$@"', "sh"],
  });
  const isOwners = (name: string): boolean => {
    const stats = statSync(path.join(tyche.dataDir, name), { throwIfNoEntry: false });
    return stats === undefined || (stats.mode & 0o777) === (stats.isDirectory() ? 0o700 : 0o600);
  };
  const names = readdirSync(tyche.dataDir, { recursive: true }).map(String);
  expect(names).toContain("chains/fuji/anvil.pid");
  expect(names.filter((name) => !isOwners(name))).toEqual([]);
  expect(readFileSync(path.join(tyche.dataDir, "api-key"), "utf8").trim()).toBe(tyche.apiKey);
  expect(tyche.output()).not.toContain(tyche.apiKey);
  await tyche.stop();
});

test("a request in flight is answered before the end", async () => {
  const dataDir = newDataDir();
  // A busy machine may take longer than the default.
  const config = { networks: { fuji: "embedded" }, http: { closeGraceMs: 20_000 } };
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify(config));
  const tyche = await startTycheProcess({ dataDir });
  const answer = tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji&confirmations=200");
  let accepted = 0;
  while (accepted === 0) accepted = (await tyche.call("GET", "/api/requests")).data.items.length;
  const [code, { status, data }] = await Promise.all([tyche.stop(), answer]);
  expect(code).toBe(0);
  expect(status).toBe(200);
  expect(data.success).toBe(true);
});

test("a user's own transaction is mined on the printed RPC URL", async () => {
  const tyche = await startTycheProcess({ networks: ["sepolia"] });
  const url = await rpcUrlOf(tyche, "sepolia");
  const { output } = await runTyche(["dapp", "config", "--env"], { TYCHE_DATA_DIR: tyche.dataDir });
  expect(output).toContain(`SEPOLIA_RPC_URL=${url}\n`);
  expect(output.match(/^\w+_CHAIN_ID/gm)).toEqual(["SEPOLIA_CHAIN_ID"]);
  const [from] = (await rpc(url, "eth_accounts", [])) as string[];
  // Creation code of a contract whose only byte of code is STOP.
  const hash = await rpc(url, "eth_sendTransaction", [
    { from, data: "0x6001600081600b8239f300", gas: "0x186a0" },
  ]);
  await expect
    .poll(() => rpc(url, "eth_getTransactionReceipt", [hash]), { interval: 20 })
    .toMatchObject({ status: "0x1" });
  await tyche.stop();
});

test.each([
  ["creates", "new"],
  ["fills", ""],
])("the port is in use, which a start that %s its directory says first", async (_what, name) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const parent = newDataDir();
  const dataDir = path.join(parent, name);
  const { code, output } = await runTyche(["start"], { PORT: String(port), TYCHE_DATA_DIR: dataDir });
  server.close();
  expect(code).toBe(1);
  expect(readdirSync(parent)).toEqual([]);
  expect(output).toBe(
    `Tyche is starting\nerror: port ${port} on 127.0.0.1 is in use; set PORT to another one, or to 0 for a free one\n`,
  );
});

test("the port of a chain is in use, which is told in one line", async () => {
  const dataDir = newDataDir();
  // Held while the chain is new, so that it begins with a port that nobody else wants.
  const usual = await hold(8547);
  const first = await startTycheProcess({ dataDir, networks: ["fuji"] });
  const { port } = new URL(await rpcUrlOf(first, "fuji"));
  await first.stop();
  const held = await hold(Number(port));
  const second = await startTycheProcess({ dataDir });
  const url = await rpcUrlOf(second, "fuji");
  await second.stop();
  for (const server of [usual, held]) server.close();
  // Others may hold the usual ports of the other chains.
  expect(second.output()).toMatch(
    new RegExp(`^ {2}! ports? (?:\\d+, )*${port}(?:, \\d+)* (?:is|are) taken by .*$`, "m"),
  );
  expect(second.output()).toMatch(new RegExp(`^ {2}✓ fuji +${url} `, "m"));
  expect(second.output()).not.toContain('"level"');
});

test("a second process on the same data directory, which goes on serving", async () => {
  const tyche = await startTycheProcess({ networks: ["fuji"] });
  const { code, output } = await runTyche(["start"], { PORT: "0", TYCHE_DATA_DIR: tyche.dataDir });
  expect(code).toBe(1);
  expect(output).toContain("another process serves from");
  expect((await coinflip(tyche)).data.success).toBe(true);
  await tyche.stop();
});

test("a foreign folder, which stays as it is", async () => {
  const dataDir = newDataDir();
  writeFileSync(path.join(dataDir, "thesis.txt"), "mine");
  const { code, output } = await runTyche(["start"], { PORT: "0", TYCHE_DATA_DIR: dataDir });
  expect(code).toBe(1);
  expect(output).toContain("holds files that are not Tyche's");
  expect(existsSync(path.join(dataDir, "tyche.sqlite"))).toBe(false);
});

test("says in a sentence that the working directory was removed", async () => {
  const under = ["sh", "-c", 'gone=$(mktemp -d); cd "$gone"; rmdir "$gone"; exec "$@"', "sh"];
  await expect(startTycheProcess({ under })).rejects.toThrow(
    "error: the working directory no longer exists; change to one that does",
  );
});

test("PORT is no port", async () => {
  const { code, output } = await runTyche(["start"], { PORT: "http", TYCHE_DATA_DIR: newDataDir() });
  expect(code).toBe(1);
  expect(output).toContain('PORT must be a whole number from 0 to 65535; got "http"');
});

test("TYCHE_ACCEPT_MISSING names no layer of the sandbox", async () => {
  const { code, output } = await runTyche(["start"], {
    PORT: "0",
    TYCHE_DATA_DIR: newDataDir(),
    TYCHE_ACCEPT_MISSING: "seccomp",
  });
  expect(code).toBe(1);
  expect(output).toContain(
    'error: TYCHE_ACCEPT_MISSING "seccomp" can\'t be used: an entry is a layer of the sandbox, one of system-calls, user',
  );
  expect(output).not.toContain("    at ");
});

test.each([
  [
    "TYCHE_ALLOW_HOSTS",
    "127.0.0.1:8080,http://intern",
    '"http://intern"',
    "a host and port (127.0.0.1:8080)",
  ],
  ["TYCHE_ALLOW_MODULES", "npm:ethers,esm.sh", '"esm.sh"', "ends in / (https://esm.sh/)"],
])(
  "nonsense in %s ends the start with the bad entry and the form it should have",
  async (name, value, entry, form) => {
    const { code, output } = await runTyche(["start"], {
      PORT: "0",
      TYCHE_DATA_DIR: newDataDir(),
      [name]: value,
    });
    expect(code).toBe(1);
    expect(output).toContain(`error: ${name} ${entry} can't be used: an entry is a`);
    expect(output).toContain(form);
    expect(output).not.toContain("    at ");
  },
);
