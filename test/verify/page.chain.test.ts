import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createContext, runInContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { buildVerifierPage, getVerifierPage } from "../../src/app/verifierPage.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import { listPresetFolders } from "../../src/requests/accept/presetFolder.ts";
import { findObstacle } from "../../src/verify/page/plainSource.ts";
import {
  ChainDataError,
  createFetchReader,
  createRecordedReader,
  findRecordedHash,
} from "../../src/verify/recordedReader.ts";
import { showErrorText } from "../../src/verify/page/showForeignText.ts";
import { createSourceScript } from "../../src/verify/page/sourceScript.ts";
import { findFreePorts } from "../support/freePorts.ts";

/** Runs a source's script in a context with the relevant parts of a worker's environment. */
function runScript(source: string, input: { args: string[]; bytesArgs: string[] }): Promise<object> {
  return new Promise((resolve) => {
    let listener: ((event: { data: unknown }) => void) | undefined;
    const context = createContext({ TextEncoder, Uint8Array, ArrayBuffer, fetch, setTimeout });
    Object.assign(context, {
      self: context,
      postMessage: resolve,
      addEventListener: (_: string, listen: typeof listener) => (listener = listen),
    });
    runInContext(createSourceScript(source), context);
    listener!({ data: input });
  });
}

test("a source of plain ECMAScript runs and gives its bytes", async () => {
  const source =
    "const { n = 2n } = { n: BigInt(args[0]) }; return Functions.encodeUint256(n * BigInt(bytesArgs[0]));";
  expect(findObstacle(source)).toBeUndefined();
  expect(await runScript(source, { args: ["3"], bytesArgs: ["0x07"] })).toEqual({
    result: "15".padStart(64, "0"),
  });
});

test("a source that logs gives its bytes, and logs nothing", async () => {
  const source =
    "console.log('n', args); console.info(1); console.warn(2); console.error(3); console.debug(4);" +
    "return Functions.encodeUint256(typeof console.log('x') === 'undefined' ? 7 : 8);";
  expect(findObstacle(source)).toBeUndefined();
  expect(await runScript(source, { args: ["3"], bytesArgs: [] })).toEqual({ result: "7".padStart(64, "0") });
});

test.each(["coinflip", "range", "nDice", "lotto"])(
  "%s is plain, and gives what its examples say",
  async (name) => {
    const { source, definition, parameterOrder } = await loadPreset(listPresetFolders()[0], name);
    expect(findObstacle(source)).toBeUndefined();
    for (const { params, word, parsedResult } of definition.examples) {
      const given = parameterOrder.map(
        (one) => params[one] ?? definition.parameters.properties[one]?.default,
      );
      const args = given.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
      const { result = "" } = (await runScript(source, { args, bytesArgs: [word] })) as { result?: string };
      const text = Buffer.from(result, "hex").toString();
      expect([text, BigInt.asIntN(256, BigInt(`0x${result}`)).toString()]).toContain(parsedResult);
    }
  },
);

test.each([
  ["fetch('https://example.org')", "uses HTTP (fetch), so"],
  ["return Functions.encodeUint256(Date.now())", "Date"],
  ["return Functions.encodeUint256(Math.random())", "random"],
  ["return Functions.encodeString(new Error().stack)", "stack"],
  ["return Functions.encodeString((1.5).toLocaleString())", "toLocaleString"],
  ["return Functions.makeHttpRequest({})", "uses HTTP (Functions.makeHttpRequest), so"],
  ["console.table(args); return Functions.encodeUint256(1)", "console.table"],
  ["const x = await import('npm:a'); return x", "imports"],
  ["return this", "this"],
  ["const a: number = 1; return a", "not plain ECMAScript"],
  ["}); fetch('x'); (async () => {", "not plain ECMAScript"],
  ["} finally { ", "not plain ECMAScript"],
  ["const { a: b } = globalThis; return b", "globalThis"],
  ["{ let Deno; } return Functions.encodeString(typeof Deno)", "Deno"],
  ["const f = (Deno) => Deno; return Functions.encodeString(typeof Deno)", "Deno"],
  ["{ const post = 1; } post({ result: '00' })", "post"],
  ["try { const e = 1; } catch { kept; }", "kept"],
  ["return Functions.encodeString(String('a'.localeCompare('b')))", "localeCompare"],
  ["let [x, y] = [2, 2]; return Functions.encodeString(String(x<!--y\n))", "not plain ECMAScript"],
])("%s is not repeated", (source, reason) => {
  expect(findObstacle(source)).toContain(reason);
});

