import { afterEach, expect, test, vi } from "vitest";
import { encodeFunctionData, parseAbi } from "viem";
import { functionsRouterAbi } from "../../../src/chainlink/contracts/abi.ts";
import { toHexText } from "../../../src/lib/hex.ts";
import type { SourceRunner } from "../../../src/oracle/functions/execute.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";
import { SandboxOverloadedError } from "../../../sandbox/index.ts";
import { TEST_ROLES } from "../../support/stack.ts";
import { createTestRunner } from "../support/runner.ts";
import { cborPairs, inlineRequest, startWorld, type World } from "../support/world.ts";

const DON_ID = `0x${Buffer.from("fun-test-1").toString("hex").padEnd(64, "0")}` as const;

let world: World;
afterEach(() => world.close());

const answers = () => world.events("RequestProcessed");
const textOf = (hex: string) => Buffer.from(hex.slice(2), "hex").toString();
const answered = () => world.lines.filter(({ message }) => message === "functions: answered");

test("the source's bytes reach the chain, for the request and with the arguments it was sent with", async () => {
  world = await startWorld();
  world.startOracle();
  const [requestId] = await world.requestFunctions([
    inlineRequest("return Buffer.from(args.join('+') + bytesArgs[0])", {
      args: ["a", "b"],
      bytesArgs: [Uint8Array.of(1, 2)],
    }),
  ]);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1));
  const [answer] = await answers();
  expect(answer).toMatchObject({
    requestId,
    subscriptionId: world.dapp.functionsSubId,
    resultCode: 0,
    err: "0x",
  });
  expect(textOf(answer!.response)).toBe("a+b0x0102");
});

test("many requests share reports of at most 14, each with its own answer", async () => {
  world = await startWorld();
  world.startOracle();
  const requests = Array.from({ length: 40 }, (_, index) => inlineRequest(`return Buffer.from('${index}')`));
  const ids = await world.requestFunctions(requests);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(40));
  await vi.waitFor(() => expect(answered()).toHaveLength(40));
  const byId = new Map((await answers()).map(({ requestId, response }) => [requestId, textOf(response)]));
  expect(ids.map((id) => byId.get(id))).toEqual(ids.map((_, index) => String(index)));
  const perReport = Map.groupBy(answered(), ({ fields }) => fields["transactionHash"]);
  const counts = [...perReport.values()].map((lines) => lines.length);
  expect(Math.max(...counts)).toBeLessThanOrEqual(14);
  expect(counts.length).toBeLessThan(12);
});

test("only runs of presets may share a context", async () => {
  world = await startWorld();
  const runs: { source: string; sharesContext: boolean }[] = [];
  const runner = createTestRunner();
  world.startOracle({
    runner: {
      run: async (run) => {
        runs.push({ source: run.source, sharesContext: run.sharesContext });
        return await runner.run(run);
      },
    },
  });
  const preset = "return Buffer.from(bytesArgs[0].slice(2), 'hex')";
  const own = "return Buffer.from('own')";
  await world.requestPresets(preset, 2);
  await world.requestFunctions([
    inlineRequest(preset, { bytesArgs: [] }),
    inlineRequest(own, { bytesArgs: [new Uint8Array(32)] }),
  ]);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(2));
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  const shared = runs.filter(({ sharesContext }) => sharesContext);
  expect(shared.map(({ source }) => source)).toEqual(Array(8).fill(preset));
  expect(runs).toHaveLength(16);
});

test("the answer is the median of the nodes' results", async () => {
  world = await startWorld();
  const results = ["9", "1", "5", "7"].map((text) => Buffer.from(text)).values();
  world.startOracle({ runner: { run: async () => ({ ok: true, bytes: results.next().value! }) } });
  await world.requestFunctions([inlineRequest("return Buffer.from(Math.random().toString())")]);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1));
  expect(textOf((await answers())[0]!.response)).toBe("5");
});

