import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectOperator } from "../support/signIn.ts";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { runCli as run, startCli } from "./runCli.ts";

let tyche: TycheProcess;
let folder: string;
beforeAll(async () => {
  tyche = await startTycheProcess();
  folder = mkdtempSync(path.join(tmpdir(), "tyche-cli-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await tyche.stop();
});

const runCli = (args: readonly string[], input = "") => run(args, input, { TYCHE_DATA_DIR: tyche.dataDir });

test("call finds the running service and its key, and prints the value alone", async () => {
  const { code, stdout, stderr } = await runCli(["call", "range", "min=7", "max=7", "--network", "fuji"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "7\n" });
  expect(stderr).toContain("/explorer/fuji/tx/0x");
});

test("call random draws words, and call run runs a source", async () => {
  const source = "return Functions.encodeUint256(BigInt(args[0]) * 2n)";
  const [random, ran] = await Promise.all([
    runCli(["call", "random", "--words", "2"]),
    runCli(["call", "run", "-", "--arg", "21", "--return-type", "uint256"], source),
  ]);
  expect(random.stdout).toMatch(/^\d+\n\d+\n$/);
  expect(ran).toMatchObject({ code: 0, stdout: "42\n" });
});

test("verify takes a result of the service by its id too, and its network from the service", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: {},
  });
  const runs = [["sepolia", data.id], [data.id], [`${tyche.url}/r/${data.id}`]].map(async (args) => {
    const { code, stdout } = await runCli(["verify", ...args, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: "valid",
      network: "sepolia",
      requests: [{ requestId: data.requestId }],
    });
  });
  await Promise.all(runs);
  // Its reader has left, as `head` does: what isn't as expected fails all the same.
  const child = startCli(["verify", data.id, "--expect", "preset=lotto"], { TYCHE_DATA_DIR: tyche.dataDir });
  child.stdout?.destroy();
  expect(await once(child, "exit")).toEqual([1, null]);
});

test("verify of a link alone takes node and addresses of its service, and leaves open whose contracts these are", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=fuji&preset=coinflip", { body: {} });
  const stranger = (...args: string[]) => run(["verify", ...args], "", { TYCHE_DATA_DIR: folder });
  const address = `${tyche.url}/r/${data.id}`;
  const contracts = path.join(folder, "published.json");
  writeFileSync(contracts, JSON.stringify((await tyche.call("GET", "/api/networks")).data));
  const [shared, known, quiet, own, json] = await Promise.all([
    stranger(address),
    run(["verify", address], "", { TYCHE_DATA_DIR: folder, TYCHE_URL: tyche.url }),
    stranger(data.url, "--quiet"),
    stranger(address, "--contracts", contracts),
    stranger(address, "--json"),
  ]);
  const of = `of ${data.url.split("/").at(-1)} on fuji`;
  const by = `by the addresses and the node of the service at ${tyche.url}`;
  expect(shared.stderr).toBe("");
  expect(shared.code).toBe(1);
  expect(shared.stdout).toContain(`valid, if these contracts are the operator's: 1 request ${of}, ${by}\n`);
  expect(shared.stdout).toContain(`This was verified with ${by.slice(3)}, which could show contracts`);
  // TYCHE_URL names the service, not whoever sent the link.
  expect(known).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`valid: 1 request ${of}, ${by}\n`),
  });
  expect(quiet).toMatchObject({ code: 1, stdout: expect.stringContaining(`${of}, ${by}\n`) });
  expect(own).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${of}, by the node of the service at ${tyche.url}\n`),
  });
  expect(JSON.parse(json.stdout)).toMatchObject({
    valid: false,
    verdict: "conditional",
    requests: [
      {
        requestId: data.requestId,
        verdict: "conditional",
        steps: [{ name: "transactions", outcome: "ok" }, {}, {}, {}, {}, {}, {}, {}, {}],
      },
    ],
    trust: expect.arrayContaining([expect.stringContaining(by.slice(3))]),
  });
  // Whose addresses they are is then open, as with any node.
  const rpcUrl = (await tyche.call("GET", "/api/networks")).data.items.find(
    ({ name }: { name: string }) => name === "fuji",
  ).rpcUrl;
  const node = await stranger(address, "--rpc-url", rpcUrl);
  expect(node.code).toBe(1);
  expect(node.stdout).toContain(`valid, if these contracts are the operator's`);
  expect(node.stdout).not.toContain(tyche.url);
});

