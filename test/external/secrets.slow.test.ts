import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { encode } from "cborg";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { readContractsFile } from "../../src/networks/external/contractsFile.ts";
import {
  encodeGatewayBody,
  type GatewayBody,
  type OperatorMethod,
} from "../../src/oracle/secrets/gatewayMessage.ts";
import { findFreePorts } from "../support/freePorts.ts";
import { referenceTo, requestOf, type ToolkitNetwork, type ToolkitUser } from "../support/toolkit.ts";
import { startOracleProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { createBank, type Bank } from "./support/bank.ts";
import { PRIVATE_SOURCE, startPrivateApi } from "./support/privateApi.ts";
import { RICH_KEY, startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

const TOKEN = "tok_77c1-very/private+value";

let api: Awaited<ReturnType<typeof startPrivateApi>>;
let bank: Bank;
let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;
let network: ToolkitNetwork;

beforeAll(async () => {
  api = await startPrivateApi(TOKEN);
  chain = await startIntervalAnvil();
  const [port] = await findFreePorts(1);
  const prepared = prepareParties(chain, { network: { oracleUrl: `http://127.0.0.1:${port}` } });
  const env = { TYCHE_ALLOW_HOSTS: api.host };
  parties = {
    ...prepared,
    service: { ...prepared.service, ...env },
    oracle: { ...prepared.oracle, ...env, PORT: String(port) },
  };
  await deployByCommands(parties);
  const { contracts, donId } = readContractsFile(parties.contractsFile, {
    network: NETWORK,
    chainId: 31_337,
  });
  network = { rpcUrl: chain.httpUrl, donId, contracts };
  bank = createBank(network);
  await bank.open();
  [, tyche] = await Promise.all([startOracle(), startService(parties)]);
  vi.spyOn(console, "log").mockImplementation(() => {});
});
afterAll(async () => {
  vi.restoreAllMocks();
  await Promise.all([tyche?.stop("SIGKILL"), oracle?.stop("SIGKILL")]);
  await chain?.close();
  api?.close();
  parties?.remove();
});

const upload = ({ secrets }: Pick<ToolkitUser, "secrets">, encryptedSecretsHexstring: string) =>
  secrets.uploadEncryptedSecretsToDON({
    encryptedSecretsHexstring,
    gatewayUrls: [`${tyche.url}/gateway`],
    slotId: 0,
    minutesUntilExpiration: 15,
  });
const request = (user: ToolkitUser, version: number): Promise<string> =>
  requestOf(user, {
    donId: network.donId,
    source: PRIVATE_SOURCE,
    args: [api.url],
    secretsLocation: 2,
    reference: referenceTo(version),
  });

const set = (name: string, body: object) =>
  tyche.call("PUT", `/api/secrets/${name}`, { body: { network: NETWORK, ...body } });
const call = (operation: "runFunction" | "simulate", body: object) =>
  tyche.call("POST", `/api/oracleFunctions/${operation}`, {
    body: { network: NETWORK, source: PRIVATE_SOURCE, args: [api.url], secrets: ["API_KEY"], ...body },
  });
const startOracle = async (): Promise<void> => {
  oracle = await startOracleProcess(parties.oracle);
  // While it opens its port, a connection may be reset.
  await vi.waitFor(async () => expect((await fetch(`${oracle.url}/readyz`)).ok).toBe(true));
};
const restartOracle = async (): Promise<void> => {
  await oracle.stop("SIGKILL");
  await startOracle();
};

/** Sends a signed message to the oracle itself. */
async function send(
  { address, signMessage }: ReturnType<typeof privateKeyToAccount>,
  method: GatewayBody["method"],
  payload?: object,
  // eslint-disable-next-line typescript/no-explicit-any
): Promise<any> {
  const id = `${method} of ${address}`;
  const body = { message_id: id, method, don_id: network.donId, receiver: "", ...(payload && { payload }) };
  const signature = await signMessage({ message: { raw: encodeGatewayBody(body) } });
  const text = JSON.stringify({ jsonrpc: "2.0", id, method, params: { body, signature } });
  return await (await fetch(`${oracle.url}/gateway`, { method: "POST", body: text })).json();
}

/** Counts what the oracle holds for dapps. */
async function countSlots(): Promise<number> {
  const { result } = await send(privateKeyToAccount(RICH_KEY), "secrets_list");
  return result.body.payload.node_responses[0].body.payload.rows.length;
}

test("a function calls a private API with a secret that the oracle holds, also after a kill -9", async () => {
  const client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });
  const stored = await client.secrets.set("API_KEY", {
    value: TOKEN,
    network: NETWORK,
    allowedHosts: [api.host],
  });
  expect(stored).toMatchObject({ name: "API_KEY", network: NETWORK });
  await restartOracle();
  expect(await call("simulate", {})).toMatchObject({ data: { success: true, parsedResult: "let in" } });
  expect(await call("runFunction", {})).toMatchObject({ data: { success: true, parsedResult: "let in" } });
  expect(await set("PLAIN", { value: TOKEN })).toMatchObject({ status: 200 });
  const plain = { secrets: ["PLAIN"], source: PRIVATE_SOURCE.replace("API_KEY", "PLAIN") };
  expect(await call("runFunction", plain)).toMatchObject({ data: { parsedResult: "let in" } });
});