test("names are looked up where they are declared, as ECMAScript does", () => {
  const source = `
    const pick = ({ list: [first = 1n, ...rest], ...others }, at = rest.length) => { var later = at; return { first, later, others }; };
    outer: for (const status of [1, 2]) { if (status > 1) break outer; function fetch() { return arguments.length; } fetch(); }
    class Deno { static #post = 1; static { this.x; } }
    return Functions.encodeUint256(pick({ list: [later()] }).first); function later() { return 3n; }`;
  expect(findObstacle(source)).toBe("the source uses `this`");
  expect(findObstacle(source.replace("static { this.x; }", ""))).toBeUndefined();
});

test.each([
  ["m['ran' + 'dom']()", "random"],
  ["typeof m['ran' + 'dom']", "random"],
  ["[].constructor.constructor('return typeof fetch')()", "constructor"],
  ["(async () => {})['constructor']", "constructor"],
  ["'a'['locale' + 'Compare']('b')", "localeCompare"],
  ["1['toLocale' + 'String']()", "toLocaleString"],
])("what a text hides is told where it runs: %s", async (expression, differing) => {
  const source = `const m = Math; try { return Functions.encodeString(String(${expression})) } catch { return Functions.encodeString("hidden") }`;
  expect(findObstacle(source)).toBeUndefined();
  expect(await runScript(source, { args: [], bytesArgs: [] })).toEqual({ differing });
});

test.each([
  ["throw new RangeError('no price for ' + args[0])", { thrown: "no price for X" }],
  ["throw 'no price'", { thrown: "no price" }],
  ["return args[0]", { thrown: "returned value not an ArrayBuffer or Uint8Array" }],
  ["throw { price: 0 }", { stopped: "it throws no text" }],
])("an error is given as nodes report it: %s", async (source, outcome) => {
  expect(findObstacle(source)).toBeUndefined();
  expect(await runScript(source, { args: ["X"], bytesArgs: [] })).toEqual(outcome);
});

test("an error text is shortened, and what would hide or reorder it is shown by name", () => {
  expect(showErrorText("a\u202Eb\nc")).toBe("aU+202Eb\nc");
  expect(showErrorText("x".repeat(500))).toBe("x".repeat(500));
  expect(showErrorText("x".repeat(172_000))).toBe(`${"x".repeat(500)} …`);
  expect(showErrorText(`${"x".repeat(499)}😀`)).toBe(`${"x".repeat(499)} …`);
});

test("what is no chain data is refused in a sentence", () => {
  const answered = '{"format":"tyche-chain-data/1","answers":[{"method":"eth_chainId","params":[]}]}';
  for (const text of ["{", "{}", '{"format":"tyche-chain-data/1","answers":[{}]}', answered])
    expect(() => createRecordedReader(text)).toThrow(ChainDataError);
});

