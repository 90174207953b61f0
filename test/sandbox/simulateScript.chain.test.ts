import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { simulateScript, type SimulationInput } from "../../sandbox/index.ts";

const require = createRequire(import.meta.url);
/** The toolkit's own function; the package's entry replaces `console.log`, but this file doesn't. */
const toolkit = require("@chainlink/functions-toolkit/dist/simulateScript/simulateScript.js") as {
  simulateScript: typeof simulateScript;
};

test("result, output and no other field", async () => {
  const source = "console.log('seen', args); return Functions.encodeString(secrets.a + bytesArgs[0]);";
  expect(await simulateScript({ source, args: ["x"], bytesArgs: ["0x01"], secrets: { a: "s" } })).toEqual({
    responseBytesHexstring: "0x7330783031",
    capturedTerminalOutput: 'seen [ "x" ]\n',
  });
});

test("an error text instead of a result", async () => {
  expect(await simulateScript({ source: "throw new Error('no')" })).toEqual({
    errorString: "no",
    capturedTerminalOutput: "",
  });
});

test("every limit is the parameter's", async () => {
  const bytes = "return new Uint8Array(300)";
  expect((await simulateScript({ source: bytes })).errorString).toBe("response >256 bytes");
  expect((await simulateScript({ source: bytes, maxOnChainResponseBytes: 299 })).errorString).toBe(
    "response >299 bytes",
  );
  expect(await simulateScript({ source: bytes, maxOnChainResponseBytes: 300 })).not.toHaveProperty(
    "errorString",
  );
  expect((await simulateScript({ source: "for (;;) {}", maxExecutionTimeMs: 150 })).errorString).toBe(
    "script runtime exceeded",
  );
  const request =
    "const r = await fetch('http://127.0.0.1:1/'); return Functions.encodeString(await r.text());";
  const textOf = async (input: Partial<SimulationInput>) =>
    Buffer.from(
      (await simulateScript({ source: request, ...input })).responseBytesHexstring?.slice(2) ?? "",
      "hex",
    ).toString();
  expect(await textOf({})).toBe('{"error":"Error during fetch request"}');
  expect(await textOf({ numAllowedQueries: 0 })).toBe('{"error":"Exceeded maximum of 0 HTTP queries"}');
  expect(await textOf({ maxQueryUrlLength: 5 })).toBe(
    '{"error":"Destination URL exceeds maximum length of 5"}',
  );
});

const REFUSED: Readonly<Record<string, Record<string, unknown>>> = {
  "no source": {},
  "a source that is no text": { source: 5 },
  "args that are no list": { source: "", args: "a" },
  "args with a number": { source: "", args: ["a", 1] },
  "args that are an object": { source: "", args: { 0: "a" } },
  "secrets that are a text": { source: "", secrets: "s" },
  "secrets with a number": { source: "", secrets: { a: 1 } },
  "bytesArgs that are no list": { source: "", bytesArgs: "0x00" },
  "bytesArgs without digits": { source: "", bytesArgs: ["0x"] },
  "bytesArgs without 0x": { source: "", bytesArgs: ["ab"] },
  "bytesArgs with other letters": { source: "", bytesArgs: ["0xzz"] },
};

test.each(Object.entries(REFUSED))("%s, in the toolkit's words", async (_, input) => {
  const messageOf = (simulate: typeof simulateScript) =>
    simulate(input as unknown as SimulationInput).then(
      () => "accepted",
      (error: Error) => error.message,
    );
  const expected = await messageOf(toolkit.simulateScript);
  expect(expected).not.toBe("accepted");
  expect(await messageOf(simulateScript)).toBe(expected);
});

test("a program that is done with it ends by itself", async () => {
  const entry = fileURLToPath(new URL("../../sandbox/index.ts", import.meta.url));
  const program = `import { simulateScript } from ${JSON.stringify(entry)}; console.log((await simulateScript({ source: "return new Uint8Array([7])" })).responseBytesHexstring);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect({ code, output }).toEqual({ code: 0, output: "0x07\n" });
});