test("the service's dry runs mask values, warn of them, and keep to a secret's hosts", async () => {
  await set("SHOWN", { value: TOKEN });
  const secrets = ["SHOWN"];
  const printed = await call("simulate", {
    secrets,
    source: "console.log(secrets.SHOWN); throw Error(secrets.SHOWN)",
  });
  expect(printed.data).toMatchObject({ success: false, err: "***", console: "***\n" });
  const shown = await call("simulate", { secrets, source: "return Functions.encodeString(secrets.SHOWN)" });
  expect(shown.data.warnings).toEqual([expect.stringContaining("on chain, for all to see")]);
  expect((await tyche.call("GET", "/api/dryRuns")).data.items[0]).toMatchObject({ parsedResult: "" });
  const elsewhere = `await fetch("http://example.com/").catch(() => {}); return Functions.encodeString("sent")`;
  expect(await call("simulate", { source: elsewhere })).toMatchObject({
    data: { success: false, err: expect.stringContaining("may not be sent") },
  });
});

test("another dapp can't name a dapp's secrets, and nothing wrong is stored", async () => {
  const created = await parties.run(["dapp", "create", "other", "--json"]);
  const { apiKey } = JSON.parse(created.output);
  const stranger = createClient({ baseUrl: tyche.url, apiKey });
  const named = { network: NETWORK, source: PRIVATE_SOURCE, args: [api.url], secrets: ["API_KEY"] };
  await expect(stranger.runFunction(named)).rejects.toMatchObject({ code: "invalid_parameter" });
  expect(await set("A", { ciphertext: "{}" })).toMatchObject({ status: 400 });
  const { data: key } = await tyche.call("GET", `/api/secretsKey?network=${NETWORK}`);
  expect(key.thresholdPublicKey).toMatchObject({ Group: "P256" });
});

test("the toolkit's SecretsManager works, and an upload survives a kill -9 of the oracle", async () => {
  const [user, thief] = [await bank.createUser(), await bank.createUser()];
  const { encryptedSecrets } = await user.secrets.encryptSecrets({ API_KEY: TOKEN });
  const { version, success } = await upload(user, encryptedSecrets);
  expect(success).toBe(true);
  const stolen = await upload(thief, encryptedSecrets);
  await restartOracle();
  expect(await request(user, version)).toBe("let in");
  expect(await request(thief, stolen.version)).toMatch(/are signed by 0x/);
  const { result } = await user.secrets.listDONHostedEncryptedSecrets([`${tyche.url}/gateway`]);
  expect(result.nodeResponses).toHaveLength(4);
  expect(result.nodeResponses[0]!.rows).toMatchObject([{ slot_id: 0, version }]);
});