test("verify takes the address of a result of the service, and says where another one can be verified", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: {},
  });
  const address = `${tyche.url}/r/${data.id}`;
  const [own, elsewhere, foreign] = await Promise.all([
    runCli(["verify", "sepolia", address, "--json"]),
    runCli(["verify", "fuji", address]),
    run(["verify", "sepolia", `https://tyche.example.org/r/${data.id}`], "", {
      TYCHE_DATA_DIR: tyche.dataDir,
      TYCHE_URL: tyche.url,
    }),
  ]);
  expect(own.code).toBe(0);
  expect(JSON.parse(own.stdout)).toMatchObject({
    verdict: "valid",
    transactionHash: data.url.split("/").at(-1),
    requests: [{ requestId: data.requestId }],
  });
  expect(elsewhere).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`enter tyche verify sepolia ${address}`),
  });
  expect(foreign).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("set TYCHE_URL=https://tyche.example.org"),
  });
  const id = "req_01h000000000000000000000ab";
  const [unknownId, unknownLabel] = await Promise.all([
    runCli(["verify", id]),
    runCli(["verify", "sepolia", "Never Drawn"]),
  ]);
  expect(unknownId.stderr).toContain(`${tyche.url} knows no result ${id}: check the id, or set TYCHE_URL to`);
  expect(unknownLabel.stderr).toMatch(
    /^error: no request on sepolia has the label "Never Drawn", read as "never drawn", \(blocks 0 to \d+\): check label and network, or/,
  );
});

test("--dapp names the dapp, also where the environment has another one's key", async () => {
  const dapp = await connectOperator(tyche).createDapp({ name: "arcade" });
  const variables = { TYCHE_DATA_DIR: tyche.dataDir, TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey };
  const [listed, unknown, dead, away] = await Promise.all([
    run(["requests", "list", "--dapp", dapp.id], "", variables),
    run(["requests", "list", "--dapp", "nosuch"], "", variables),
    run(["requests", "list"], "", { ...variables, TYCHE_API_KEY: "tyche_dead" }),
    run(["requests", "list"], "", { ...variables, TYCHE_URL: "http://127.0.0.1:1" }),
  ]);
  expect(listed).toMatchObject({ code: 0, stdout: "" });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no dapp nosuch") });
  expect(dead).toMatchObject({ code: 1, stderr: expect.stringContaining("Set TYCHE_API_KEY to a live key") });
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining("start it with tyche start") });
});

test("requests list, show and watch follow what was begun", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: {},
    headers: { prefer: "respond-async" },
  });
  const [watched, shown, listed] = await Promise.all([
    runCli(["requests", "watch", data.id, "--json"]),
    runCli(["requests", "show", data.id]),
    runCli(["requests", "list", "--kind", "preset", "--network", "sepolia"]),
  ]);
  const last = JSON.parse(watched.stdout.trim().split("\n").at(-1)!) as { type: string };
  expect(last.type).toBe("result");
  expect(shown.stdout).toContain(`${data.id}  preset on sepolia: `);
  expect(listed.stdout).toContain(data.id);
});

test("call, and requests list, show and watch name the side of a coin", async () => {
  const { stdout, stderr } = await runCli(["call", "coinflip", "--network", "fuji"]);
  const side = stdout === "1\n" ? "Heads" : "Tails";
  expect([stdout, stderr.split("\n")[0]]).toEqual([side === "Heads" ? "1\n" : "0\n", side]);
  const listed = await runCli(["requests", "list", "--kind", "preset", "--network", "fuji", "--limit", "1"]);
  const [, id, listedSide] = /^(req_\w+) .*  fuji +preset +fulfilled +coinflip  (\w+)\n$/.exec(
    listed.stdout,
  )!;
  expect(listedSide).toBe(side);
  for (const command of ["show", "watch"])
    expect((await runCli(["requests", command, id!])).stderr).toContain(`${side}\n`);
});

test("requests list and show say why a request failed", async () => {
  const body = { network: "sepolia", source: 'console.log("asking"); throw Error("no\\nquote")' };
  const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body,
    headers: { prefer: "respond-async" },
  });
  await runCli(["requests", "watch", data.id]);
  const { stdout } = await runCli(["requests", "list", "--state", "failed", "--kind", "function"]);
  expect(stdout).toMatch(new RegExp(`^${data.id} .* failed  .*no quote`, "m"));
  expect((await runCli(["requests", "show", data.id])).stdout).toMatch(
    /^ {2}asking\n {2}dry run [\d.]+ ms, [\d.]+ MB, 0 HTTP requests$/m,
  );
});

