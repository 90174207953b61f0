import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createClient, verifyWebhook, type DappView } from "../../src/client/index.ts";
import {
  makeDataDir,
  removeDataDir,
  runTyche,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";
import { connectOperator } from "../support/signIn.ts";
import { startReceiver, type Receiver } from "./receiver.ts";

let dataDir: string;
let receiver: Receiver;
let tyche: TycheProcess;
let answers: boolean;

beforeAll(async () => {
  dataDir = makeDataDir();
  receiver = await startReceiver({
    "/hook": (response) => {
      if (answers) response.writeHead(204).end();
    },
  });
});
afterAll(async () => {
  await tyche?.stop();
  await receiver?.close();
  removeDataDir(dataDir);
});

const start = () =>
  startTycheProcess({ dataDir, networks: ["sepolia"], env: { TYCHE_ALLOW_HOSTS: receiver.host } });
const request = async (key: number): Promise<string> => {
  const target = "/api/vrfv2/requestRandomNumber?network=sepolia&numWords=1";
  const { status, data } = await tyche.call("POST", target, { headers: { "idempotency-key": `key-${key}` } });
  expect(status).toBe(200);
  return data.id as string;
};

test("a service killed between the results and their delivery tells each once it is back, and nothing else; rotated keys stay so", async () => {
  answers = false;
  tyche = await start();
  const { data: webhook } = await tyche.call("POST", "/api/webhooks", {
    body: { url: `${receiver.url}/hook` },
  });
  const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => request(i)));
  // Some are under way, some wait for their turn, none is delivered.
  const sent = await receiver.count("/hook", 1);
  const operator = connectOperator(tyche);
  const [{ id: dappId }] = (await operator.dapps()) as readonly [DappView];
  const { id: keyId, apiKey } = await operator.addKey(dappId, { access: "read" });
  const rotated = await operator.rotateKey(dappId, keyId, { overlapHours: 1 });
  await tyche.stop("SIGKILL");
  const unanswered = sent.map(({ id }) => id);
  receiver.clear();
  answers = true;

  tyche = await start();
  for (const value of [apiKey, rotated.apiKey])
    expect(await createClient({ baseUrl: tyche.url, apiKey: value }).webhooks.list()).toHaveLength(1);
  const status = async () => (await tyche.call("GET", `/api/webhooks/${webhook.id}`)).data;
  await vi.waitFor(async () => expect(await status()).toMatchObject({ pending: 0, failed: 0 }), {
    timeout: 60_000,
    interval: 100,
  });
  const told = receiver.received.map(({ id, body, headers }) => {
    new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
    return { id, ...(JSON.parse(body) as { readonly type: string; readonly data: { readonly id: string } }) };
  });
  const byId = new Map(told.map(({ id, data }) => [id, data.id]));
  expect([...byId.values()].toSorted()).toEqual(ids.toSorted());
  expect(new Set(told.map(({ type }) => type))).toEqual(new Set(["request.fulfilled"]));
  for (const id of unanswered) expect(told.map((one) => one.id)).toContain(id);

  const env = { TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey };
  expect((await runTyche(["webhook", "list"], env)).output).toContain(`${webhook.id}  active`);
  expect((await runTyche(["webhook", "pause", webhook.id], env)).output).toContain("paused (owner)");
  const client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });
  const { secret } = await client.webhooks.rotate(webhook.id);
  receiver.clear();
  expect(await client.webhooks.replay(webhook.id, { eventId: told[0]!.id })).toEqual({ replayed: 1 });
  const [replayed] = await receiver.count("/hook", 1);
  expect(await verifyWebhook(replayed!.body, replayed!.headers, secret!)).toMatchObject({
    id: told[0]!.id,
    type: "request.fulfilled",
  });
  await vi.waitFor(
    async () =>
      expect((await client.webhooks.attempts(webhook.id)).items[0]).toMatchObject({ eventId: told[0]!.id }),
    { timeout: 60_000, interval: 50 },
  );
  expect((await runTyche(["webhook", "log", webhook.id, "--limit", "1"], env)).output).toContain(told[0]!.id);
  const [attempt] = (await client.webhooks.attempts(webhook.id)).items;
  expect((await runTyche(["webhook", "show", webhook.id, attempt!.id], env)).output).toMatch(
    /\n\nMessage\n[^]+\n\n\{"type":"request\.fulfilled"/,
  );
  const noted = await runTyche(["webhook", "change", webhook.id, "--description", "orders"], env);
  expect(noted.output).toContain(`/hook  "orders"\n`);
  expect((await runTyche(["webhook", "remove", webhook.id], env)).output).toContain("removed");
  expect(await client.webhooks.list()).toEqual([]);

  const again = await request(0);
  expect(again).toBe(ids[0]);
  expect(tyche.output()).not.toContain(webhook.secret.slice(6));
});
