import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createOperator } from "../../../src/client/index.ts";
import { FUNDED_ACCOUNTS } from "../../../src/dapps/faucet.ts";
import { deploySampleContract } from "../../support/sampleContract.ts";
import { signUp } from "../../support/passkey.ts";
import { readOperatorToken } from "../../support/signIn.ts";
import { startTycheProcess, type TycheProcess } from "../../support/tyche.ts";
import { startReceiver, type Receiver } from "../../webhooks/receiver.ts";

// Untyped: the recorded answers are compared with the API's own schemas.
type Data = any; // eslint-disable-line typescript/no-explicit-any

/** Examples of one operation's responses. */
export interface Example {
  /** `data` of a 200 response. */
  readonly answer: Data;
  /** `data` of a 202 response. */
  readonly accepted?: unknown;
  /** A 200 response as `text/csv`. */
  readonly csv?: string;
}

const ROOT = path.resolve(import.meta.dirname, "../../..");
const NETWORK = "sepolia";
const SOURCE = {
  source: "return Functions.encodeUint256(BigInt(args[0]) * 2n);",
  args: ["21"],
  returnType: "uint256",
};
const FUNCTION = { network: NETWORK, ...SOURCE };
const REFUSED = {
  ...FUNCTION,
  source:
    'const [price] = args;\nif (!/^[0-9]+$/.test(price))\n  throw new Error("args[0] is not a number");\n',
  args: ["n/a"],
};
/** Addresses in the examples, whatever ports the service and its chain have. */
const SERVICE_URL = "http://127.0.0.1:3000";
const RPC_URL = "http://127.0.0.1:8546";
const RECEIVER_URL = "https://example.com";

/** A key as long as each network's own. */
const EXAMPLE_KEY = {
  Group: "P256",
  G_bar: "BPZm0iGZ0I0irsGpbEWQ0raJHNb/FBlgKuvrLpwzo0Gao+0SLEnMJYG0bt/VTPZ0KLPXkMINnBLVHunN0Xx/0Qo=",
  H: "BFpV0DSRqVhYiRvWUPKmD0NapOrJDFIWO0jhy0SDJidcZhAPYq0WCVsYmxKztX0WTgD0bxqUhdU0S0+Xd0efaY=",
};