test.each(["<h1>Not found</h1>", '{"error":"no such page"}', "null", '"0x1"', "{}"])(
  "what answers %j is told apart from a node",
  async (body) => {
    const server = createServer((_, response) => response.writeHead(404).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await expect(createFetchReader(`http://127.0.0.1:${port}`).request("eth_chainId")).rejects.toThrow(
      "eth_chainId: what answers at this URL (HTTP 404) is no node; give the URL of its JSON-RPC",
    );
  },
);

test("a node that can't be reached is told with what may be the cause", async () => {
  const [port] = await findFreePorts(1);
  await expect(createFetchReader(`http://127.0.0.1:${port}`).request("eth_chainId")).rejects.toThrow(
    /the node can't be reached from this page: check the URL, .*; in place of a node, open chain data .*, under More$/,
  );
});

test.each([
  ["its answer", () => {}],
  ["the rest of it", (response: ServerResponse) => response.write('{"jsonrpc":')],
])("a node that keeps %s back is not waited for without end", async (_, begin) => {
  const server = createServer((_request, response) => void begin(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const reader = createFetchReader(`http://127.0.0.1:${port}`, { timeoutMs: 100 });
  await expect(reader.request("eth_chainId")).rejects.toThrow("the node did not answer within 0.1 s");
});

test("a node whose answers are too long is left at the limit for all of them, and asked nothing more", async () => {
  const mebibyte = Buffer.alloc(1_048_576, " ");
  let isLeft = false;
  const server = createServer((_request, response) => {
    response.on("close", () => (isLeft = !response.writableFinished));
    // Without a limit, it would still end.
    let left = 32;
    const send = (): void => {
      if ((left -= 1) < 0) response.end();
      else if (response.writable) response.write(mebibyte, () => setImmediate(send));
    };
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const reader = createFetchReader(`http://127.0.0.1:${port}`, { maxBytes: 3 * 1_048_576 });
  const tooLong = "the node's answers are longer than 3 MiB in all, and no more is read";
  await expect(reader.request("eth_chainId")).rejects.toThrow(`eth_chainId: ${tooLong}`);
  await expect.poll(() => isLeft).toBe(true);
  await expect(reader.request("eth_blockNumber")).rejects.toThrow(tooLong);
});

test("reads that are stopped end with the reason, and no more are made", async () => {
  let calls = 0;
  const server = createServer(() => void (calls += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  const reader = createFetchReader(`http://127.0.0.1:${port}`, { stop });
  const reads = [reader.request("eth_chainId"), reader.request("eth_blockNumber")];
  await expect.poll(() => calls).toBe(2);
  stop.abort(new Error("enough"));
  for (const read of reads) await expect(read).rejects.toThrow("enough");
  await expect(reader.request("eth_chainId")).rejects.toThrow("enough");
  expect(calls).toBe(2);
});

test("chain data of another transaction is refused with the one that it was saved for", async () => {
  const hash = `0x${"ab".repeat(32)}` as const;
  const answers = [{ method: "eth_getTransactionReceipt", params: [hash], result: null }];
  const text = JSON.stringify({ format: "tyche-chain-data/1", answers });
  expect(findRecordedHash(text)).toBe(hash);
  await expect(
    createRecordedReader(text).request("eth_getTransactionReceipt", [`0x${"cd".repeat(32)}`]),
  ).rejects.toThrow(`it was saved for the transaction ${hash}`);
  for (const other of ["", "{}", "[", text.replace(hash, "0xab"), text.replace(`"${hash}"`, "7")])
    expect(findRecordedHash(other)).toBeUndefined();
});

test("the page is one file that names nothing elsewhere, and allows its own scripts by their hashes alone", async () => {
  const html = await buildVerifierPage();
  const policy = /Policy" content="([^"]*)"/.exec(html)![1]!;
  expect(policy).not.toMatch(/unsafe|\*/);
  const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text!);
  expect(scripts).toHaveLength(1);
  expect(policy).toContain(`script-src ${hashOf(scripts[0]!)} `);
  expect(policy).toContain(`style-src ${hashOf(/<style>([^]*?)<\/style>/.exec(html)![1]!)}`);
  expect(html.replace(scripts[0]!, "")).not.toMatch(/\b(src|href)="(?!data:)/);
  expect(html.length).toBeLessThan(1_000_000);
  // The cached page is as new as its sources.
  expect(await getVerifierPage()).toEqual({ html, policy });
});