test("while the oracle is away, everything says so, and goes on when it is back", async () => {
  const user = await bank.createUser();
  const { encryptedSecrets } = await user.secrets.encryptSecrets({ API_KEY: TOKEN });
  await oracle.stop("SIGKILL");
  const away = { status: 502, data: { code: "chain_unavailable", err: expect.stringContaining("oracle") } };
  expect(await set("LATER", { value: TOKEN })).toMatchObject(away);
  expect(await call("simulate", {})).toMatchObject(away);
  expect(await call("runFunction", {})).toMatchObject(away);
  expect(await tyche.call("DELETE", `/api/secrets/API_KEY?network=${NETWORK}`)).toMatchObject(away);
  await expect(upload(user, encryptedSecrets)).rejects.toThrow("Failed to send request");
  expect((await fetch(`${tyche.url}/readyz`)).status).toBe(200);
  await startOracle();
  expect(await call("simulate", {})).toMatchObject({ data: { parsedResult: "let in" } });
  expect(await set("LATER", { value: TOKEN })).toMatchObject({ status: 200 });
  expect((await upload(user, encryptedSecrets)).success).toBe(true);
});

test("a secret that is deleted is gone at the oracle, too", async () => {
  await set("GONE", { value: "s3cr3t-gone" });
  const source = "return Functions.encodeString(String(secrets.GONE.length))";
  const gone = { source, secrets: ["GONE"] };
  expect((await call("simulate", gone)).data).toMatchObject({ parsedResult: "11" });
  const before = await countSlots();
  expect(await tyche.call("DELETE", `/api/secrets/GONE?network=${NETWORK}`)).toMatchObject({ status: 200 });
  expect(await countSlots()).toBe(before - 1);
  expect(await call("simulate", gone)).toMatchObject({ status: 400 });
});

test("only the operator's service may use the oracle's vault", async () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  const validUntil = Date.now() + 60_000;
  const slots = { validUntil, reference: "0xa0", subscriptionId: "1" };
  const payloads: Readonly<Record<OperatorMethod, object>> = {
    operator_keep: { validUntil, slot: { slotId: 1, version: 1, ciphertext: "{}", expiresAt: validUntil } },
    operator_drop: { validUntil, slotIds: [1] },
    operator_describe: slots,
    operator_run: { ...slots, source: "return secrets.API_KEY", args: [], maxBytes: 256 },
  };
  for (const [method, payload] of Object.entries(payloads)) {
    const refusal = expect.stringContaining("is not the account of this network's service");
    expect(await send(stranger, method as OperatorMethod, payload)).toMatchObject({
      error: { message: refusal },
    });
  }
  const operator = privateKeyToAccount(RICH_KEY);
  const late = await send(operator, "operator_drop", { validUntil: Date.now() - 1, slotIds: [1] });
  expect(late).toMatchObject({ error: { message: expect.stringContaining("too old") } });
  expect(await send(operator, "operator_drop", payloads.operator_drop)).toMatchObject({
    result: { body: { payload: { success: true } } },
  });
  expect(await send(operator, "operator_drop", payloads.operator_drop)).toMatchObject({
    error: { message: expect.stringContaining("was taken before") },
  });
  // A request's own reference, as anybody reads it on chain.
  const foreign = { ...payloads.operator_run, reference: toHexText(encode({ slotId: 0, version: 1 })) };
  expect(await send(operator, "operator_run", foreign)).toMatchObject({
    error: { message: expect.stringContaining("secrets that the operator has not uploaded") },
  });
});

test("no file of service or oracle, and no log, holds a value", () => {
  for (const folder of [parties.service, parties.oracle].map((env) => env["TYCHE_DATA_DIR"]!)) {
    const files = readdirSync(folder, { recursive: true })
      .map((name) => path.join(folder, String(name)))
      .filter((file) => statSync(file).isFile());
    expect(files.some((file) => file.includes("tyche.sqlite"))).toBe(true);
    for (const file of files) expect([file, readFileSync(file).includes(TOKEN)]).toEqual([file, false]);
  }
  expect(tyche.output() + oracle.output()).not.toContain(TOKEN);
  const key = statSync(path.join(parties.oracle["TYCHE_DATA_DIR"]!, "master-key"));
  expect(key.mode & 0o777).toBe(0o600);
});