interface Call {
  readonly method: string;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Starts a service, uses it, and returns an example of each operation's responses by the operation's id. The examples are about the same
 * few requests, transactions and contracts, and lists are cut down to these.
 */
export async function recordExamples(): Promise<Readonly<Record<string, Example>>> {
  const cwd = mkdtempSync(path.join(tmpdir(), "tyche-examples-"));
  // A preset that is not served: its name is not its folder's.
  cpSync(path.join(ROOT, "plugins/coinflip"), path.join(cwd, "plugins/dice"), { recursive: true });
  const receiver = await startReceiver();
  const tyche = await startTycheProcess({ cwd, env: { TYCHE_ALLOW_HOSTS: receiver.host } });
  try {
    const recorded = JSON.stringify(await useOperations(tyche, receiver));
    const named = recorded
      .replaceAll(receiver.url, RECEIVER_URL)
      .replaceAll(tyche.url, SERVICE_URL)
      .replaceAll(tyche.url.replace("127.0.0.1", "localhost"), SERVICE_URL.replace("127.0.0.1", "localhost"))
      .replaceAll(/http:\/\/127\.0\.0\.1:(?!3000)\d+/g, RPC_URL);
    return JSON.parse(named) as Readonly<Record<string, Example>>;
  } finally {
    await tyche.stop();
    await receiver.close();
    rmSync(cwd, { recursive: true });
  }
}

async function useOperations(
  tyche: TycheProcess,
  receiver: Receiver,
): Promise<Readonly<Record<string, Example>>> {
  const examples: Record<string, Example> = {};
  const token = readOperatorToken(tyche);
  const operator = createOperator({ baseUrl: tyche.url, token });
  let dappId = "";

  const send = async (target: string, { method, body, headers }: Call): Promise<Response> =>
    await fetch(tyche.url + target, {
      method,
      headers: { authorization: token, "tyche-dapp": dappId, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const call = async (status: number, target: string, options: Call): Promise<Data> => {
    const response = await send(target, options);
    const text = await response.text();
    if (response.status !== status) throw new Error(`${target} answered ${response.status}: ${text}`);
    return (JSON.parse(text) as { readonly data: Data }).data;
  };
  const record = async (id: string, target: string, options: Call = { method: "GET" }) => {
    const answer = await call(200, target, options);
    examples[id] = { answer };
    return answer;
  };
  /** Records how a request is accepted, and its result. */
  const request = async (id: string, target: string, options: Call) => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const accepted = await call(202, target, {
      ...options,
      headers: { ...headers, prefer: "respond-async" },
    });
    const answer = await call(200, target, { ...options, headers });
    examples[id] = { answer, accepted };
    return answer;
  };
  /** Records a list of which the example has only some entries. */
  const recordSome = async (id: string, target: string, isShown: (item: Data) => boolean) => {
    const answer = await record(id, target);
    answer.items = answer.items.filter(isShown);
    return answer.items;
  };
  const post = (body?: object): Call => ({ method: "POST", body });
  const isNetwork = ({ name, network = name }: Data): boolean => network === NETWORK;

  const made = await record("createDapp", "/api/dapps", post({ name: "My game" }));
  dappId = made.id;
  const dapp = `/api/dapps/${dappId}`;
  const contract = await deploySampleContract(operator, { dappId, network: NETWORK });
  await record("getDapp", dapp);
  await request("removeConsumer", `/api/vrfv2/consumers/${contract.address}?network=${NETWORK}`, {
    method: "DELETE",
  });
  await request(
    "addConsumer",
    `/api/vrfv2/addConsumer?network=${NETWORK}&consumer=${contract.address}`,
    post(),
  );
  await recordSome("listDapps", "/api/dapps", ({ id }) => id === dappId);

  const flipCoin = `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`;
  // The first call of a source waits for its dry run, unlike all later ones.
  await call(200, flipCoin, post({}));
  let flip = await request("runPreset", flipCoin, post({}));
  while (flip.value !== true) flip = await request("runPreset", flipCoin, post({}));
  await record("getRequest", `/api/requests/${flip.id}`);
  await record("readSharedResult", `/api/explorer/results/${flip.id}`);
  await recordSome("exploreRequests", "/api/explorer/requests", ({ id }) => id === flip.id);
  const chainData = await record("readChainData", `/api/explorer/results/${flip.id}/chainData`);
  keepOnly(chainData.answers, ({ method }) => method === "eth_chainId");
  await request("runFunction", "/api/oracleFunctions/runFunction", post(FUNCTION));
  await record("simulateFunction", "/api/oracleFunctions/simulate", post(FUNCTION));
  await call(422, "/api/oracleFunctions/runFunction", post(REFUSED));
  const { items: dryRuns } = await record("listDryRuns", "/api/dryRuns");
  await record("getDryRun", `/api/dryRuns/${dryRuns[0].id}`);
  await contract.roll();
  const readRolls = () => record("listContractRequests", `/api/contractRequests?network=${NETWORK}`);
  while ((await readRolls()).items[0]?.state !== "fulfilled") await pause(50);
  await record("listConsumers", "/api/vrfv2/consumers");
  const { address } = FUNDED_ACCOUNTS[0]!;
  await recordSome("listFundedAccounts", "/api/faucet/accounts", (one) => one.address === address);
  await record("useFaucet", "/api/faucet", post({ network: NETWORK, address }));

  const words = await request(
    "requestRandomNumber",
    "/api/vrfv2/requestRandomNumber",
    post({ network: NETWORK, numWords: 3 }),
  );
  const { transactionHash: tx } = words;
  await recordSome("listRequests", "/api/requests", ({ id }) => [flip.id, words.id].includes(id));
  const { requests } = await record("verifyTransaction", `/api/verify?network=${NETWORK}&tx=${tx}`);
  const { request: requestTx } = requests[0].transactions;

  const chain = `/api/explorer/networks/${NETWORK}`;
  const [{ contracts }] = await recordSome("listNetworks", "/api/networks", isNetwork);
  await recordSome("exploreNetworks", "/api/explorer/networks", isNetwork);
  await recordSome("explorePresets", "/api/explorer/presets", ({ name }) => name === "range");
  const { block } = await record("exploreTransaction", `${chain}/transactions/${tx}`);
  const pages = [
    await record("exploreBlocks", `${chain}/blocks`),
    await record("exploreBlock", `${chain}/blocks/${block.number}`),
    await record("exploreNetwork", chain),
    await record("exploreAddress", `${chain}/addresses/${contracts.presetConsumer}`),
    await record("exploreTransactions", `${chain}/transactions`),
  ];
  const found: Data[] = pages[2].transactions.filter(({ hash }: Data) => [tx, requestTx].includes(hash));
  for (const { transactions } of pages)
    keepOnly(transactions, ({ hash }) => found.some((one) => one.hash === hash));
  for (const { blocks } of pages)
    keepOnly(blocks, ({ number }) => found.some(({ blockNumber }) => blockNumber === number));
  // How many coins are flipped depends on chance.
  const own = [flip.vrfv2Hash, flip.url.split("/").at(-1)];
  const { requests: listed, events } = pages[3];
  keepOnly(listed, ({ id }) => id === flip.id);
  keepOnly(events, ({ transactionHash }) => own.includes(transactionHash));
  pages[0].older = pages[0].blocks.at(-1).number;
  const feed = pages[2].contracts.find(({ name }: Data) => name === "LINK price in coin");
  await record("exploreContract", `${chain}/addresses/${feed.address}/contract`);
  await record("exploreTransfers", `${chain}/addresses/${contracts.vrfCoordinator}/transfers`);
  await record("exploreContractRequests", `${chain}/addresses/${contract.address}/contractRequests`);
  await record("search", `/api/explorer/search?network=${NETWORK}&q=PresetConsumer`);

  const key = await record("addKey", `${dapp}/keys`, post({ name: "production", dailyLimit: 1_000 }));
  await record("listKeys", `${dapp}/keys`);
  const change = { name: "staging", dailyLimit: 500 };
  await record("changeKey", `${dapp}/keys/${key.id}`, { method: "PATCH", body: change });
  await record("rotateKey", `${dapp}/keys/${key.id}/rotate`, post({ overlapHours: 24 }));
  await record("revealKey", `${dapp}/keys/${key.id}`);
  await record("revokeKey", `${dapp}/keys/${key.id}`, { method: "DELETE" });
  await recordSome("getBalances", `${dapp}/balances`, isNetwork);
  await recordSome("getConfigVars", `${dapp}/configVars`, isNetwork);
  const csv = await (await send("/api/usage?format=csv", { method: "GET" })).text();
  examples["getUsage"] = { answer: await record("getUsage", "/api/usage"), csv };
  await record("getActivity", "/api/activity");
  const readNetworks = async () => (await record("getReadiness", "/api/readiness")).networks;
  let networks = await readNetworks();
  // A reading that takes a busy machine too long has none for the moment.
  for (; networks[NETWORK].subscriptions === undefined; networks = await readNetworks()) await pause(50);
  // Not another program's use of the chain's usual port, which only this machine has.
  examples["getReadiness"]!.answer.networks = { [NETWORK]: { ...networks[NETWORK], warnings: [] } };
  await record("getInfo", "/api/info");
  await recordSome("listPresets", "/api/presets", ({ name }) => name === "range");
  await record("listPresetProblems", "/api/presetProblems");

  const path = "/api/webhooks";
  const webhook = await record("createWebhook", path, post({ url: `${receiver.url}/tyche` }));
  const one = `${path}/${webhook.id}`;
  await record("testWebhook", `${one}/test`, post());
  const readAttempts = () => record("listWebhookAttempts", `${one}/attempts`);
  while ((await readAttempts()).items.length === 0) await pause(50);
  await record("getWebhookAttempt", `${one}/attempts/${(await readAttempts()).items[0].id}`);
  await record("listWebhooks", path);
  await record("getWebhook", one);
  await record("changeWebhook", one, { method: "PATCH", body: { paused: true } });
  await record("rotateWebhookSecret", `${one}/rotate`, post());
  const { at } = (await readAttempts()).items[0];
  await record("replayWebhook", `${one}/replay`, post({ since: at }));
  await record("deleteWebhook", one, { method: "DELETE" });

  const schedules = "/api/schedules";
  const schedule = await record(
    "createSchedule",
    schedules,
    post({ name: "Hourly coin", network: NETWORK, every: "1h", action: { preset: "coinflip" } }),
  );
  const hourly = `${schedules}/${schedule.id}`;
  await record("runSchedule", `${hourly}/run`, post());
  await record("listScheduleRuns", `${hourly}/runs`);
  await record("listSchedules", schedules);
  await record("getSchedule", hourly);
  await record("changeSchedule", hourly, { method: "PATCH", body: { paused: true } });
  await record("deleteSchedule", hourly, { method: "DELETE" });

  const secret = "/api/secrets/API_KEY";
  const value = { network: NETWORK, value: "s3cr3t-value", allowedHosts: ["api.example.com"] };
  await record("setSecret", secret, { method: "PUT", body: value });
  await record("listSecrets", "/api/secrets");
  const encryption = await record("getSecretsKey", `/api/secretsKey?network=${NETWORK}`);
  encryption.thresholdPublicKey = EXAMPLE_KEY;
  await record(
    "setSecretsSigner",
    "/api/secretsSigner",
    post({ network: NETWORK, address: `0x${"0".repeat(40)}` }),
  );
  await record("deleteSecret", `${secret}?network=${NETWORK}`, { method: "DELETE" });

  const triggers = "/api/triggers";
  const trigger = await record(
    "createTrigger",
    triggers,
    post({
      name: "Thanks for LINK",
      network: NETWORK,
      addresses: [contracts.link],
      event: "event Transfer(address indexed from, address indexed to, uint256 value)",
      filters: { to: address },
      action: { function: { ...SOURCE, args: [{ event: "value" }] } },
      fromBlock: 0,
    }),
  );
  const thanks = `${triggers}/${trigger.id}`;
  const readRuns = () => record("listTriggerRuns", `${thanks}/runs`);
  while ((await readRuns()).items[0]?.state !== "requested") await pause(50);
  await record("listTriggers", triggers);
  await record("getTrigger", thanks);
  await record("changeTrigger", thanks, { method: "PATCH", body: { paused: true } });
  await record("deleteTrigger", thanks, { method: "DELETE" });

  const invitations = `${dapp}/invitations`;
  const invite = post({ role: "viewer", name: "Alice" });
  const alice = await signUp(tyche.url, (await call(200, invitations, invite)).link, "Alice");
  const { id: aliceId } = await call(200, "/api/me", {
    method: "GET",
    headers: { authorization: alice.token },
  });
  await call(200, `/api/people/${aliceId}`, { method: "PATCH", body: { isOperator: true } });
  const { link } = await record("createInvitation", invitations, invite);
  await record("listInvitations", invitations);
  const bob = await signUp(tyche.url, link, "Bob");
  const { id: unused } = await call(200, invitations, invite);
  await record("revokeInvitation", `${invitations}/${unused}`, { method: "DELETE" });
  const { id: bobId } = await record("getMe", "/api/me", {
    method: "GET",
    headers: { authorization: bob.token },
  });
  await bob.browser.addPasskey();
  const { passkeys } = await call(200, "/api/me", { method: "GET", headers: { authorization: bob.token } });
  await record("removePasskey", `/api/passkeys/${passkeys[0].id}`, {
    method: "DELETE",
    headers: { authorization: bob.token },
  });
  const isBob = ({ id, personId = id }: Data): boolean => personId === bobId;
  await record("changeMember", `${dapp}/members/${bobId}`, {
    method: "PATCH",
    body: { role: "developer" },
  });
  await recordSome("listMembers", `${dapp}/members`, isBob);
  await record("changePerson", `/api/people/${bobId}`, { method: "PATCH", body: { isOperator: true } });
  await recordSome("listPeople", "/api/people", isBob);
  const [session] = await recordSome("listSessions", "/api/sessions", isBob);
  await record("endSession", `/api/sessions/${session.id}`, { method: "DELETE" });
  await record("removeMember", `${dapp}/members/${bobId}`, { method: "DELETE" });
  await record("removePerson", `/api/people/${bobId}`, { method: "DELETE" });
  await record("listAudit", "/api/audit?limit=4");
  await record("updateDapp", dapp, { method: "PATCH", body: { name: "My other game" } });
  await record("deleteDapp", dapp, { method: "DELETE" });
  return examples;
}

function keepOnly(list: Data[] | undefined, isShown: (item: Data) => boolean): void {
  list?.splice(0, list.length, ...list.filter(isShown));
}