test.each([
  ["a thrown error", inlineRequest("throw new Error('no luck')"), "no luck"],
  ["a result that is too long", inlineRequest("return Buffer.alloc(257)"), "response >256 bytes"],
  [
    "remote code",
    cborPairs({ codeLocation: 1, language: 0, source: "https://example.org" }),
    "unsupported code location",
  ],
  ["another language", cborPairs({ codeLocation: 0, language: 1, source: "x" }), "unsupported language"],
  [
    "secrets",
    inlineRequest("return Buffer.alloc(1)", { secretsLocation: 1, secrets: Uint8Array.of(1) }),
    "unsupported secrets",
  ],
  ["bytes that are no request", Uint8Array.of(255, 1, 2), "no CBOR-encoded Functions request"],
  [
    "an error of 1,000 characters, cut to the longest response",
    inlineRequest("throw new Error('ä'.repeat(1000))"),
    "ä".repeat(128),
  ],
])("%s is answered as an error", async (_, request, text) => {
  world = await startWorld();
  const oracle = world.startOracle();
  await world.requestFunctions([request]);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1));
  const [answer] = await answers();
  expect(answer!.response).toBe("0x");
  expect(textOf(answer!.err)).toContain(text);
  expect(answer!.err.length).toBeLessThanOrEqual(2 + 2 * 256);
  await vi.waitFor(() => expect(oracle.status().pending).toEqual([]));
});

test("a callback that reverts is noticed and not repeated, and its neighbours are answered", async () => {
  world = await startWorld();
  const account = await world.createConsumer("77");
  const data = encodeFunctionData({
    abi: functionsRouterAbi,
    functionName: "sendRequest",
    args: [
      world.dapp.functionsSubId,
      toHexText(inlineRequest("return Buffer.from('x')")),
      1,
      100_000,
      DON_ID,
    ],
  });
  await world.viem.sendTransaction({ account, to: world.addresses.functionsRouter, data });
  await world.viem.mine({ blocks: 1 });
  await world.viem.setCode({ address: account.address, bytecode: "0x60006000fd" });
  await world.requestFunctions([inlineRequest("return Buffer.from('y')")]);
  const oracle = world.startOracle();
  await vi.waitFor(async () =>
    expect(new Set((await answers()).map(({ resultCode }) => resultCode))).toEqual(new Set([0, 1])),
  );
  await vi.waitFor(() => expect(oracle.status().pending).toEqual([]));
  expect(world.lines.find(({ level }) => level === "warn")).toMatchObject({
    message: expect.stringContaining("the consumer's callback reverted"),
    fields: { consumer: account.address.toLowerCase() },
  });
});

test("while the sandbox is overloaded requests wait and say why, then they are answered", async () => {
  world = await startWorld();
  let overloaded = true;
  const runner = createTestRunner(() => {
    if (overloaded) throw new SandboxOverloadedError(4_096, 4_096);
  });
  const oracle = world.startOracle({ runner });
  await world.requestFunctions([inlineRequest("return Buffer.from('x')")]);
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toMatch(
      /^the source could not be run yet: The sandbox has 4096 runs waiting/,
    ),
  );
  overloaded = false;
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1));
});

test("one item that makes every report revert doesn't hold its neighbours up", async () => {
  world = await startWorld();
  const doomed = await world.provisionDapp("doomed");
  const request = inlineRequest("return Buffer.from('x')");
  const [doomedId] = await world.requestFunctions([request], doomed);
  await world.requestFunctions([request, request]);
  // The router's owner may cancel a subscription with open requests; the router then reverts when it charges the subscription.
  await world.send(TEST_ROLES.deployer, {
    to: world.addresses.functionsRouter,
    data: encodeFunctionData({
      abi: parseAbi(["function ownerCancelSubscription(uint64 subscriptionId)"]),
      args: [doomed.functionsSubId],
    }),
  });
  const oracle = world.startOracle();
  await vi.waitFor(async () => expect(await answers()).toHaveLength(2));
  await vi.waitFor(() =>
    expect(oracle.status().pending).toEqual([
      expect.objectContaining({ requestId: doomedId, why: expect.stringContaining("refused the report") }),
    ]),
  );
});

