import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTycheProcess, TYCHE_ENTRY, type TycheProcess } from "../support/tyche.ts";

let tyche: TycheProcess;
beforeAll(async () => {
  tyche = await startTycheProcess({ networks: ["sepolia"] });
});
afterAll(() => tyche.stop());

/** Connects as an agent's program does: it starts the command, and speaks with it by the protocol's own client. */
async function connect(env: Readonly<Record<string, string>>, ...options: readonly string[]) {
  const client = new Client({ name: "test", version: "1" });
  const args = [TYCHE_ENTRY, "mcp", ...options];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...env } }));
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const { text } = content[0] as { text: string };
    return { isError, text };
  };
  /** Calls a tool that succeeds; returns what it answers. */
  const ask = async (name: string, given: Record<string, unknown> = {}) => {
    const { isError, text } = await call(name, given);
    expect({ isError, text }).toMatchObject({ isError: false });
    return JSON.parse(text) as Record<string, unknown>;
  };
  return { client, call, ask };
}

const withKey = () => connect({ TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey });

describe("with a key", () => {
  test("an agent draws by a preset's own parameters, looks the request up, and verifies it", async () => {
    const { client, ask } = await withKey();
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "preset_lotto")?.inputSchema).toMatchObject({
      required: ["params"],
      properties: { params: { required: expect.arrayContaining(["list"]) } },
    });
    const drawn = await ask("preset_range", { params: { min: "7", max: "7" } });
    expect(drawn).toMatchObject({ success: true, value: expect.anything(), shareUrl: expect.any(String) });
    expect(await ask("request", { id: drawn["id"] })).toMatchObject({ state: "fulfilled" });
    expect(await ask("requests", { limit: 1 })).toMatchObject({ items: [{ id: drawn["id"] }] });

    const [, tx] = /tx\/(0x[0-9a-f]{64})/.exec(String(drawn["url"]))!;
    const { ask: askAnonymously } = await connect({ TYCHE_DATA_DIR: tyche.dataDir }, "--read-only");
    expect(await askAnonymously("transaction", { network: "sepolia", hash: tx })).toMatchObject({ hash: tx });
    expect(await askAnonymously("verify", { network: "sepolia", tx })).toMatchObject({ verdict: "valid" });
  });

  test("random numbers, a function, and its dry run", async () => {
    const { ask } = await withKey();
    expect(await ask("random_numbers", { numWords: 2 })).toMatchObject({
      randomNumber: [expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)],
    });
    const source = { source: "return Functions.encodeUint256(6n * 7n)", returnType: "uint256" };
    expect(await ask("run_function", source)).toMatchObject({ parsedResult: "42" });
    expect(await ask("simulate", source)).toMatchObject({ success: true, parsedResult: "42" });
  });

  test("a function reads the secrets that it is given by name", async () => {
    const body = { network: "sepolia", value: "s3cr3t-value" };
    expect(await tyche.call("PUT", "/api/secrets/API_KEY", { body })).toMatchObject({ status: 200 });
    const { ask } = await withKey();
    const source = "return Functions.encodeString(String(secrets.API_KEY.length))";
    const given = { network: "sepolia", source, secrets: ["API_KEY"] };
    expect(await ask("simulate", given)).toMatchObject({ parsedResult: "12" });
    expect(await ask("run_function", given)).toMatchObject({ parsedResult: "12" });
  });

  test("a failed call is a result that the agent can read, with the API's code", async () => {
    const { call } = await withKey();
    const wrong = await call("preset_range", { params: { min: "9", max: "1" } });
    expect(wrong.isError).toBe(true);
    expect(JSON.parse(wrong.text)).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    const extra = await call("random_numbers", { words: 1 });
    expect(extra).toMatchObject({ isError: true, text: expect.stringContaining("/words is no argument") });
  });
});

test("without a key only what anyone may read is offered", async () => {
  const { client } = await connect({ TYCHE_URL: tyche.url }, "--read-only");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["networks", "transaction", "search", "verify"]);
  for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true });
});