test.each(["", "abc"])("trigger add refuses %j as the block to begin with", async (block) => {
  const { code, stderr } = await runCli(["trigger", "add", "closed", "--from-block", block]);
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("It must be a block number"),
  });
});

test("dry-runs lists what made no request, page by page", async () => {
  await tyche.call("POST", "/api/oracleFunctions/simulate", {
    body: { source: "return Buffer.from('fine')" },
  });
  const body = { network: "fuji", source: "return 1 +" };
  expect(await tyche.call("POST", "/api/oracleFunctions/runFunction", { body })).toMatchObject({
    status: 422,
  });
  const [none, first, refused] = await Promise.all([
    runCli(["dry-runs", "--network", "fantom_testnet"]),
    runCli(["dry-runs", "--limit", "1"]),
    runCli(["dry-runs", "--kind", "function", "--network", "fuji", "--json"]),
  ]);
  expect(none).toMatchObject({ code: 0, stdout: "", stderr: "no dry runs\n" });
  expect(first.stdout).toMatch(
    /^dry_\w+  \S+  fuji +function refused  return 1 \+ +syntax error in line 1, column \d+: the source ends /,
  );
  const [, cursor] = /more: npx tyche dry-runs list --limit 1 --cursor (dry_\w+)/.exec(first.stderr)!;
  expect((await runCli(["dry-runs", "--cursor", cursor!])).stdout).toMatch(
    /  any +ran +return Buffer.* fine\n$/,
  );
  expect(JSON.parse(refused.stdout)).toMatchObject({ items: [{ kind: "function" }], nextCursor: null });
});

test("dry-runs show prints what a refused call asked for, and the line that failed", async () => {
  const source = 'console.log("asking");\nthrow new Error("no price");';
  const body = { network: "fuji", source, args: ["BTC"] };
  const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", { body });
  const id = data.dryRunUrl.split("/").at(-1);
  const { code, stdout } = await runCli(["dry-runs", "show", id]);
  expect(code).toBe(0);
  expect(stdout.replace(/[\d.]+ ms, [\d.]+ MB/, "1 ms, 2 MB").replace(/\d{4}-\S+Z/, "TIME"))
    .toBe(`${id}  TIME  on fuji: function refused
  source  console.log("asking");
  params  {"args":["BTC"],"returnType":"string"}
  asking
failed: no price (line 2, column 7)
  1 | console.log("asking");
> 2 | throw new Error("no price");
    |       ^
1 ms, 2 MB, 0 HTTP requests
`);
  const json = await runCli(["dry-runs", "show", id, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ id, params: { source, args: ["BTC"] } });
  expect(await runCli(["dry-runs", "show", "dry_none"])).toMatchObject({ code: 1, stdout: "" });
});

test("usage counts what was called, as text and CSV", async () => {
  await tyche.call("POST", "/api/vrfv2/presets?network=fantom_testnet&preset=coinflip", { body: {} });
  const { items } = (await tyche.call("GET", "/api/usage?network=fantom_testnet")).data;
  // A top-up after midnight would have a row of its own.
  const last = items.findLast((one: { fulfilled: number }) => one.fulfilled > 0);
  expect(last).toMatchObject({ network: "fantom_testnet", failed: 0, refused: 0, coinWei: "0" });
  expect(BigInt(last.linkJuels)).toBeGreaterThan(0n);
  const [shown, csv] = await Promise.all([
    runCli(["usage", "--network", "fantom_testnet"]),
    runCli(["usage", "--network", "fantom_testnet", "--csv"]),
  ]);
  expect(shown.stdout).toContain(`${last.day}  fantom_testnet  `);
  expect(shown.stdout).toMatch(/ 0\.\d+ LINK$/m);
  expect(csv.stdout).toContain(`\n${last.day},fantom_testnet,`);
});