test("slow sources of one subscription leave places for another's", async () => {
  world = await startWorld();
  const other = await world.provisionDapp("another");
  const endless = new Promise<void>(() => {});
  const quick = createTestRunner();
  const runner: SourceRunner = {
    run: (request) =>
      request.source.includes("slow") ? endless.then(() => quick.run(request)) : quick.run(request),
  };
  world.startOracle({ runner });
  await world.requestFunctions(Array.from({ length: 70 }, (_, index) => inlineRequest(`slow ${index}`)));
  await world.requestFunctions([inlineRequest("return Buffer.from('quick')")], other);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1));
});

test("reports of signers that the coordinator doesn't know are refused, and the status says so", async () => {
  world = await startWorld();
  const [first, ...rest] = world.network.functions.nodes;
  const stranger = createReportSigner(TEST_ROLES.operator.secretKey);
  const nodes = [{ ...first!, signer: stranger }, ...rest.map((node) => ({ ...node, signer: stranger }))];
  const oracle = world.startOracle({ functions: { ...world.network.functions, nodes } });
  await world.requestFunctions([inlineRequest("return Buffer.from('x')")]);
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      "the coordinator refused the report: ReportInvalid(address not authorized to sign)",
    ),
  );
  expect(await answers()).toHaveLength(0);
});

test("two signatures of one node don't count twice", async () => {
  world = await startWorld();
  const { nodes } = world.network.functions;
  const twice = nodes.map((node, index) => ({ ...node, signer: nodes[index % 2]!.signer }));
  const oracle = world.startOracle({ functions: { ...world.network.functions, nodes: twice } });
  await world.requestFunctions([inlineRequest("return Buffer.from('x')")]);
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      "the coordinator refused the report: ReportInvalid(non-unique signature)",
    ),
  );
});

test("a receipt that comes after the reorganisation that took its block is no answer", async () => {
  world = await startWorld();
  const late = Promise.withResolvers<void>();
  let reports = 0;
  const nodes = world.network.functions.nodes.map((node) => ({
    ...node,
    transmitter: {
      ...node.transmitter,
      async send(...sent: Parameters<typeof node.transmitter.send>) {
        const receipt = await node.transmitter.send(...sent);
        reports += 1;
        if (reports === 1) await late.promise;
        return receipt;
      },
    },
  }));
  const oracle = world.startOracle({ functions: { ...world.network.functions, nodes } });
  const before = await world.viem.snapshot();
  // The chain stays shorter than it was: no block replaces the one that held the answer.
  await world.viem.mine({ blocks: 20 });
  await world.requestFunctions([inlineRequest("return Buffer.from('x')")]);
  const { transactions } = await world.viem.getBlock({ blockNumber: world.lastRequestBlock() });
  const raw = await world.client.request("eth_getRawTransactionByHash", [transactions[0]]);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1));
  await world.viem.revert({ id: before });
  // Anvil may answer before it has mined.
  const hash = (await world.client.request("eth_sendRawTransaction", [raw])) as `0x${string}`;
  const { blockNumber: mined } = await world.viem.waitForTransactionReceipt({ hash });
  await vi.waitFor(() => expect(oracle.status().pending[0]?.blockNumber).toBe(mined));
  late.resolve();
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1));
  await vi.waitFor(() => expect(oracle.status().pending).toEqual([]));
});

test("a report whose receipt lacks its events is no reason to give a request up", async () => {
  world = await startWorld();
  let reports = 0;
  const nodes = world.network.functions.nodes.map((node) => ({
    ...node,
    transmitter: {
      ...node.transmitter,
      async send(...sent: Parameters<typeof node.transmitter.send>) {
        reports += 1;
        if (reports > 1) return await node.transmitter.send(...sent);
        // The router did not process the item, and the node's answer omits the event.
        const receipt = await node.transmitter.send(
          { to: node.transmitter.address, data: "0x", gas: 100_000n },
          undefined,
        );
        return { ...receipt, succeeded: true, logs: [] };
      },
    },
  }));
  world.startOracle({ functions: { ...world.network.functions, nodes } });
  const [requestId] = await world.requestFunctions([inlineRequest("return Buffer.from('x')")]);
  await vi.waitFor(async () => expect(await answers()).toHaveLength(1), { timeout: 60_000 });
  expect(await answers()).toMatchObject([{ requestId, resultCode: 0 }]);
});
