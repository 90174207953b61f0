import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { compileSolidity } from "../support/solidity.ts";
import {
  createToolkitUser,
  ethers,
  referenceTo,
  requestOf,
  toolkit,
  type ToolkitNetwork,
  type ToolkitUser,
} from "../support/toolkit.ts";
import { runTyche, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const TOKEN = "tok_9d1c-private";
/** Owns a subscription, and says that somebody else uploads its secrets. */
const OWNER = compileSolidity(
  "Owner",
  `pragma solidity ^0.8.19;
   interface Router { function createSubscription() external returns (uint64); function addConsumer(uint64 id, address consumer) external; }
   contract Owner {
     Router immutable ROUTER;
     address immutable VICTIM;
     uint64 public id;
     constructor(address router, address victim) { ROUTER = Router(router); VICTIM = victim; }
     function open(address consumer) external { id = ROUTER.createSubscription(); ROUTER.addConsumer(id, consumer); }
     function secretsSignerOf(uint64) external view returns (address) { return VICTIM; }
   }`,
);
const SOURCE = `const { data } = await Functions.makeHttpRequest({ url: args[0], timeout: 9000, headers: { Authorization: "Bearer " + secrets.apiKey } });
return Functions.encodeString(data.ok ? "let in" : "kept out")`;

let api: Server;
let apiUrl: string;
/** What the server returns under `/secrets`. */
let document = "{}";
let tyche: TycheProcess;
let network: ToolkitNetwork;
beforeAll(async () => {
  api = createServer(({ url, headers }, response) => {
    response.setHeader("content-type", "application/json");
    response.end(
      url === "/secrets" ? document : JSON.stringify({ ok: headers.authorization === `Bearer ${TOKEN}` }),
    );
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(api.address() as AddressInfo).port}`;
  apiUrl = `http://${host}`;
  tyche = await startTycheProcess({ networks: ["sepolia"], env: { TYCHE_ALLOW_HOSTS: host } });
  const { data } = await tyche.call("GET", "/api/networks");
  [network] = data.items;
  network = { ...network, donId: data.items[0].functions.donId };
  vi.spyOn(console, "log").mockImplementation(() => {});
});
afterAll(async () => {
  vi.restoreAllMocks();
  await tyche.stop();
  api.close();
});

const createUser = () =>
  createToolkitUser(network, (address) =>
    tyche.call("POST", "/api/faucet", { body: { network: "sepolia", address } }),
  );

const gatewayUrls = () => [`${tyche.url}/gateway`];

const upload = (
  { secrets }: Pick<ToolkitUser, "secrets">,
  encryptedSecretsHexstring: string,
  { gateway = gatewayUrls()[0]! } = {},
) =>
  secrets.uploadEncryptedSecretsToDON({
    encryptedSecretsHexstring,
    gatewayUrls: [gateway],
    slotId: 0,
    minutesUntilExpiration: 15,
  });

const request = (
  user: Pick<ToolkitUser, "consumer" | "subscriptionId">,
  secretsLocation: 1 | 2,
  reference: string,
): Promise<string> =>
  requestOf(user, { donId: network.donId, source: SOURCE, args: [apiUrl], secretsLocation, reference });

test("the toolkit's SecretsManager works as against Chainlink's network, with the URL changed", async () => {
  const user = await createUser();
  const { encryptedSecrets } = await user.secrets.encryptSecrets({ apiKey: TOKEN });
  const { version, success } = await upload(user, encryptedSecrets);
  expect(success).toBe(true);
  const reference = referenceTo(version);
  expect(await request(user, 2, reference)).toBe("let in");
  const { result, error } = await user.secrets.listDONHostedEncryptedSecrets(gatewayUrls());
  expect(error).toBeUndefined();
  expect(result.nodeResponses).toHaveLength(4);
  expect(result.nodeResponses[0]!.rows).toMatchObject([{ slot_id: 0, version }]);

  const old = referenceTo(version - 1);
  expect(await request(user, 2, old)).toContain("has no version");
});

test("an upload that somebody recorded can't be sent again", async () => {
  const user = await createUser();
  const recorded: string[] = [];
  const record = async (asked: IncomingMessage): Promise<string> => {
    const body = await text(asked);
    recorded.push(body);
    return await (await fetch(gatewayUrls()[0]!, { method: "POST", body })).text();
  };
  const recorder = createServer((asked, response) => {
    response.setHeader("content-type", "application/json");
    void record(asked).then((answer) => response.end(answer));
  });
  await new Promise<void>((resolve) => recorder.listen(0, "127.0.0.1", resolve));
  const { encryptedSecrets } = await user.secrets.encryptSecrets({ apiKey: TOKEN });
  await upload(user, encryptedSecrets, {
    gateway: `http://127.0.0.1:${(recorder.address() as AddressInfo).port}/`,
  });
  recorder.close();
  const [body] = recorded;
  const again = await fetch(gatewayUrls()[0]!, { method: "POST", body: body! });
  const failed = { success: false, error_message: "version too low" };
  expect(await again.json()).toMatchObject({
    result: {
      body: { payload: { success: false, node_responses: [{ body: { payload: failed } }, {}, {}, {}] } },
    },
  });
  const changed = JSON.parse(body!);
  changed.params.body.payload.expiration += 1;
  const forged = await fetch(gatewayUrls()[0]!, { method: "POST", body: JSON.stringify(changed) });
  expect(await forged.json()).toMatchObject({
    error: { message: expect.stringContaining("different keys") },
  });
});

test("secrets behind URLs that only the nodes can read", async () => {
  const user = await createUser();
  document = JSON.stringify(await user.secrets.encryptSecrets({ apiKey: TOKEN }));
  const urls = [`${apiUrl}/secrets`];
  expect(await user.secrets.verifyOffchainSecrets(urls)).toBe(true);
  expect(await request(user, 1, await user.secrets.encryptSecretsUrls(urls))).toBe("let in");
  const stranger = await createUser();
  expect(await request(stranger, 1, await stranger.secrets.encryptSecretsUrls(urls))).toContain(
    "are signed by",
  );
});

test("a copy of somebody's ciphertext opens for nobody else", async () => {
  const [victim, thief] = [await createUser(), await createUser()];
  const { encryptedSecrets } = await victim.secrets.encryptSecrets({ apiKey: TOKEN });
  const { version } = await upload(thief, encryptedSecrets);
  const reference = referenceTo(version);
  expect(await request(thief, 2, reference)).toMatch(/are signed by 0x/);

  const own = await upload(victim, encryptedSecrets);
  expect(await request(victim, 2, referenceTo(own.version))).toBe("let in");
});

test("a wallet uploads for a dapp's subscription once the dapp names it", async () => {
  const user = await createUser();
  const { consumer, signer } = user;
  const { output } = await runTyche(["dapp", "list", "--json"], { TYCHE_DATA_DIR: tyche.dataDir });
  const body = { network: "sepolia", dappId: JSON.parse(output)[0].id, consumer: consumer.address };
  expect(await tyche.call("POST", "/api/vrfv2/addConsumer", { body })).toMatchObject({ status: 200 });
  const { encryptedSecrets } = await user.secrets.encryptSecrets({ apiKey: TOKEN });
  const { version } = await upload(user, encryptedSecrets);
  const post = (address: string, signature?: string) =>
    tyche.call("POST", "/api/secretsSigner", { body: { network: "sepolia", address, signature } });
  const name = async (wallet: typeof signer, address: string = wallet.address) => {
    const refused = await post(address);
    const message = String(refused.data.details[0].message).split("message: ")[1]!;
    return await post(address, await wallet.signMessage(message));
  };
  const stranger = await name(ethers.Wallet.createRandom());
  expect(await name(ethers.Wallet.createRandom(), signer.address)).toMatchObject({
    status: 400,
    data: { details: [{ path: "/signature" }] },
  });
  const subscriptionId = Number(stranger.data.functionsSubscriptionId);
  const onDapp = { ...user, subscriptionId };
  expect(await request(onDapp, 2, referenceTo(version))).toContain("has no version");
  expect(await name(signer)).toMatchObject({ status: 200, data: { signer: signer.address } });
  expect(await request(onDapp, 2, referenceTo(version))).toBe("let in");
  expect(await post(signer.address)).toMatchObject({ status: 200, data: { transactionHash: null } });
  expect(await post(ethers.constants.AddressZero)).toMatchObject({ status: 200 });
  expect(await request(onDapp, 2, referenceTo(version))).toContain("nobody may upload");
  expect(await name(signer)).toMatchObject({ status: 200, data: { signer: signer.address } });
  const abi = ["function withdrawSecretsConsent(uint64)"];
  const owner = new ethers.Contract(network.contracts.subscriptionOwner, abi, signer);
  await (await owner.withdrawSecretsConsent(subscriptionId)).wait();
  expect(await request(onDapp, 2, referenceTo(version))).toContain("nobody may upload");
});

test("a contract that owns a subscription and names somebody gets nothing of theirs", async () => {
  const victim = await createUser();
  const { encryptedSecrets } = await victim.secrets.encryptSecrets({ apiKey: TOKEN });
  const { version } = await upload(victim, encryptedSecrets);
  const thief = await createUser();
  const { contracts } = network;
  const factory = new ethers.ContractFactory(OWNER.abi, OWNER.bytecode, thief.signer);
  const owner = await (await factory.deploy(contracts.functionsRouter, victim.signer.address)).deployed();
  await (await owner.open(thief.consumer.address)).wait();
  const subscriptionId = Number(await owner.id());
  const link = new ethers.Contract(
    contracts.link,
    ["function transferAndCall(address to, uint256 value, bytes data) returns (bool)"],
    thief.signer,
  );
  const place = ethers.utils.defaultAbiCoder.encode(["uint64"], [subscriptionId]);
  await (await link.transferAndCall(contracts.functionsRouter, 5n * 10n ** 18n, place)).wait();
  expect(await request({ ...thief, subscriptionId }, 2, referenceTo(version))).toContain("has no version");
});

test("who has no subscription stores nothing", async () => {
  const provider = new ethers.providers.StaticJsonRpcProvider(network.rpcUrl);
  const signer = ethers.Wallet.createRandom().connect(provider);
  const { functionsRouter: functionsRouterAddress } = network.contracts;
  const secrets = new toolkit.SecretsManager({ signer, functionsRouterAddress, donId: network.donId });
  await secrets.initialize();
  const { encryptedSecrets } = await secrets.encryptSecrets({ apiKey: TOKEN });
  await expect(upload({ secrets }, encryptedSecrets)).rejects.toThrow("Failed to send request");
  const { result } = await secrets.listDONHostedEncryptedSecrets(gatewayUrls());
  expect(result.nodeResponses[0]!.rows).toEqual([]);
});

test("rubbish at the gateway gets one error that says what is expected", async () => {
  const post = async (body: string) =>
    await (await fetch(gatewayUrls()[0]!, { method: "POST", body })).json();
  expect(await post("{")).toMatchObject({ id: null, error: { code: -32602 } });
  expect(await post(JSON.stringify({ id: "1", method: "secrets_list", params: {} }))).toMatchObject({
    error: { message: expect.stringContaining("message_id") },
  });
  const body = { message_id: "1", method: "secrets_list", don_id: network.donId, receiver: "" };
  const elsewhere = JSON.stringify({ id: "1", params: { body: { ...body, don_id: "none" } } });
  expect(await post(elsewhere)).toMatchObject({ error: { message: expect.stringContaining("don_id none") } });
  const unsigned = JSON.stringify({ id: "1", params: { body, signature: "0x00" } });
  expect(await post(unsigned)).toMatchObject({ error: { message: expect.stringContaining("signature") } });
});