test("consumer add links a contract, list shows it, and remove unlinks it", async () => {
  const { data } = await tyche.call("GET", "/api/networks");
  const network = data.items.find(({ name }: { name: string }) => name === "fuji");
  const address: string = network.contracts.link;
  const added = await runCli(["consumer", "add", address, "--network", "fuji"]);
  expect(added.stdout).toMatch(/^0x[0-9a-f]{64}\n$/);
  const [listed, json, elsewhere, wrong] = await Promise.all([
    runCli(["consumer", "list"]),
    runCli(["consumer", "list", "--network", "fuji", "--json"]),
    runCli(["consumer", "list", "--network", "sepolia"]),
    runCli(["consumer", "list", "--network", "nowhere"]),
  ]);
  expect(listed.stdout).toMatch(new RegExp(`^${address}  fuji {12}\\d{4}-\\S{14}  linked\n$`));
  const linkedBy = { transactionHash: added.stdout.trim(), onChain: { vrf: true, functions: true } };
  expect(JSON.parse(json.stdout)).toMatchObject({ linked: [{ address, network: "fuji", ...linkedBy }] });
  expect(elsewhere).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("no contracts") });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("must be one of") });
  const removed = await runCli(["consumer", "remove", address, "--network", "fuji"]);
  expect(removed.stdout).toMatch(/^0x[0-9a-f]{64}\n$/);
  expect(removed.stdout).not.toBe(added.stdout);
});

test("faucet gives coin and LINK on an embedded chain", async () => {
  const { data } = await tyche.call("GET", "/api/networks");
  const { rpcUrl, contracts } = data.items.find(({ name }: { name: string }) => name === "fuji");
  const address = "0x00000000000000000000000000000000000b0b01";
  const read = async (method: string, params: unknown[]): Promise<bigint> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return BigInt(((await answer.json()) as { result: string }).result);
  };
  const { code, stdout } = await runCli(["faucet", address, "--network", "fuji"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^(0x[0-9a-f]{64}\n){2}$/) });
  expect(await read("eth_getBalance", [address, "latest"])).toBe(10n ** 19n);
  const balanceOf = `0x70a08231${address.slice(2).padStart(64, "0")}`;
  expect(await read("eth_call", [{ to: contracts.link, data: balanceOf }, "latest"])).toBe(10n ** 20n);
  const wrong = await runCli(["faucet", "0x12", "--network", "fuji"]);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("0x and 40 hex digits") });
});

test("network cost shows the gas of calls, which costs nothing on an embedded network", async () => {
  const shown = await runCli(["network", "cost", "sepolia"]);
  expect(shown).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/a random number +\d+ gas {2}nothing/),
  });
  const { stdout } = await runCli(["network", "cost", "sepolia", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    network: "sepolia",
    gasPriceWei: "0",
    calls: expect.any(Array),
  });
  const planned = await runCli(["network", "cost", "base", "--gas-price", "0.01", "--json"]);
  const { gasPriceWei, calls } = JSON.parse(planned.stdout) as {
    readonly gasPriceWei: string;
    readonly calls: readonly { readonly gas: string; readonly costWei: string }[];
  };
  expect(gasPriceWei).toBe("10000000");
  for (const { gas, costWei } of calls) expect(BigInt(costWei)).toBe(BigInt(gas) * 10_000_000n);
  const unpriced = await runCli(["network", "cost", "base"]);
  expect(unpriced).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^request and answer .*\n[^]*a function +\d+ gas\n.* --rpc-url.* --gas-price\.\n$/,
    ),
  });
  expect(await runCli(["network", "cost", "bass"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/bass is neither in the configuration nor known: .*--gas-price.* base,/),
  });
});

test("network cost shows dollars at the coin's price, and asks a node that is named for the price of gas", async () => {
  const dollars = await runCli(["network", "cost", "polygon", "--gas-price", "30", "--usd", "0.25"]);
  expect(dollars.stdout).toContain(
    "a coinflip alone                      225525 gas  0.00676575 POL  $0.0017    $1.69 for 1,000\n",
  );
  const networks = JSON.parse((await runCli(["network", "list", "--json"])).stdout) as {
    name: string;
    rpcUrl: string;
  }[];
  const { rpcUrl } = networks.find(({ name }) => name === "fuji")!;
  const asked = await runCli(["network", "cost", "fuji", "--rpc-url", rpcUrl, "--usd", "20", "--json"]);
  expect(JSON.parse(asked.stdout)).toMatchObject({
    coin: "AVAX",
    gasPriceWei: expect.stringMatching(/^\d+$/),
  });
  expect(await runCli(["network", "cost", "base", "--rpc-url", rpcUrl])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "its chain id is 43113, but 8453 is expected; check the URL of --rpc-url",
    ),
  });
  expect(await runCli(["network", "cost", "base", "--gas-price", "1", "--usd", "$5"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("decimal number"),
  });
});

