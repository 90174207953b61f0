import type { ContractRequestView } from "../../src/api/types.ts";
import { getAddress } from "viem";
import { expect, test } from "vitest";
import { awaitContractRequest } from "../../src/client/awaitContractRequest.ts";
import type { OperatorPart } from "../../src/http/operatorPart.ts";
import {
  createClient,
  createExplorer,
  type TycheClient,
  type TycheOperator,
} from "../../src/client/index.ts";
import { runCli } from "../cli/runCli.ts";
import { deploySampleContract } from "../support/sampleContract.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { createExampleService } from "./exampleService.ts";
import { startHarness } from "./harness.ts";

const NETWORK = "sepolia";
const OTHER = "fuji";
/** Of no transaction. */
const HASH = `0x${"12".repeat(32)}`;

let tyche: SharedDapp;
let operator: TycheOperator;
let client: TycheClient;
shared.beforeAll(async ({ service }) => {
  tyche = await joinService(service);
  operator = connectOperator(tyche);
  client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });
});

test("what a dapp's contract requested is listed for the dapp's key, on its network alone, and by the command line", async () => {
  const contract = await deploySampleContract(operator, { dappId: tyche.dappId, network: NETWORK });
  const transactionHash = await contract.roll();
  const readFirst = async () => (await client.contractRequests({ network: NETWORK })).items[0];
  await expect.poll(async () => (await readFirst())?.state).toBe("fulfilled");
  const first = (await readFirst())!;
  expect(first).toMatchObject({
    kind: "random",
    consumer: { address: getAddress(contract.address) },
    transactionHash,
    numWords: 1,
    words: [expect.stringMatching(/^\d+$/)],
    answeredBy: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  });
  const verified = await client.verify({ network: NETWORK, tx: first.answeredBy! });
  expect(verified).toMatchObject({ valid: true, requests: [{ randomNumber: first.words }] });
  expect(await client.contractRequests({ network: OTHER })).toMatchObject({ items: [], older: null });

  const cli = (network: string, ...more: string[]) =>
    runCli(["consumer", "requests", "--dapp", tyche.dappId, "--network", network, ...more], "", {
      TYCHE_DATA_DIR: tyche.dataDir,
    });
  const [text, json, none] = await Promise.all([cli(NETWORK), cli(NETWORK, "--json"), cli(OTHER)]);
  expect(text.stdout).toMatch(
    new RegExp(`^${transactionHash}  \\S{19}  random    fulfilled  ${first.consumer.address}  \\d+…?\n$`),
  );
  expect(JSON.parse(json.stdout)).toMatchObject({ items: [first], older: null });
  expect(none).toMatchObject({ code: 0, stdout: "", stderr: "no requests\n" });
});

test("the command line waits for what a contract requested in a transaction, and prints all of its words", async () => {
  const of = { dappId: tyche.dappId, network: NETWORK };
  const contract = await deploySampleContract(operator, { ...of, numWords: 12 });
  const wait = (hash: string, ...more: string[]) =>
    runCli(["consumer", "wait", hash, "--dapp", tyche.dappId, "--network", NETWORK, ...more], "", {
      TYCHE_DATA_DIR: tyche.dataDir,
    });
  const hash = await contract.roll();
  const printed = await wait(hash);
  const explorer = createExplorer({ baseUrl: tyche.url });
  const { words } = (await explorer.transaction(NETWORK, hash)).randomRequests[0]!;
  expect(words).toHaveLength(12);
  expect(printed).toMatchObject({ code: 0, stdout: `${words!.join("\n")}\n`, stderr: "" });

  const reverted = await contract.revert();
  const [json, other, failed, none] = await Promise.all([
    wait(hash, "--json"),
    wait(hash, "--kind", "function"),
    wait(reverted),
    wait(HASH),
  ]);
  expect(JSON.parse(json.stdout)).toMatchObject({ transactionHash: hash, state: "fulfilled", words });
  expect(other).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `error: no linked contract requested a function in ${hash}\n`,
  });
  expect(failed).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`error: ${reverted} reverted`),
  });
  expect(none).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("has no transaction") });
});

test("another dapp sees nothing of it, nor does a new one before it has subscriptions", async () => {
  const { key } = await operator.createDapp({ name: "a stranger to the contract" });
  const other = createClient({ baseUrl: tyche.url, apiKey: key.apiKey });
  expect(await other.contractRequests({ network: NETWORK })).toMatchObject({ items: [], older: null });
  const sought = { network: NETWORK, transactionHash: HASH, block: 1n, kind: "random" } as const;
  const explorer = createExplorer({ baseUrl: tyche.url });
  await expect(awaitContractRequest(other, explorer, sought)).rejects.toMatchObject({ code: "not_found" });
});

test("a request that waits says that the dapp's daily budget is used up, and one that has ended doesn't", async () => {
  const items = [
    { state: "waiting", waitsFor: "too little LINK" },
    { state: "waiting" },
    { state: "fulfilled" },
  ] as ContractRequestView[];
  const list = { network: NETWORK, items, searched: { from: "0", to: "1" }, older: null };
  const operator = {
    access: { recognize: async () => undefined },
    explorer: { findContractRequests: async () => list },
    readConfigVars: async () => ({
      networks: [{ network: NETWORK, vrfSubscriptionId: "1", functionsSubscriptionId: "2" }],
    }),
  } as unknown as OperatorPart;
  const service = { ...createExampleService(), findSpentBudget: async () => "the budget is used up" };
  const { call } = await startHarness({ more: { operator, service } });
  const { data } = await call("GET", `/api/contractRequests?network=${NETWORK}`);
  expect(data["items"]).toEqual([
    { state: "waiting", waitsFor: "too little LINK; the budget is used up" },
    { state: "waiting", waitsFor: "the budget is used up" },
    { state: "fulfilled" },
  ]);
});

test.each([
  ["", "network"],
  ["?network=nowhere", "network"],
  [`?network=${NETWORK}&before=last`, "must be a block number, or one with a position in the block"],
  [`?network=${NETWORK}&limit=3`, "limit"],
])("%j is refused with what to do", async (query, reason) => {
  const { status, data } = await tyche.call("GET", `/api/contractRequests${query}`);
  expect([status, JSON.stringify(data)]).toEqual([400, expect.stringContaining(reason)]);
});
