import type { ProofView } from "../../src/api/types.ts";
import { readFile } from "node:fs/promises";
import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  hexToBigInt,
  keccak256,
  type Hex,
} from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { AddressBook } from "../../src/chainlink/addressBook.ts";
import { batchVrfCoordinatorAbi, vrfCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import { decodeDelivery } from "../../src/chainlink/calldata.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import {
  createClient,
  createExplorer,
  type NetworkView,
  type PresetResult,
  type TycheClient,
  type TycheExplorer,
} from "../../src/client/index.ts";
import { readRandomness } from "../../src/explorer/readRandomness.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { connectOperator } from "../support/signIn.ts";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const NETWORK = "sepolia";
/** Text that is markup, ends attributes, and reverses the direction of what follows it. */
const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>\u202Eevil`;

let tyche: TycheProcess;
let client: TycheClient;
let explorer: TycheExplorer;
let networks: readonly NetworkView[];
beforeAll(async () => {
  tyche = await startTycheProcess();
  client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey, retries: 0 });
  explorer = createExplorer({ baseUrl: tyche.url, retries: 0 });
  networks = await client.networks();
});
afterAll(async () => {
  await tyche.stop();
});

const rpc = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
  const { rpcUrl } = networks.find(({ name }) => name === NETWORK)!;
  const response = await fetch(rpcUrl!, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: Result }).result;
};
const readCalldata = async (hash: Hex): Promise<Hex> =>
  (await rpc<{ input: Hex }>("eth_getTransactionByHash", [hash])).input;
const flip = (): Promise<PresetResult> => client.preset("coinflip", {}, { network: NETWORK });
const hashOf = (url: string): string => url.split("/").at(-1)!;

test("every network names its coin", async () => {
  const coins = { polygon_mumbai: "MATIC", sepolia: "ETH", fuji: "AVAX", fantom_testnet: "FTM" };
  for (const list of [networks, await explorer.networks()])
    expect(Object.fromEntries(list.map(({ name, coin }) => [name, coin]))).toEqual(coins);
});

test.each(["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"])(
  "every link of an answer names a transaction of %s that holds it",
  async (network) => {
    const coin = await client.preset("coinflip", {}, { network });
    const words = await client.random({ network, numWords: 12 });
    const source = "return Functions.encodeString(args[0])";
    const run = await client.runFunction({ network, source, args: ["hello"] });
    for (const url of [coin.url, coin.vrfv2EventHash, words.url, run.url])
      expect(url).toMatch(new RegExp(`^${tyche.url}/explorer/${network}/tx/0x[0-9a-f]{64}$`));
    const delivered = await explorer.transaction(network, hashOf(coin.url));
    expect(delivered.presets).toMatchObject([{ answer: { response: coin.result } }]);
    const proved = await explorer.transaction(network, hashOf(words.url));
    expect(proved.randomness).toMatchObject([{ words: words.randomNumber }]);
    const answered = await explorer.transaction(network, hashOf(run.url));
    expect(answered.functionResults).toMatchObject([{ readings: { text: "hello" } }]);
  },
);

describe("a proof", () => {
  test("has the fields of the calldata, with output and words that follow from gamma, and links to and fro", async () => {
    const { vrfv2Hash, url, requestId, result } = await flip();
    const { fulfilment } = decodeDelivery(await readCalldata(vrfv2Hash))!;
    const { args } = decodeFunctionData({ abi: batchVrfCoordinatorAbi, data: fulfilment });
    const [[proof], [commitment]] = args as unknown as [[Record<string, unknown>], [Record<string, unknown>]];
    const view = await explorer.transaction(NETWORK, vrfv2Hash);
    const randomness = view.randomness[0]!;
    const numberOf = (value: unknown) => BigInt(value as string | bigint);
    for (const [name, value] of Object.entries(proof))
      expect({ [name]: [randomness.proof[name as keyof ProofView]].flat().map(numberOf) }).toEqual({
        [name]: [value].flat().map(numberOf),
      });
    const { sender, ...numbers } = randomness.commitment;
    expect({ ...numbers, sender: sender.address }).toEqual({
      ...commitment,
      blockNum: String(commitment["blockNum"]),
      subId: String(commitment["subId"]),
    });
    const hash = (...words: readonly bigint[]): bigint =>
      hexToBigInt(
        keccak256(
          encodeAbiParameters(
            words.map(() => ({ type: "uint256" })),
            words,
          ),
        ),
      );
    const [x, y] = randomness.proof.gamma;
    const output = hash(3n, BigInt(x), BigInt(y));
    expect(BigInt(randomness.output)).toBe(output);
    expect(randomness).toMatchObject({ outcome: "fulfilled", words: [hash(output, 0n).toString()] });
    const word = toWord(hash(hash(output, 0n), 0n));
    const delivered = await explorer.transaction(NETWORK, hashOf(url));
    expect(delivered.presets).toMatchObject([
      {
        requestId,
        vrfRequestId: randomness.requestId,
        item: 0,
        word,
        program: { bytesArgs: [word] },
        requestedBy: randomness.requestedBy,
        answeredBy: hashOf(url),
        answer: { response: result, err: "" },
      },
    ]);
    const [report] = delivered.reports;
    expect(report).toMatchObject({ requestIds: [randomness.requestId] });
    expect(new Set(report!.signatures.map(({ signer }) => signer?.name)).size).toBe(3);
    const asked = await explorer.transaction(NETWORK, randomness.requestedBy!);
    const { requestId: vrfRequestId, words } = randomness;
    expect(asked.randomRequests).toMatchObject([{ requestId: vrfRequestId, answeredBy: vrfv2Hash, words }]);
  });

  test("one that went straight to the coordinator is read as well", async () => {
    const { vrfv2Hash } = await flip();
    const { fulfilment } = decodeDelivery(await readCalldata(vrfv2Hash))!;
    const { args } = decodeFunctionData({ abi: batchVrfCoordinatorAbi, data: fulfilment });
    const [[proof], [commitment]] = args as unknown as [[never], [never]];
    const direct = encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "fulfillRandomWords",
      args: [proof, commitment],
    });
    const book = { party: (address: Hex) => ({ address }) } as AddressBook;
    const [read] = readRandomness(direct, [], book);
    const view = await explorer.transaction(NETWORK, vrfv2Hash);
    expect(read!.proof).toEqual(view.randomness[0]!.proof);
    expect(read!.words).toEqual(view.randomness[0]!.words);
  });

  test("calldata of another kind has none", () => {
    const book = { party: (address: Hex) => ({ address }) } as AddressBook;
    for (const input of ["0x", "0x08b2da0a", "0xdeadbeef00", `0x08b2da0a${"f".repeat(640)}`] as const)
      expect(readRandomness(input, [], book)).toEqual([]);
  });
});

describe("what isn't there", () => {
  const missing = `0x${"ab".repeat(32)}`;
  test.each<[string, () => Promise<unknown>, string]>([
    [
      "a hash",
      () => explorer.transaction("fuji", missing),
      `Avalanche Fuji (local chain) has no transaction ${missing}`,
    ],
    ["what is no hash", () => explorer.transaction("fuji", "0x00"), "A transaction hash is"],
    ["a network", () => explorer.overview("nowhere"), 'no network "nowhere" here'],
    ["a block", () => explorer.block(NETWORK, "999999"), "has no block 999999"],
    ["a negative block", () => explorer.block(NETWORK, "-1"), "has no block -1"],
    ["what is no address", () => explorer.address(NETWORK, "0x1"), "0x and 40 hex digits"],
    [
      "a source",
      () => explorer.contract(NETWORK, `0x${"1".repeat(40)}`),
      "is not a contract: it has no code",
    ],
    ["a result", () => explorer.shared(`req_${"0".repeat(26)}`), "req_"],
    ["a result of nobody", () => explorer.shared("nothing"), "nothing"],
  ])("%s is a 404 that says so", async (_, read, reason) => {
    await expect(read()).rejects.toMatchObject({
      code: "not_found",
      status: 404,
      message: expect.stringContaining(reason),
    });
  });

  test("a cursor that is none, and a search for nothing, are refused", async () => {
    await expect(explorer.blocks(NETWORK, "x")).rejects.toMatchObject({ code: "invalid_parameter" });
    await expect(explorer.address(NETWORK, missing.slice(0, 42), "1.x")).rejects.toMatchObject({
      code: "invalid_parameter",
    });
    const response = await fetch(`${tyche.url}/api/explorer/search`);
    expect(response.status).toBe(400);
  });

  test.each([
    "networks",
    `networks/${NETWORK}`,
    `networks/${NETWORK}/blocks`,
    `networks/${NETWORK}/blocks/1`,
    `networks/${NETWORK}/transactions/${missing}`,
    `networks/${NETWORK}/addresses/${missing.slice(0, 42)}`,
    `networks/${NETWORK}/addresses/${missing.slice(0, 42)}/contract`,
    "search",
    "results/nothing",
  ])("a parameter that %s doesn't know is refused", async (path) => {
    const response = await fetch(`${tyche.url}/api/explorer/${path}?page=2`);
    const { data } = (await response.json()) as { data: { details?: readonly { path: string }[] } };
    expect({ status: response.status, paths: data.details?.map((one) => one.path) }).toEqual({
      status: 400,
      paths: expect.arrayContaining(["/page"]),
    });
  });

  test("there is no shared result of a link", async () => {
    const [{ id: dappId }] = await findDapps();
    const consumer = networks[0]!.contracts["link"];
    const { id } = await client.submit.addConsumer({ dappId, network: networks[0]!.name, consumer });
    await expect(explorer.shared(id)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("chain, addresses and search", () => {
  test("overview, blocks and addresses, page by page", async () => {
    await flip();
    const overview = await explorer.overview(NETWORK);
    expect(overview).toMatchObject({ network: NETWORK, chainId: 11155111 });
    const { blockNumber, hash } = overview.transactions[0]!;
    const block = await explorer.block(NETWORK, blockNumber);
    expect(block.transactions.map((one) => one.hash)).toContain(hash);
    expect(block).toMatchObject({ baseFeeWei: expect.stringMatching(/^\d+$/), gasLimit: expect.any(String) });
    const consumer = networks.find(({ name }) => name === NETWORK)!.contracts["presetConsumer"];
    expect(await explorer.address(NETWORK, consumer)).toMatchObject({
      name: "PresetConsumer",
      about: "Makes the requests of this service, and receives their results.",
      codeBytes: expect.any(Number),
      isIndexed: true,
      searched: { from: "0" },
      transactions: expect.arrayContaining([expect.objectContaining({ status: "succeeded" })]),
    });
    const list = await explorer.blocks(NETWORK, String(BigInt(blockNumber) + 1n));
    expect(list.blocks[0]).toMatchObject({ number: blockNumber });
    const rest = await explorer.address(NETWORK, consumer, `${blockNumber}.0`);
    expect(rest.transactions.map((one) => one.hash)).not.toContain(hash);
  });

  test.each([
    ["a contract", "0x00", null],
    ["an account that delegates (EIP-7702)", `0xef0100${"12".repeat(20)}`, `0x${"12".repeat(20)}`],
  ])("%s is told from the others by its code", async (_, code, delegate) => {
    const address = `0x${"7702".repeat(10)}`;
    await rpc("anvil_setCode", [address, code]);
    expect(await explorer.address(NETWORK, address)).toMatchObject({
      codeBytes: code.length / 2 - 1,
      delegatesTo: delegate && { address: delegate },
    });
  });

  test("each contract of the service's own comes with the source that it is built from", async () => {
    const { contracts } = await explorer.overview(NETWORK);
    for (const { address, name } of contracts)
      expect(await explorer.contract(NETWORK, address)).toMatchObject({
        name,
        address,
        build: { compiler: expect.stringMatching(/^0\.8\./), sources: expect.any(Array) },
        constructorArguments: expect.any(Array),
      });
    const { link, functionsRouter } = networks.find(({ name }) => name === NETWORK)!.contracts;
    const { constructorArguments } = await explorer.contract(NETWORK, functionsRouter);
    expect(constructorArguments![0]).toEqual({
      knownAs: "LINK token",
      name: "linkToken",
      type: "address",
      value: link,
    });
  });

  test("one search takes every id, on every network, and lists several hits", async () => {
    const { vrfv2Hash, url, requestId } = await flip();
    const view = await explorer.transaction(NETWORK, vrfv2Hash);
    const { requestId: vrfRequestId } = view.randomness[0]!;
    const { hash, number } = await explorer.block(NETWORK, view.block!.number);
    const consumer = networks.find(({ name }) => name === NETWORK)!.contracts["presetConsumer"];
    const proof = `/explorer/${NETWORK}/tx/${vrfv2Hash}`;
    for (const [text, path] of [
      [vrfv2Hash, proof],
      [vrfv2Hash.slice(2), proof],
      [vrfRequestId, proof],
      [vrfRequestId.slice(2), proof],
      [String(BigInt(vrfRequestId)), proof],
      [requestId.toUpperCase().replace("0X", "0x"), new URL(url).pathname],
      [hash, `/explorer/${NETWORK}/block/${number}`],
    ] as const)
      expect((await explorer.search(text)).paths).toEqual([path]);
    expect((await explorer.search(number, NETWORK)).paths).toEqual([`/explorer/${NETWORK}/block/${number}`]);
    expect((await explorer.search(consumer, NETWORK)).paths).toEqual([
      `/explorer/${NETWORK}/address/${consumer}`,
    ]);
    const [request] = (await client.requests({ limit: 1, kind: "preset" })).items;
    expect((await explorer.search(request!.id)).paths).toEqual([`/r/${request!.id}`]);
    const named = await explorer.search("presetcons");
    expect(named).toMatchObject({
      takenFor: [
        "part of the name of a contract, preset or network",
        "part of a request's label",
        "part of the title or result of one of the newest thousand requests",
      ],
    });
    expect(named.paths).toHaveLength(networks.length);
    expect(await explorer.search("Avalanche")).toMatchObject({ hits: [], paths: ["/explorer/fuji"] });
    expect((await explorer.search("testnets")).paths).toEqual([]);
    expect(await explorer.search("1")).toMatchObject({ takenFor: ["a block number"] });
    expect(await explorer.search(`0x${"ab".repeat(32)}`)).toMatchObject({
      paths: [],
      reason: expect.stringContaining("No network here knows"),
    });
    expect((await explorer.search("a".repeat(5_000))).reason).toContain("more than 100");
    expect((await explorer.search("<script>")).paths).toEqual([]);
  });

  test("a contract that writes what the oracle writes is shown as what it is", async () => {
    const [from] = await rpc<Hex[]>("eth_accounts", []);
    // Creation code that logs RequestProcessed(1, 2, ...) with three empty byte strings, and deploys no code.
    const topic = EVENT_TOPICS.RequestProcessed.slice(2);
    const offsets = ["60c0606052", "60e0608052", "61010060a052"];
    const log = ["6002", "6001", `7f${topic}`, "610120", "6000", "a3"];
    const data = `0x${[...offsets, ...log, "6000", "6000", "f3"].join("")}`;
    const hash = await rpc<Hex>("eth_sendTransaction", [{ from, data }]);
    const view = await vi.waitUntil(async () => {
      const found = await explorer.transaction(NETWORK, hash).catch(() => undefined);
      return found?.status === "succeeded" && found;
    });
    expect(view).toMatchObject({ to: null, functionResults: [], presets: [], reports: [] });
    const [event] = view.events;
    expect(event).toMatchObject({ event: "RequestProcessed", contract: { address: view.created!.address } });
    expect(event!.contract.name).toBeUndefined();
  });

  test("limit: lists 1,000 events of a transaction, and says how many more there are", async () => {
    const [from] = await rpc<Hex[]>("eth_accounts", []);
    // Creation code that writes 1,500 logs in a loop.
    const data = `0x6105dc5b60006000a0600190038060035700`;
    const hash = await rpc<Hex>("eth_sendTransaction", [{ from, data }]);
    const view = await vi.waitUntil(async () => {
      const found = await explorer.transaction(NETWORK, hash).catch(() => undefined);
      return found?.status === "succeeded" && found;
    });
    expect(view.events).toHaveLength(1_000);
    expect(view.events.at(-1)!.logIndex).toBe(999);
    expect(view.moreEvents).toBe(500);
  });

  test("the source of an installed preset is there as its author wrote it", async () => {
    const { url } = await flip();
    const { program } = (await explorer.transaction(NETWORK, hashOf(url))).presets[0]!;
    const written = await readFile(new URL("../../plugins/coinflip/source.js", import.meta.url), "utf8");
    expect(program!.preset).toMatchObject({ name: "coinflip", title: "Flip a coin" });
    expect(program!.preset!.source.endsWith(written)).toBe(true);
    expect(program!.source.length).toBeLessThan(program!.preset!.source.length);
  });

  test("hostile text comes as it is, for the page to show as text", async () => {
    const source = `// ${HOSTILE}\nreturn Functions.encodeString(args[0])`;
    const { url, success } = await client.runFunction({ network: NETWORK, source, args: [HOSTILE] });
    expect(success).toBe(true);
    const view = await explorer.transaction(NETWORK, hashOf(url));
    expect(view.functionResults[0]!.program).toEqual({ source, args: [HOSTILE], bytesArgs: [] });
  });

  test("a shared result has what is on chain, and nothing else of the dapp", async () => {
    const submitted = await client.submit.preset(
      "lotto",
      { numberOfWinners: 1, list: ["ann", "a secret loser", "a secret loser"] },
      { network: NETWORK },
    );
    await submitted.wait();
    const shared = await explorer.shared(submitted.id);
    const params = { numberOfWinners: "1", list: ["ann", "a secret loser", "a secret loser"] };
    expect(shared).toMatchObject({ network: NETWORK, preset: "lotto", params, shown: { as: "list" } });
    const text = JSON.stringify(shared);
    for (const { id } of await findDapps()) expect(text).not.toContain(id);
  });
});

async function findDapps(): Promise<readonly [{ readonly id: string }]> {
  return (await connectOperator(tyche).dapps()) as unknown as readonly [{ readonly id: string }];
}