test("webhook list, log and show label what became of events, with times in UTC", async () => {
  const time = String.raw`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
  const url = "https://tyche-receiver.invalid/hook";
  const added = await runCli(["webhook", "add", url, "--description", "orders"]);
  const [id] = /wh_[0-9a-z]{26}/.exec(added.stdout) ?? [];
  expect(await runCli(["webhook", "test", id!, "--type", "request.failed"])).toMatchObject({ code: 0 });
  expect(await runCli(["webhook", "test", id!, "--type", "request.lost"])).toMatchObject({ code: 1 });
  const log = await vi.waitFor(
    async () => {
      const { stdout } = await runCli(["webhook", "log", id!]);
      expect(stdout).toContain("request.failed");
      return stdout;
    },
    { timeout: 60_000 },
  );
  expect(log).toMatch(/^TIME +ATTEMPT +NO\. +EVENT +TYPE +OUTCOME\n/);
  expect(log).toMatch(
    new RegExp(
      `\n${time}  att_\\w{26}    1  evt_\\w{26}  request\\.failed +\\S.* after \\d+ ms(?:, next attempt ${time})?\n$`,
    ),
  );
  const list = await runCli(["webhook", "list"]);
  expect(list.stdout).toMatch(
    new RegExp(
      `^${id}  failing since ${time}  https://tyche-receiver\\.invalid/hook  "orders"\n  no success yet, 1 pending, 0 failed; told request\\.fulfilled, `,
    ),
  );
  // On a busy machine the second attempt may be there already, above the first.
  const attempt = log.match(/att_\w{26}/g)!.at(-1)!;
  const shown = await runCli(["webhook", "show", id!, attempt]);
  expect(shown.stdout).toMatch(
    new RegExp(
      `^Attempt {2}${attempt}, number 1 of its event\nEvent {4}evt_\\w+, request\\.failed\nTime {5}${time}\n`,
    ),
  );
  expect(shown.stdout).toContain("\nMessage\ncontent-type: application/json");
  expect(shown.stdout).toContain('"data":{"test":true,');
  expect(await runCli(["webhook", "remove", id!])).toMatchObject({ code: 0 });
});

test("dapp delete ends a dapp of a running service", async () => {
  const { stdout } = await runCli(["dapp", "create", "short", "--json"]);
  const { dappId, apiKey } = JSON.parse(stdout) as { dappId: string; apiKey: string };
  const headers = { authorization: apiKey };
  expect(await tyche.call("GET", "/api/requests", { headers })).toMatchObject({ status: 200 });
  const unasked = await runCli(["dapp", "delete", dappId]);
  expect(unasked).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("add --yes") });
  expect(await tyche.call("GET", "/api/requests", { headers })).toMatchObject({ status: 200 });
  expect((await runCli(["dapp", "delete", dappId, "--yes"])).stdout).toBe(`${dappId} (short) is deleted\n`);
  expect(await tyche.call("GET", "/api/requests", { headers })).toMatchObject({ status: 401 });
});

test("dapp keys lists keys with what they may do, and no value", async () => {
  const { stdout } = await runCli(["dapp", "create", "keyed", "--json"]);
  const { keyId, apiKey } = JSON.parse(stdout) as { keyId: string; apiKey: string };
  const options = ["--name", "grafana", "--access", "read", "--daily-limit", "9", "--json"];
  const added = await runCli(["dapp", "add-key", "keyed", ...options]);
  const second = JSON.parse(added.stdout) as { id: string; apiKey: string };
  await runCli(["dapp", "revoke-key", keyId]);
  const [listed, json] = await Promise.all([
    runCli(["dapp", "keys", "keyed"]),
    runCli(["dapp", "keys", "keyed", "--json"]),
  ]);
  expect(listed.stdout).toContain(
    `${second.id}  ${second.apiKey.slice(0, 10)}…  grafana           read only, 0 of 9 requests today, never used\n`,
  );
  expect(listed.stdout).toMatch(new RegExp(`${keyId} {15,}\\S.*full access, never used, revoked 2`));
  expect(JSON.parse(json.stdout)).toHaveLength(2);
  for (const value of [apiKey, second.apiKey]) expect(listed.stdout + json.stdout).not.toContain(value);
  expect((await runCli(["dapp", "delete", "keyed", "--yes"])).code).toBe(0);
});

