import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Draft } from "../../../../../src/browser/application/pages/functions/draft.ts";
import { SNIPPETS } from "../../../../../src/browser/application/pages/functions/snippets.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");
const run = promisify(execFile);
/** Holds what would end a string, or begin something else, in some language. */
const DRAFT: Draft = {
  source:
    "const quotes = `'\"'`;\n// \"\"\" ''' \\n \\\\ ${1} $HOME `id` $(id) %s é 🎲\r\nreturn Functions.encodeString('it\\'s' + quotes);\n",
  args: ["it's", '"""', "$HOME `id`", "back\\slash", "line\nbreak", ""],
  returnType: "string",
  network: "sepolia",
  secrets: ["API_KEY", "OTHER"],
  beacon: "drand",
};

const DONE = { success: true, value: "the result", result: "0x", err: "0x", url: "http://x/" };
let answer: { readonly status: number; readonly data: object };
let server: Server;
let baseUrl: string;
const calls: { url: string | undefined; key: string | undefined; body: unknown }[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      calls.push({ url: request.url, key: request.headers.authorization, body });
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ data: answer.data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const COMMANDS: Readonly<Record<string, (text: string) => [string, string[]]>> = {
  curl: (text) => ["bash", ["-c", text]],
  TypeScript: (text) => [process.execPath, ["--input-type=module-typescript", "--eval", text]],
  Python: (text) => ["python3", ["-c", text]],
};

test.each(SNIPPETS)(
  "as $name, a draft is sent as it is, with the key of the environment",
  async ({ name, write }) => {
    answer = { status: 200, data: DONE };
    const [command, args] = COMMANDS[name]!(write(DRAFT, baseUrl));
    const { stdout } = await run(command, args, {
      cwd: ROOT,
      env: { ...process.env, TYCHE_API_KEY: "tyche_key" },
    });
    expect(stdout).toContain("the result");
    expect(calls.pop()).toEqual({
      url: "/api/oracleFunctions/runFunction",
      key: "tyche_key",
      body: DRAFT,
    });
  },
);

test.each(SNIPPETS)("as $name, a failure is printed, on the network and in the dry run", async (snippet) => {
  const [command, args] = COMMANDS[snippet.name]!(snippet.write(DRAFT, baseUrl));
  const data = { ...DONE, success: false, value: null, err: "the reason", code: "function_failed" };
  for (const status of [200, 422]) {
    answer = { status, data };
    const { stdout, stderr } = await run(command, args, {
      cwd: ROOT,
      env: { ...process.env, TYCHE_API_KEY: "tyche_key" },
    }).catch((error: { readonly stdout: string; readonly stderr: string }) => error);
    expect(`${stdout}${stderr}`).toContain("the reason");
  }
});
