import { execFile } from "node:child_process";
import { request as httpRequest } from "node:http";
import { promisify } from "node:util";
import {
  decodeFunctionData,
  encodeFunctionData,
  hexToBigInt,
  keccak256,
  encodeAbiParameters,
  parseAbi,
  type Hex,
} from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { batchVrfCoordinatorAbi, vrfCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import { readRandomness } from "../../src/explorer/readRandomness.ts";
import type { AddressBook } from "../../src/chainlink/addressBook.ts";
import type { ProofView, TransactionView } from "../../src/explorer/views.ts";
import { signIn } from "../support/signIn.ts";
import { runTyche, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const NETWORK = "sepolia";
/** Text that is markup, ends attributes, and turns around what follows it. */
const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>\u202Eevil`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&quot;": '"',
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&#39;": "'",
};

const REMOVE_CONSUMER = parseAbi(["function removeConsumer(uint64 subscriptionId, address consumer)"]);

let tyche: TycheProcess;
let cookie: string;
let networks: { name: string; rpcUrl: string; contracts: Record<string, Hex> }[];
beforeAll(async () => {
  tyche = await startTycheProcess();
  cookie = await signIn(tyche);
  networks = (await tyche.call("GET", "/api/networks")).data.items;
});
afterAll(async () => {
  await tyche.stop();
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(new URL(path, tyche.url), {
    headers: { accept: "text/html", cookie, ...headers },
    redirect: "manual",
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
// Tests read what the views' own types describe.
// eslint-disable-next-line typescript/no-explicit-any
const getData = async (url: string): Promise<any> =>
  JSON.parse((await get(url, { accept: "application/json" })).text).data;
/** The token of our own forms, and a dapp to work with. */
const formToken = async (): Promise<string> =>
  /name="token" value="([^"]+)"/.exec((await get("/")).text)![1]!;
const firstDapp = async (): Promise<string> =>
  /\/dapps\/(dapp_[0-9a-z]{26})/.exec((await get("/")).text)![1]!;
const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
  const response = await fetch(new URL(path, tyche.url), {
    method: "POST",
    headers: { accept: "text/html", cookie, ...headers },
    body: new URLSearchParams({ token: await formToken(), ...fields }),
    redirect: "manual",
  });
  return {
    status: response.status,
    location: response.headers.get("location") ?? "",
    text: await response.text(),
  };
};
const readCalldata = async (hash: Hex): Promise<Hex> =>
  (await rpc<{ input: Hex }>("eth_getTransactionByHash", [hash])).input;
const rpc = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
  const { rpcUrl } = networks.find(({ name }) => name === NETWORK)!;
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: Result }).result;
};
const preset = async (): Promise<{
  vrfv2Hash: Hex;
  vrfv2EventHash: string;
  url: string;
  requestId: Hex;
  result: Hex;
}> => (await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, { body: {} })).data;

describe("every link of an answer opens", () => {
  test.each(["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"])("default: on %s", async (network) => {
    const { data: coin } = await tyche.call("POST", `/api/vrfv2/presets?network=${network}`, { body: {} });
    const { data: words } = await tyche.call(
      "POST",
      `/api/vrfv2/requestRandomNumber?network=${network}&numWords=12`,
    );
    const body = { network, source: "return Functions.encodeString(args[0])", args: ["hello"] };
    const { data: run } = await tyche.call("POST", "/api/oracleFunctions/runFunction", { body });
    for (const url of [coin.url, coin.vrfv2EventHash, words.url, run.url]) {
      expect(url).toMatch(new RegExp(`^${tyche.url}/explorer/${network}/tx/0x[0-9a-f]{64}$`));
      const page = await get(url);
      expect(page.status).toBe(200);
      expect(page.text).toContain(url.split("/").at(-1));
    }
    expect((await get(coin.url)).text).toContain(coin.result);
    const proofPage = (await get(words.url)).text;
    for (const word of words.randomNumber) expect(proofPage).toContain(word);
    expect((await get(run.url)).text).toContain(">hello<");
  });
});

describe("the page of a proof", () => {
  test("default: shows the fields that the calldata has, field by field", async () => {
    const { vrfv2Hash, vrfv2EventHash } = await preset();
    const input = await readCalldata(vrfv2Hash);
    const { args } = decodeFunctionData({ abi: batchVrfCoordinatorAbi, data: input });
    const [[proof], [commitment]] = args as unknown as [[Record<string, unknown>], [Record<string, unknown>]];
    const page = (await get(vrfv2EventHash)).text;
    const shown = (name: string): string[] => {
      const cell = new RegExp(`data-proof="${name}">(.*?)</td>`, "s").exec(page)![1]!;
      return [...cell.matchAll(/0x[0-9a-fA-F]+/g)].map(([hex]) => hex.toLowerCase());
    };
    for (const [name, value] of Object.entries(proof)) {
      const expected = [value]
        .flat()
        .map((part) =>
          typeof part === "bigint" ? `0x${part.toString(16).padStart(64, "0")}` : String(part).toLowerCase(),
        );
      expect({ [name]: shown(name) }).toEqual({ [name]: expected });
    }
    const view: TransactionView = await getData(vrfv2EventHash);
    const { sender, ...numbers } = view.randomness[0]!.commitment;
    expect({ ...numbers, sender: sender.address }).toEqual({
      ...commitment,
      blockNum: String(commitment["blockNum"]),
      subId: String(commitment["subId"]),
    });
  });

  test("behaviour: its twin in JSON carries them, with output and words that follow from gamma, and the links to and fro", async () => {
    const { vrfv2EventHash, vrfv2Hash, url, requestId, result } = await preset();
    const view: TransactionView = await getData(vrfv2EventHash);
    const [randomness] = view.randomness;
    const [x, y] = randomness!.proof.gamma;
    const hash = (...words: readonly bigint[]): bigint =>
      hexToBigInt(
        keccak256(
          encodeAbiParameters(
            words.map(() => ({ type: "uint256" })),
            words,
          ),
        ),
      );
    const output = hash(3n, BigInt(x), BigInt(y));
    expect(BigInt(randomness!.output)).toBe(output);
    expect(randomness).toMatchObject({ outcome: "fulfilled", words: [hash(output, 0n).toString()] });
    expect(view.functionRequests).toMatchObject([
      {
        requestId,
        word: { vrfRequestId: randomness!.requestId, item: 0 },
        program: { bytesArgs: [`0x${hash(output, 0n).toString(16).padStart(64, "0")}`] },
        answeredBy: url.split("/").at(-1),
      },
    ]);
    const delivered: TransactionView = await getData(url);
    expect(delivered.functionResults).toMatchObject([
      { requestId, outcome: "FULFILLED", response: result, err: "", requestedBy: vrfv2Hash },
    ]);
    expect(delivered.report).toMatchObject({ requestIds: [requestId] });
    expect(new Set(delivered.report!.signatures.map(({ signer }) => signer?.name)).size).toBe(3);
    const asked: TransactionView = await getData(`/explorer/${NETWORK}/tx/${randomness!.requestedBy}`);
    expect(asked.randomRequests).toMatchObject([{ requestId: randomness!.requestId, answeredBy: vrfv2Hash }]);
  });

  test("behaviour: a fulfilment that went straight to the coordinator is read as well", async () => {
    const { vrfv2EventHash, vrfv2Hash } = await preset();
    const input = await readCalldata(vrfv2Hash);
    const { args } = decodeFunctionData({ abi: batchVrfCoordinatorAbi, data: input });
    const [[proof], [commitment]] = args as unknown as [[never], [never]];
    const direct = encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "fulfillRandomWords",
      args: [proof, commitment],
    });
    const book = { party: (address: Hex) => ({ address }) } as AddressBook;
    const [read] = readRandomness(direct, [], book);
    const view: TransactionView = await getData(vrfv2EventHash);
    expect(read!.proof).toEqual(view.randomness[0]!.proof satisfies ProofView);
    expect(read!.words).toEqual(view.randomness[0]!.words);
  });

  test("error: calldata of another kind has no proof", () => {
    const book = { party: (address: Hex) => ({ address }) } as AddressBook;
    for (const input of ["0x", "0x08b2da0a", "0xdeadbeef00", `0x08b2da0a${"f".repeat(640)}`] as const)
      expect(readRandomness(input, [], book)).toEqual([]);
  });
});

describe("what isn't there", () => {
  test("error: an unknown hash is a 404 that says so, to people and to programs", async () => {
    const hash = `0x${"ab".repeat(32)}`;
    const page = await get(`/explorer/fuji/tx/${hash}`);
    expect(page.status).toBe(404);
    expect(page.text).toContain(`Avalanche Fuji has no transaction ${hash}`);
    const json = await get(`/explorer/fuji/tx/${hash}`, { accept: "application/json" });
    expect(json.status).toBe(404);
    expect(JSON.parse(json.text)).toEqual({
      data: { success: false, code: "not_found", err: expect.stringContaining(hash) },
    });
  });

  test("behaviour: where another network has it, the page leads there", async () => {
    const { vrfv2Hash } = await preset();
    const page = await get(`/explorer/fuji/tx/${vrfv2Hash}`);
    expect(page.status).toBe(404);
    expect(page.text).toContain(`href="/explorer/${NETWORK}/tx/${vrfv2Hash}"`);
  });

  test.each([
    "/explorer/nowhere",
    "/explorer/nowhere/tx/0x00",
    "/explorer/sepolia/tx/0x00",
    "/explorer/sepolia/block/999999",
    "/explorer/sepolia/block/-1",
    "/explorer/sepolia/address/0x1",
    "/explorer/sepolia/search?q=%3Cscript%3E",
    "/dapps/dapp_none",
    "/presets/none",
    "/nope",
  ])("error: %s is a 404 page without a trace of its text as markup", async (path) => {
    const page = await get(path);
    expect(page.status).toBe(404);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.text).not.toContain("<script>");
  });

  test("behaviour: whoever asks for no page gets the API's envelope at a path that is none of ours", async () => {
    const { status, text } = await get("/nope", { accept: "*/*" });
    expect({ status, body: JSON.parse(text) }).toMatchObject({
      status: 404,
      body: { data: { code: "not_found" } },
    });
  });
});

describe("the explorer's other pages", () => {
  test("default: overview, block, address and search work, in JSON too", async () => {
    await preset();
    const overview = await getData(`/explorer/${NETWORK}`);
    expect(overview).toMatchObject({ network: NETWORK, chainId: 11155111 });
    const { blockNumber, hash } = overview.transactions[0];
    const block = await getData(`/explorer/${NETWORK}/block/${blockNumber}`);
    expect(block.transactions.map((one: { hash: Hex }) => one.hash)).toContain(hash);
    const consumer = networks.find(({ name }) => name === NETWORK)!.contracts["presetConsumer"]!;
    expect(await getData(`/explorer/${NETWORK}/address/${consumer}`)).toMatchObject({
      name: "PresetConsumer",
      codeBytes: expect.any(Number),
      transactions: expect.arrayContaining([expect.objectContaining({ status: "succeeded" })]),
    });
    const list = await getData(`/explorer/${NETWORK}/blocks?before=${BigInt(blockNumber) + 1n}`);
    expect(list.blocks[0]).toMatchObject({ number: blockNumber });
    const rest = await getData(`/explorer/${NETWORK}/address/${consumer}?before=${blockNumber}.0`);
    expect(rest.transactions.map((one: { hash: Hex }) => one.hash)).not.toContain(hash);
    expect((await get(`/explorer/${NETWORK}/blocks?before=x`)).status).toBe(404);
    for (const [wanted, kind] of [
      [hash, "tx"],
      [blockNumber, "block"],
      [consumer, "address"],
    ]) {
      const found = await get(`/explorer/${NETWORK}/search?q=${wanted}`);
      expect([found.status, found.headers.get("location")]).toEqual([
        302,
        `/explorer/${NETWORK}/${kind}/${wanted}`,
      ]);
    }
    for (const wanted of ["", "nowhere/"])
      expect((await get(`/explorer/${wanted}search?q=${hash.slice(2)}`)).headers.get("location")).toBe(
        `/explorer/${NETWORK}/tx/${hash}`,
      );
    for (const path of [
      "/explorer",
      `/explorer/${NETWORK}`,
      `/explorer/${NETWORK}/blocks`,
      `/explorer/${NETWORK}/block/${blockNumber}`,
      `/explorer/${NETWORK}/address/${consumer}`,
    ])
      expect((await get(path)).status).toBe(200);
  });

  test("default: each contract of the service's own is shown with the source that it is built from", async () => {
    const { contracts } = await getData(`/explorer/${NETWORK}`);
    for (const { address, name } of contracts) {
      const path = `/explorer/${NETWORK}/address/${address}/contract`;
      const view = await getData(path);
      const build = { compiler: expect.stringMatching(/^0\.8\./) };
      expect(view).toMatchObject({ name, address, build });
      const { text } = await get(path);
      expect(text).toContain(view.build.sources[0].path);
      expect(text).toContain("built from this source");
    }
    expect((await get(`/explorer/${NETWORK}/address/0x${"1".repeat(40)}/contract`)).status).toBe(404);
  });

  test("default: one search takes every id, on every network, and lists several hits", async () => {
    const { vrfv2Hash, url, requestId } = await preset();
    const view: TransactionView = await getData(`/explorer/${NETWORK}/tx/${vrfv2Hash}`);
    const { requestId: vrfRequestId } = view.randomness[0]!;
    const search = (text: string) => getData(`/explorer/search?q=${encodeURIComponent(text)}`);
    const page = (text: string) => get(`/explorer/search?q=${encodeURIComponent(text)}`);
    const proof = `/explorer/${NETWORK}/tx/${vrfv2Hash}`;
    for (const text of [vrfRequestId, vrfRequestId.slice(2), String(BigInt(vrfRequestId))])
      expect((await page(text)).headers.get("location")).toBe(proof);
    const report = new URL(url).pathname;
    expect((await page(requestId.toUpperCase().replace("0X", "0x"))).headers.get("location")).toBe(report);
    const { hash, number } = (await getData(`/explorer/${NETWORK}/block/${view.block!.number}`)) as {
      hash: Hex;
      number: string;
    };
    expect((await page(hash)).headers.get("location")).toBe(`/explorer/${NETWORK}/block/${number}`);

    expect((await search("presetcons")).paths).toHaveLength(networks.length);
    const list = await page("presetcons");
    expect(list.status).toBe(200);
    expect(list.text).toContain("Taken for the name of a contract");
    expect(list.text.match(/PresetConsumer</g) ?? list.text.match(/PresetConsumer /g)).toHaveLength(
      networks.length,
    );
    expect(await search("1")).toMatchObject({ takenFor: ["a block number"] });
    const nothing = await page(`0x${"ab".repeat(32)}`);
    expect([nothing.status, nothing.text]).toEqual([404, expect.stringContaining("was taken for")]);
    expect((await page("a".repeat(5_000))).text).toContain("more than 100");
  });

  test("behaviour: a contract that writes what the oracle writes is shown as what it is", async () => {
    const [from] = await rpc<Hex[]>("eth_accounts", []);
    // A creation that logs RequestProcessed(1, 2, ...) with three empty byte strings, and leaves no code.
    const topic = EVENT_TOPICS.RequestProcessed.slice(2);
    const offsets = ["60c0606052", "60e0608052", "61010060a052"];
    const log = ["6002", "6001", `7f${topic}`, "610120", "6000", "a3"];
    const data = `0x${[...offsets, ...log, "6000", "6000", "f3"].join("")}`;
    const hash = await rpc<Hex>("eth_sendTransaction", [{ from, data }]);
    const view = await vi.waitUntil(async () => {
      const found: TransactionView | undefined = await getData(`/explorer/${NETWORK}/tx/${hash}`);
      return found?.status === "succeeded" && found;
    });
    expect(view).toMatchObject({ to: null, functionResults: [], report: null });
    const [event] = view.events;
    expect(event).toMatchObject({ event: "RequestProcessed", contract: { address: view.created!.address } });
    expect(event!.contract.name).toBeUndefined();
    expect((await get(`/explorer/${NETWORK}/tx/${hash}`)).text).toContain("Created contract");
  });

  test("behaviour: hostile text in a source, an argument and a result stays text, and its hidden characters are seen", async () => {
    const body = {
      network: NETWORK,
      source: `// ${HOSTILE}\nreturn Functions.encodeString(args[0])`,
      args: [HOSTILE],
    };
    const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", { body });
    expect(data.success).toBe(true);
    const page = (await get(data.url)).text;
    expect(page).not.toMatch(/<script>|<img|\u202E/);
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page).toContain('<span class="hidden-char">U+202E</span>');
    expect((await getData(data.url)).functionResults[0].program.args).toEqual([HOSTILE]);
  });
});