test("dapp rename checks the name as every way in does", async () => {
  const dapps = await runCli(["dapp", "list", "--json"]);
  const [{ id = "" } = {}] = JSON.parse(dapps.stdout) as { id?: string }[];
  const refused = await runCli(["dapp", "rename", id, "a\u001b[2Jb"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("control characters") });
  expect((await runCli(["dapp", "rename", id, "store"])).stdout).toContain("is now store");
});

test("dapp facilities says what a dapp may use", async () => {
  const { id } = await connectOperator(tyche).createDapp({ name: "narrow" });
  expect((await runCli(["dapp", "facilities", "narrow", "functions"])).stdout).toBe(
    `${id} may use functions\n`,
  );
  expect(await connectOperator(tyche).dapp(id)).toMatchObject({ facilities: ["functions"] });
  await connectOperator(tyche).deleteDapp(id);
});

test("a dapp's name stands for its id", async () => {
  const { id } = await connectOperator(tyche).createDapp({ name: "kiosk" });
  // The service creates its subscriptions meanwhile.
  await vi.waitFor(async () => {
    const contract = await runCli(["dapp", "contract", "kiosk", "--network", "sepolia"]);
    expect(contract).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
  }, 60_000);
  const [config, listed, key] = await Promise.all([
    runCli(["dapp", "config", "kiosk", "--json"]),
    runCli(["requests", "list", "--dapp", "kiosk"]),
    runCli(["dapp", "add-key", "kiosk", "--json"]),
  ]);
  expect(JSON.parse(config.stdout)).toMatchObject({ dappId: id, name: "kiosk" });
  expect(listed).toMatchObject({ code: 0, stderr: "no requests\n" });
  expect(key.code).toBe(0);
  expect((await runCli(["dapp", "delete", "kiosk", "--yes"])).stdout).toBe(`${id} (kiosk) is deleted\n`);
});

test("client generate writes types that the client takes", async () => {
  const file = path.join(folder, "presets.ts");
  expect((await runCli(["client", "generate", "--out", file])).code).toBe(0);
  const own = readFileSync(new URL("../../src/client/presets.ts", import.meta.url), "utf8");
  expect(readFileSync(file, "utf8")).toBe(own.replace("./types.ts", "tyche/client"));
});

test("a source that is refused shows where, and a wrong parameter what", async () => {
  const file = path.join(folder, "broken.js");
  writeFileSync(file, "const a = 1;\nreturn foo.bar;\n");
  const [refused, wrong] = await Promise.all([
    runCli(["call", "run", file]),
    runCli(["call", "range", "min=9", "max=3"]),
  ]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(`${file}:2:`);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("must be at most max") });
});

test("each of several wrong parameters is told once", async () => {
  const { code, stderr } = await runCli(["call", "coinflop", "sides=3"]);
  expect(code).toBe(1);
  expect(stderr.match(/is not a preset/g)).toHaveLength(1);
  expect(stderr).toMatch(/^error: [^\n]*sides: [^\n]*\n$/);
});

test.each([
  { args: ["call", "run", "nowhere.js"], file: "nowhere.js" },
  { args: ["simulate", "nowhere.js"], file: "nowhere.js" },
  { args: ["verifier", "build", "--out", "/nonexistent/page.html"], file: "/nonexistent/page.html" },
])("$args with a file that can't be opened says so in words", async ({ args, file }) => {
  const { code, stderr } = await runCli(args);
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^error: can't open ${file}: there is no such file or folder\n`));
});

test("the keys of this machine go to no other", async () => {
  const { code, stderr } = await runCli(["call", "coinflip", "--url", "http://192.0.2.1"]);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("set TYCHE_API_KEY") });
});

test("the version is the package's, and completion knows every command", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect((await runCli(["--version"])).stdout).toBe(`${version}\n`);
  const { stdout } = await runCli(["completion", "bash"]);
  for (const words of ['"call") words="random run', "requests watch", "--return-type"])
    expect(stdout).toContain(words);
});

test.each([
  ["tyche call run --return-type ''", "string uint256 int256"],
  ["tyche requests list --state ful", "fulfilled"],
  ["tyche requests list --limit ''", ""],
  ["tyche requests ''", "list show watch --help"],
])("bash completes %s", async (line, expected) => {
  const { stdout: script } = await runCli(["completion", "bash"]);
  const ask = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _tyche; echo "\${COMPREPLY[*]}"`;
  expect(execFileSync("bash", ["-c", ask], { encoding: "utf8" }).trim()).toBe(expected);
});