describe("the application", () => {
  test("default: a dapp is made, its key is told on demand and works, and stops working when revoked", async () => {
    const made = await post("/dapps", { name: "shop", presets: "on", functions: "on" });
    expect(made).toMatchObject({
      status: 303,
      location: expect.stringMatching(/^\/dapps\/dapp_[0-9a-z]{26}$/),
    });
    const page = await get(`${made.location}/config-vars`);
    expect(page.text).not.toMatch(/tyche_[0-9A-Za-z]{39}/);
    const key = /keys\/(key_[0-9a-z]{26})\/reveal/.exec(page.text)![1]!;
    const revealed = await post(`${made.location}/keys/${key}/reveal`, {}, { accept: "application/json" });
    const { apiKey } = JSON.parse(revealed.text).data;
    const call = () => tyche.call("GET", "/api/requests", { headers: { authorization: apiKey } });
    expect((await call()).status).toBe(200);
    expect((await post(`${made.location}/keys/${key}/reveal`, {})).text).toContain(apiKey);
    expect((await post(`${made.location}/keys/${key}/revoke`, {})).status).toBe(303);
    expect((await call()).status).toBe(401);
    expect((await post(`${made.location}/keys`, {})).status).toBe(303);
    expect((await get(`${made.location}/config-vars`)).text.match(/\/reveal"/g)).toHaveLength(1);
  });

  test("error: the key of another dapp can't be reached through this one", async () => {
    const other = await post("/dapps", { name: "other", presets: "on" });
    const key = /keys\/(key_[0-9a-z]{26})\/reveal/.exec(
      (await get(`${other.location}/config-vars`)).text,
    )![1]!;
    expect((await post(`/dapps/${await firstDapp()}/keys/${key}/reveal`, {})).status).toBe(404);
    expect((await post(`/dapps/${await firstDapp()}/keys/${key}/revoke`, {})).status).toBe(404);
  });

  test("behaviour: a hostile name stays text on every page that shows it", async () => {
    const name = HOSTILE.replace("\u202E", "").slice(0, 60);
    const { location } = await post("/dapps", { name, presets: "on" });
    for (const path of [
      "/",
      location,
      `${location}/config-vars`,
      `${location}/requests`,
      "/presets/coinflip",
    ]) {
      const { text } = await get(path);
      expect(text).not.toMatch(/<script>|<img/);
      expect(text).toContain("&lt;script&gt;alert(1)");
    }
  });

  test.each([
    [{ name: "", presets: "on" }, "must be 1 to 60 characters"],
    [{ name: "x".repeat(61), presets: "on" }, "must be 1 to 60 characters; got 61"],
    [{ name: "a\u0007b", presets: "on" }, "must not hold control characters"],
    [{ name: "a\u202eb", presets: "on" }, "must not hold control characters"],
    [{ name: "shop" }, "choose at least one"],
  ])("error: the dapp %j is refused with the reason", async (fields, reason) => {
    const { status, text } = await post("/dapps", fields);
    expect(status).toBe(400);
    expect(text.toLowerCase()).toContain(reason.toLowerCase());
  });

  test("default: config vars show subscriptions and contracts of each network", async () => {
    const { text } = await get(`/dapps/${await firstDapp()}/config-vars`);
    for (const { name, contracts, rpcUrl } of networks) {
      for (const shown of [
        contracts["vrfCoordinator"]!,
        contracts["functionsRouter"]!,
        contracts["link"]!,
        rpcUrl,
        `${name.toUpperCase()}_VRF_SUBSCRIPTION_ID=`,
      ]) {
        expect(text.toLowerCase()).toContain(shown.toLowerCase());
      }
    }
  });

  test("default: a preset runs from its page, and the request's page shows result, states and links that open", async () => {
    const dapp = await firstDapp();
    const ran = await post("/presets/range", { dapp, network: "fuji", "param.min": "-5", "param.max": "-5" });
    expect(ran).toMatchObject({
      status: 303,
      location: expect.stringMatching(`^/dapps/${dapp}/requests/req_`),
    });
    const { text } = await get(ran.location);
    expect(text).toContain('<p class="big-result">-5</p>');
    for (const state of ["received", "submitted", "randomness", "executing", "fulfilled"])
      expect(text).toContain(`<b>${state}</b>`);
    const links = [...text.matchAll(/href="(\/explorer\/fuji\/tx\/[^"]+)"/g)].map(([, href]) => href!);
    expect(links.length).toBeGreaterThanOrEqual(5);
    for (const link of new Set(links)) expect((await get(link)).status).toBe(200);
    expect((await get(`/dapps/${dapp}/requests?kind=preset&network=fuji`)).text).toContain(ran.location);
    expect((await get(`/dapps/${dapp}/requests?kind=random&network=fuji`)).text).not.toContain(ran.location);
  });

  test.each([
    ["a preset", "/api/vrfv2/presets?network=fuji&preset=nDice", { numDice: "3" }],
    ["random numbers", "/api/vrfv2/requestRandomNumber?network=fuji", { numWords: 2 }],
    [
      "a function",
      "/api/oracleFunctions/runFunction",
      {
        network: "fuji",
        source: "// it's $HOME & <b>\nreturn Functions.encodeString(args[0])",
        args: ["a'b\\n"],
        returnType: "string",
      },
    ],
  ])("behaviour: %s is made again from its page, and by the curl that is there", async (_, path, body) => {
    const dapp = await firstDapp();
    const newest = async (): Promise<{ id: string; params: object; state: string }> =>
      (await tyche.call("GET", "/api/requests?limit=1")).data.items[0];
    await tyche.call("POST", path, { body });
    const first = await newest();
    const page = `/dapps/${dapp}/requests/${first.id}`;
    const ran = await post(page, {});
    const second = await newest();
    expect(ran).toMatchObject({ status: 303, location: `/dapps/${dapp}/requests/${second.id}` });
    expect(second.id).not.toBe(first.id);
    const [, shown] = /data-copy="(curl [^"]*)"/.exec((await get(page)).text)!;
    const command = shown!.replaceAll(/&(?:quot|lt|gt|amp|#39);/g, (entity) => ENTITIES[entity]!);
    const env = { ...process.env, TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey };
    const { stdout } = await promisify(execFile)("bash", ["-c", command], { env });
    expect(JSON.parse(stdout)).toMatchObject({ data: { success: true } });
    expect(await newest()).toMatchObject({ params: first.params, state: "fulfilled" });
    expect(second.params).toEqual(first.params);
  });

  test("error: what is no preset, function or words is not made again", async () => {
    const dapp = await firstDapp();
    const consumer = networks.find(({ name }) => name === "sepolia")!.contracts["link"]!;
    const { location } = await post(`/dapps/${dapp}/consumers`, { consumer, network: "sepolia" });
    expect((await get(location)).text).not.toContain("Run again");
    expect((await post(location, {})).status).toBe(404);
  });

  test("behaviour: a list is typed in line by line", async () => {
    const dapp = await firstDapp();
    const ran = await post("/presets/lotto", {
      dapp,
      network: "sepolia",
      "param.numberOfWinners": "2",
      "param.list": "ann & co\r\nbob\r\n",
    });
    const { text } = await get(ran.location);
    const winners = [...text.matchAll(/<li>(ann &amp; co|bob)<\/li>/g)].map(([, entry]) => String(entry));
    expect(winners.toSorted()).toEqual(["ann &amp; co", "bob"]);
  });

  test("error: what a preset can't use is said at its field, and nothing is sent", async () => {
    const dapp = await firstDapp();
    const { status, text } = await post("/presets/range", {
      dapp,
      network: "fuji",
      "param.min": "9",
      "param.max": `"><script>`,
    });
    expect(status).toBe(400);
    expect(text).toMatch(/id="param.max-problem">[^<]+/);
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;"');
  });

  test("default: a contract is linked, and shown as linked", async () => {
    const dapp = await firstDapp();
    const consumer = networks.find(({ name }) => name === "fuji")!.contracts["link"]!;
    const linked = await post(`/dapps/${dapp}/consumers`, {
      consumer: consumer.toLowerCase(),
      network: "fuji",
    });
    expect(linked.status).toBe(303);
    expect((await get(linked.location)).text).toContain("Linked by");
    expect((await get(`/dapps/${dapp}/consumers`)).text.toLowerCase()).toContain(consumer.toLowerCase());
  });

  test("behaviour: a contract that the chain has lost is shown as such", async () => {
    const dapp = await firstDapp();
    const page = `/dapps/${dapp}/consumers`;
    const { contracts, rpcUrl } = networks.find(({ name }) => name === "fuji")!;
    const { vrfCoordinator, functionsRouter, functionsCoordinator, subscriptionOwner: from } = contracts;
    await post(page, { consumer: functionsCoordinator!, network: "fuji" });
    const row = async () =>
      (await get(page)).text.split("<tr>").find((text) => text.includes(functionsCoordinator!));
    await expect.poll(row).toContain("<td>linked</td>");
    const { output } = await runTyche(["dapp", "config", "--json"], { TYCHE_DATA_DIR: tyche.dataDir });
    const vars = JSON.parse(output.slice(output.indexOf("{"))) as {
      networks: { network: string; vrfSubscriptionId: string; functionsSubscriptionId: string }[];
    };
    const ids = vars.networks.find(({ network }) => network === "fuji")!;
    const rpc = async (method: string, ...params: unknown[]) => {
      const response = await fetch(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      expect(await response.json()).not.toHaveProperty("error");
    };
    const remove = async (to: Hex, subscriptionId: string) => {
      const args = [BigInt(subscriptionId), functionsCoordinator!] as const;
      const data = encodeFunctionData({ abi: REMOVE_CONSUMER, args });
      await rpc("eth_sendTransaction", { from, to, data, gas: "0x7a120" });
    };
    await rpc("anvil_impersonateAccount", from);
    await rpc("anvil_setBalance", from, "0xde0b6b3a7640000");
    await remove(vrfCoordinator!, ids.vrfSubscriptionId);
    await expect.poll(row).toContain("functions only: link it again");
    await remove(functionsRouter!, ids.functionsSubscriptionId);
    await expect.poll(row).toContain("not linked: the chain has lost it, link it again");
  });

  test("default: a linked contract is unlinked, and shown no more; once more is an error", async () => {
    const dapp = await firstDapp();
    const consumer = networks.find(({ name }) => name === "fuji")!.contracts["functionsRouter"]!;
    await post(`/dapps/${dapp}/consumers`, { consumer, network: "fuji" });
    const page = `/dapps/${dapp}/consumers`;
    await expect.poll(async () => (await get(page)).text.toLowerCase()).toContain(consumer.toLowerCase());
    const unlinked = await post(`${page}/remove`, { consumer, network: "fuji" });
    expect(unlinked.status).toBe(303);
    await expect.poll(async () => (await get(unlinked.location)).text).toContain("Unlinked by");
    expect((await get(page)).text.toLowerCase()).not.toContain(consumer.toLowerCase());
    expect((await post(`${page}/remove`, { consumer, network: "fuji" })).status).toBe(404);
  });

  test.each([
    ["0x12", "sepolia", "0x and 40 hex digits"],
    ["0x000000000000000000000000000000000000dEaD", "sepolia", "there is no contract"],
    ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD".replace("5a", "5A"), "sepolia", "checksum is wrong"],
    ["0x000000000000000000000000000000000000dEaD", "mars", "must be one of"],
  ])("error: the consumer %s on %s is refused with the reason", async (consumer, network, reason) => {
    const { status, text } = await post(`/dapps/${await firstDapp()}/consumers`, { consumer, network });
    expect(status).toBe(400);
    expect(text).toContain(reason);
  });

  test("default: dry runs and refused calls are listed on the dapp's page and by the API, text as text", async () => {
    const source = `throw new Error(${JSON.stringify(HOSTILE)})`;
    await tyche.call("POST", "/api/oracleFunctions/simulate", { body: { source } });
    const body = { network: NETWORK, source: "return 1 +" };
    expect(await tyche.call("POST", "/api/oracleFunctions/runFunction", { body })).toMatchObject({
      status: 422,
    });
    const { items } = (await tyche.call("GET", "/api/dryRuns")).data;
    expect(items.slice(0, 2)).toMatchObject([
      { kind: "function", network: NETWORK, title: "return 1 +", success: false },
      { kind: "dry-run", network: null, success: false },
    ]);
    const { status, text } = await get(`/dapps/${await firstDapp()}/dry-runs`);
    expect(status).toBe(200);
    expect(text).toContain("return 1 +");
    expect(text).toContain("function refused");
    expect(text).not.toContain("<script>alert");
    const { location } = await post("/dapps", { name: "quiet", functions: "on" });
    expect((await get(`${location}/dry-runs`)).text).toContain("None yet");
  });

  test("default: a dapp is renamed and deleted: its key stops, its contract is unlinked, its shared result stays", async () => {
    const { location } = await post("/dapps", { name: "short", presets: "on", functions: "on" });
    const id = location.split("/").at(-1)!;
    const { output } = await runTyche(["dapp", "config", id, "--json"], { TYCHE_DATA_DIR: tyche.dataDir });
    const { keys } = JSON.parse(output.slice(output.indexOf("{"))) as { keys: [{ apiKey: string }] };
    const headers = { authorization: keys[0].apiKey };
    const consumer = networks.find(({ name }) => name === NETWORK)!.contracts["link"]!;
    const link = `/api/vrfv2/addConsumer?dappId=${id}&network=${NETWORK}&consumer=${consumer}`;
    expect(await tyche.call("POST", link, { headers })).toMatchObject({ status: 200 });
    const flip = `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`;
    expect(await tyche.call("POST", flip, { headers, body: {} })).toMatchObject({ status: 200 });
    const [{ id: request }] = (await tyche.call("GET", "/api/requests?kind=preset", { headers })).data.items;

    expect((await post(`/dapps/${id}/rename`, { name: "a\u001b[2J" })).status).toBe(400);
    expect((await post(`/dapps/${id}/rename`, { name: "shorter" })).status).toBe(303);
    const refused = await post(`/dapps/${id}/delete`, { confirmation: "short" });
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("Nothing is deleted") });
    expect(await tyche.call("GET", "/api/requests", { headers })).toMatchObject({ status: 200 });
    expect((await post(`/dapps/${id}/delete`, { confirmation: "shorter" })).location).toBe("/");

    expect(await tyche.call("GET", "/api/requests", { headers })).toMatchObject({ status: 401 });
    expect((await get(`/dapps/${id}`)).status).toBe(404);
    expect((await get("/")).text).not.toContain(id);
    expect((await get(`/r/${request}`, { cookie: "" })).status).toBe(200);
    const owner = networks.find(({ name }) => name === NETWORK)!.contracts["subscriptionOwner"]!;
    await expect
      .poll(async () => (await getData(`/explorer/${NETWORK}/address/${owner}`)).transactions, {
        timeout: 60_000,
      })
      .toContainEqual(expect.objectContaining({ method: "removeConsumer" }));
  });

  test("default: networks show how they stand and where they are reached", async () => {
    const { text } = await get("/networks");
    for (const { rpcUrl } of networks) expect(text).toContain(rpcUrl);
    expect(text.match(/>serving</g)).toHaveLength(networks.length);
    const [, address] = /q=(0x[0-9a-fA-F]{40})"/.exec(text.slice(text.indexOf("funded accounts")))!;
    expect(BigInt(await rpc<string>("eth_getBalance", [address, "latest"]))).toBeGreaterThan(0n);
  });

  test("default: usage as a chart, a table and CSV; days that can't be shown are refused in the page", async () => {
    await preset();
    const page = `/dapps/${await firstDapp()}/usage`;
    const { status, text } = await get(page);
    expect(status).toBe(200);
    expect(text).toMatch(/<svg class="chart"[^>]* role="img" aria-label="\d/);
    expect(text).toMatch(/<rect class="good"/);
    expect(text).not.toMatch(/ style=/);
    const csv = /href="([^"]+usage\.csv\?[^"]+)"/.exec(text)![1]!.replaceAll("&amp;", "&");
    const file = await get(csv);
    expect(file.headers.get("content-type")).toContain("text/csv");
    expect(file.text).toMatch(/^day,network,preset,.*\r\n(.*\r\n)*\d{4}-\d\d-\d\d,sepolia,[1-9]/);
    const refused = await get(`${page}?from=2026-02-30`);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("must be a day");
  });
});

describe("who may use it", () => {
  test("default: every page has the headers that keep it from being framed, sniffed, cached, or run foreign scripts", async () => {
    for (const path of ["/", "/networks", `/explorer/${NETWORK}`, "/nope"]) {
      const { headers } = await get(path);
      expect(headers.get("content-security-policy")).toMatch(
        /default-src 'none';script-src 'self';style-src 'self';.*frame-ancestors 'none'/,
      );
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(Object.fromEntries(headers)).toMatchObject({
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        // `no-referrer` would make browsers send `Origin: null` with our own forms.
        "referrer-policy": "same-origin",
      });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("behaviour: no page holds a script, style or handler of its own", async () => {
    const dapp = await firstDapp();
    for (const path of [
      "/",
      `/dapps/${dapp}`,
      `/dapps/${dapp}/config-vars`,
      `/dapps/${dapp}/requests`,
      "/presets/lotto",
      "/networks",
      `/explorer/${NETWORK}`,
    ]) {
      expect((await get(path)).text).not.toMatch(
        /<script(?! type="module" src="\/assets\/app\.js"><\/script>)|<style|<[a-z][^>]*\s(?:style|on[a-z]+)=/,
      );
    }
  });

  test("error: a name that was made to lead here (DNS rebinding) gets nothing but the API", async () => {
    const host = `evil.example:${new URL(tyche.url).port}`;
    for (const path of [
      "/",
      "/networks",
      "/explorer",
      `/explorer/${NETWORK}`,
      "/metrics",
      "/readyz",
      "/sign-in",
    ])
      expect({ path, ...(await raw("GET", path, { host })) }).toMatchObject({ path, status: 421 });
    expect((await raw("POST", "/dapps", { host, cookie }, "name=x&presets=on")).status).toBe(421);
    expect((await raw("GET", "/healthz", { host })).status).toBe(200);
    expect((await raw("GET", "/api/presets", { host })).status).toBe(401);
  });

  test("error: forms from elsewhere, without their token, or that are no forms, change nothing", async () => {
    const dapps = (await get("/")).text.match(/class="panel"><h3><a href="\/dapps/g)!.length;
    const fields = { name: "forged", presets: "on" };
    expect((await post("/dapps", fields, { origin: "http://evil.example" })).status).toBe(403);
    expect((await post("/dapps", fields, { "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await post("/dapps", { ...fields, token: "" })).status).toBe(403);
    expect((await post("/dapps", fields, { "content-type": "text/plain" })).status).toBe(415);
    expect((await post("/dapps", { ...fields, more: "x".repeat(300_000) })).status).toBe(413);
    expect((await get("/")).text.match(/class="panel"><h3><a href="\/dapps/g)).toHaveLength(dapps);
  });

  test("behaviour: assets are found again by their ETag", async () => {
    const first = await get("/assets/style.css");
    expect(first.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect((await get("/assets/style.css", { "if-none-match": first.headers.get("etag")! })).status).toBe(
      304,
    );
    expect((await get("/assets/..%2fapp.ts")).status).toBe(404);
  });
});

/** A call with a Host header of its own, which fetch doesn't allow. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
): Promise<{ status: number; location: string }> {
  const { hostname, port } = new URL(tyche.url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        host: hostname,
        port,
        method,
        path,
        headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded", ...headers },
      },
      (response) => {
        response.resume();
        response.on("end", () =>
          resolve({ status: response.statusCode!, location: response.headers.location ?? "" }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

test("behaviour: the page that verifies is open to everybody, and its policy allows nothing unsafe", async () => {
  const { status, headers, text } = await get("/verifier.html", { cookie: "" });
  expect(status).toBe(200);
  const policy = headers.get("Content-Security-Policy");
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-.*frame-ancestors 'none'$/);
  expect(policy).not.toContain("unsafe");
  expect(text).toContain("<h1>Verify a result</h1>");
});

test("default: a result's page for everybody shows it and how to check it, and nothing of the dapp", async () => {
  const dappId = await firstDapp();
  const { data } = await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=lotto`, {
    body: { numberOfWinners: "1", list: ["ann", "a secret loser", "a secret loser"] },
    headers: { prefer: "respond-async" },
  });
  await tyche.call("GET", `/api/requests/${data.id}`, { headers: { accept: "application/json" } });
  await expect
    .poll(async () => (await get(`/r/${data.id}`, { cookie: "" })).status, { timeout: 30_000 })
    .toBe(200);
  const page = (await get(`/r/${data.id}`, { cookie: "" })).text;
  const hash = /\/explorer\/sepolia\/tx\/(0x[0-9a-f]{64})/.exec(page)![1]!;
  expect(page).toMatch(/aria-label="Result"><li>(?:ann|a secret loser)<\/li><\/ol>/);
  expect(page).toContain(`npx tyche verify ${NETWORK} ${hash} --rpc-url http://127.0.0.1:`);
  expect(page).toContain(`/verifier.html#tx=${hash}&amp;rpc=`);
  expect(page).not.toContain(dappId);
  expect(page).not.toContain("numberOfWinners");
});

test("error: there is no page for a request without a result, nor for one that nobody made", async () => {
  const { data } = await tyche.call(
    "POST",
    `/api/vrfv2/addConsumer?dappId=${await firstDapp()}&network=${NETWORK}&consumer=${networks.find(({ name }) => name === NETWORK)!.contracts["link"]}`,
    { headers: { prefer: "respond-async" } },
  );
  for (const id of [data.id, `req_${"0".repeat(26)}`, "nothing"])
    expect((await get(`/r/${id}`, { cookie: "" })).status).toBe(404);
});
