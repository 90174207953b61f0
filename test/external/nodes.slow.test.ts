import type { OracleNodeView } from "../../src/api/types.ts";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hexToString, stringToHex, type Hex } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { deriveNodeKeys } from "../../src/app/oracle/oracleRole.ts";
import { createClient } from "../../src/client/index.ts";
import { createChainClient } from "../../src/evm/client.ts";
import { toHexText } from "../../src/lib/hex.ts";
import type { EvidenceRecord } from "../../src/oracle/node/evidence.ts";
import { readNodeSet } from "../../src/oracle/node/nodeSet.ts";
import { transmitOrder } from "../../src/oracle/protocol/transmitOrder.ts";
import { signPersonal } from "../../src/oracle/secrets/gateway.ts";
import { createGatewayClient } from "../../src/oracle/secrets/gatewayClient.ts";
import { createBox } from "../../src/oracle/secrets/sealedBox.ts";
import { digestOf } from "../../src/oracle/secrets/vault.ts";
import { publishedBy, startTycheProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { NODE_FAULTS, NODE_STEPS, startEquivocating, watchStep } from "./support/nodeFaults.ts";
import { prepareOperators, startLiar, startNode, type SeveralOperators } from "./support/nodes.ts";
import { createBank, type Bank } from "./support/bank.ts";
import { PRIVATE_SOURCE, startPrivateApi } from "./support/privateApi.ts";
import { NETWORK } from "./support/world.ts";
import { referenceTo, requestOf, type ToolkitNetwork, type ToolkitUser } from "../support/toolkit.ts";

/** Lies if a source says so; the second one only if it says two. */
const LIAR = 3;
const SECOND_LIAR = 2;
const MARKERS: Readonly<Record<number, string>> = { [LIAR]: "liar", [SECOND_LIAR]: "two liars" };
/** Its clock is an hour ahead later, and an hour behind after it was killed: nothing that the nodes agree on depends on a clock. */
const WRONG_CLOCK = 1;
const HOUR_MS = 3_600_000;
/** Not in the initial node set. */
const SPARE = 4;
const PATIENCE_MS = 240_000;

const TOKEN = "tok_77c1-very/private+value";
let api: Awaited<ReturnType<typeof startPrivateApi>>;
let bank: Bank;
let network: ToolkitNetwork;
let chain: StrangersChain;
let operators: SeveralOperators;
let tyche: TycheProcess;
let vrf: OracleChild;
let secondVrf: OracleChild;
const nodes: OracleChild[] = [];

beforeAll(async () => {
  chain = await startIntervalAnvil();
  api = await startPrivateApi(TOKEN);
  operators = await prepareOperators(chain, 5);
  await operators.deploy(SPARE);
  network = { rpcUrl: chain.httpUrl, ...operators.contractsFile() };
  bank = createBank(network);
  await bank.open();
  const { TYCHE_DATA_DIR, ...env } = operators.service;
  // One by one: seven simultaneous starts are slower on two cores.
  for (const index of operators.nodes.keys())
    nodes.push(
      await (MARKERS[index] !== undefined
        ? startLiar(nodeEnv(index), MARKERS[index])
        : startNode(nodeEnv(index))),
    );
  await vi.waitUntil(async () => !(await Promise.all([0, 1, 2, LIAR].map(hasNoKey))).includes(true), WAIT);
  await operators.run(["network", "secrets", NETWORK, "--yes"]);
  vrf = await startNode(operators.vrf);
  secondVrf = await startNode(operators.secondVrf);
  tyche = await startTycheProcess({
    dataDir: TYCHE_DATA_DIR!,
    env: { ...env, TYCHE_ALLOW_HOSTS: api.host },
    timeoutMs: PATIENCE_MS,
  });
  // functions-toolkit prints why an upload is refused.
  vi.spyOn(console, "log").mockImplementation(() => {});
}, 600_000);
afterAll(async () => {
  vi.restoreAllMocks();
  await Promise.all([tyche, vrf, secondVrf, ...nodes].map((one) => one?.stop("SIGKILL")));
  await chain?.close();
  api?.close();
  await operators?.remove();
});

const WAIT = { timeout: PATIENCE_MS, interval: 100 };
const nodeEnv = (index: number) => ({
  ...(index === SPARE ? operators.tellAddressesAlone(SPARE) : operators.nodes[index]!),
  TYCHE_ALLOW_HOSTS: api.host,
  ...(index === LIAR && { TYCHE_TEST_WRONG_SHARES: "1" }),
});
/** Whether a node has yet to generate its key for secrets. */
const hasNoKey = async (index: number): Promise<boolean> =>
  (await stateOf(index)).warnings?.some((text) => text.includes("the key for secrets")) ?? true;

/** Runs a source whose comment tells the lying nodes whether to lie. */
const runFunction = (word: string, comment = "") =>
  tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: {
      network: NETWORK,
      source: `return Functions.encodeString(args[0] + '!') // ${comment}`,
      args: [word],
    },
  });

async function endAfter<Result>(
  end: () => Promise<void> | void,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    await end();
  }
}

/** Runs two functions at once; each must get its own result. */
async function runFunctions(name: string): Promise<void> {
  const words = [0, 1].map((index) => `${name}, word ${index}`);
  const answers = await Promise.all(words.map((word) => runFunction(word)));
  expect(answers.map(({ data }) => data)).toMatchObject(
    words.map((word) => ({ success: true, parsedResult: `${word}!` })),
  );
}

/** Runs functions, four at once, until it is the wrong node's turn to transmit one first; returns who answered those functions. */
async function runUntilFirst(wrong: number, comment?: string): Promise<readonly string[]> {
  for (let wave = 0; ; wave += 1) {
    const words = [0, 1, 2, 3].map((i) => `wave ${wave}, word ${i}`);
    const answers = await Promise.all(words.map((word) => runFunction(word, comment)));
    expect(answers.map(({ data }) => data)).toMatchObject(
      words.map((word) => ({ success: true, parsedResult: `${word}!` })),
    );
    const onChain = await operators.readAnswers();
    const theirs = answers
      .map(({ data }) => data.requestId as Hex)
      .filter((requestId) => transmitOrder(requestId, 4)[0] === wrong);
    if (theirs.length > 0) return theirs.flatMap((requestId) => onChain.get(requestId)!);
  }
}

/** Asks a node on a connection of its own: one that is kept may end as it is used again. */
const askNode = (index: number, page: string) =>
  fetch(`${nodes[index]!.url}${page}`, { headers: { connection: "close" } });

/** Returns what a node reports about itself and all nodes. */
async function stateOf(index: number): Promise<{ readonly nodes?: Peer[]; readonly warnings?: string[] }> {
  const readiness = await askNode(index, "/readyz");
  const { networks } = (await readiness.json()) as { networks: Record<string, object> };
  return networks[NETWORK]!;
}

interface Peer {
  readonly url: string;
  readonly lastSeen?: string;
  readonly contradictions: number;
  readonly transmissions: number;
  readonly agreement: { readonly same: number; readonly of: number };
}

/** Returns the evidence that a node holds against others. */
const evidenceOf = async (index: number): Promise<readonly EvidenceRecord[]> =>
  ((await (await askNode(index, "/evidence")).json()) as { evidence: EvidenceRecord[] }).evidence;

const peersOf = async (index: number): Promise<readonly Peer[]> => (await stateOf(index)).nodes ?? [];

const askPrivateApi = (secret: string) =>
  tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: {
      network: NETWORK,
      source: PRIVATE_SOURCE.replace("API_KEY", secret),
      args: [api.url],
      secrets: [secret],
    },
  });

test(
  "nodes read a dapp's secret, though one of them lies about its share, and is dead later",
  async () => {
    const stored = await tyche.call("PUT", "/api/secrets/API_KEY", {
      body: { network: NETWORK, value: TOKEN },
    });
    expect(stored).toMatchObject({ status: 200 });
    // Without this one, the liar's share is needed.
    await nodes[SECOND_LIAR]!.stop("SIGKILL");
    const asked = askPrivateApi("API_KEY");
    const signer = operators.contractsFile().oracle.functions.signers[LIAR]!;
    const isNamed = () =>
      nodes[0]!
        .output()
        .split("\n")
        .some((line) => line.includes("gave a wrong share") && line.includes(signer));
    await vi.waitUntil(isNamed, WAIT);
    nodes[SECOND_LIAR] = await startLiar(nodeEnv(SECOND_LIAR), MARKERS[SECOND_LIAR]!);
    const { data } = await asked;
    expect(data).toMatchObject({ success: true, parsedResult: "let in" });
    expect(data.warnings).toEqual([expect.stringContaining("was not run before")]);
    await nodes[LIAR]!.stop("SIGKILL");
    try {
      const client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });
      await client.secrets.set("LATER", { network: NETWORK, value: TOKEN, allowedHosts: [api.host] });
      expect(await askPrivateApi("LATER")).toMatchObject({ data: { parsedResult: "let in" } });
    } finally {
      nodes[LIAR] = await startLiar(nodeEnv(LIAR), MARKERS[LIAR]!);
    }
    const simulate = (more?: object) =>
      tyche.call("POST", "/api/oracleFunctions/simulate", {
        body: { network: NETWORK, source: PRIVATE_SOURCE, args: [api.url], secrets: ["API_KEY"], ...more },
      });
    expect(await simulate()).toMatchObject({
      status: 400,
      data: { err: expect.stringContaining("secretValues") },
    });
    expect(await simulate({ secretValues: { API_KEY: TOKEN } })).toMatchObject({
      data: { parsedResult: "let in" },
    });
  },
  PATIENCE_MS,
);

/** Uploads what somebody has encrypted, as an account's own. */
async function upload({ secrets }: ToolkitUser, encrypted: string, gateway = tyche.url): Promise<number> {
  const { version, success } = await secrets.uploadEncryptedSecretsToDON({
    encryptedSecretsHexstring: encrypted,
    gatewayUrls: [`${gateway}/gateway`],
    slotId: 0,
    minutesUntilExpiration: 15,
  });
  expect(success).toBe(true);
  return version;
}

const request = (of: ToolkitUser, secretsLocation: 1 | 2, reference: string): Promise<string> =>
  requestOf(of, {
    donId: network.donId,
    source: PRIVATE_SOURCE,
    args: [api.url],
    secretsLocation,
    reference,
  });

/**
 * Sends a request, and asks the other nodes for shares of a ciphertext for it, as the operator of the lying node does with the node's own
 * key. Returns their answers, shares or reasons, and what the request is answered in the end.
 */
async function askForShares(of: ToolkitUser, ciphertext: string, ...named: [1 | 2, string]) {
  const { oracle, contracts } = operators.contractsFile();
  const { signers } = oracle.functions;
  const client = createChainClient(chain.httpUrl);
  const { configDigest } = await endAfter(
    () => client.close(),
    () => readNodeSet(client, contracts.functionsCoordinator),
  );
  const masterKey = readFileSync(path.join(operators.nodes[LIAR]!["TYCHE_DATA_DIR"]!, "master-key"), "utf8");
  const { signer } = deriveNodeKeys(Buffer.from(masterKey.trim(), "hex"), 31_337);
  const boxKey = toHexText(createBox(Buffer.alloc(32, 1)).publicKey);
  const digest = digestOf(hexToString(ciphertext as Hex));
  // The request stays open while the nodes' messages are lost.
  operators.proxy.setRule(async () => undefined);
  const before = await of.consumer.requestId();
  const answer = request(of, ...named);
  return await endAfter(
    () => operators.proxy.setRule(undefined),
    async () => {
      const requestId = await vi.waitUntil(async () => {
        const current = await of.consumer.requestId();
        return current !== before && (current as Hex);
      }, WAIT);
      const ask = async (node: number): Promise<string> => {
        const gateway = createGatewayClient({
          oracleUrl: nodes[node]!.url,
          donId: network.donId,
          signers: [signers[node]!],
          receiver: signers[node]!,
          sign: (bytes) => signPersonal(bytes, signer),
        });
        const payload = { configDigest, requestId, digest, boxKey };
        const asked = () =>
          gateway.ask("node_share", payload, AbortSignal.timeout(PATIENCE_MS)).then(
            ({ share }) => share as string,
            (error: unknown) => (error as Error).message,
          );
        return await vi.waitUntil(async () => {
          const said = await asked();
          return !said.includes("does not see the request") && said;
        }, WAIT);
      };
      const shares = await Promise.all([0, 1, 2].map((node) => ask(node)));
      operators.proxy.setRule(undefined);
      return { shares, answer: await answer };
    },
  );
}

const SHARE = expect.stringMatching(/^0x[\da-f]{200,}$/);
const COPIED = expect.stringContaining("another account has used this ciphertext before");
const NO_SLOT = expect.stringContaining("has no version");

test(
  "nodes read what SecretsManager uploads for a user's contract; who runs one of them and copies it gets no shares",
  async () => {
    const [user, thief] = [await bank.createUser(), await bank.createUser()];
    const { encryptedSecrets } = await user.secrets.encryptSecrets({ API_KEY: TOKEN });
    const own = await askForShares(
      user,
      encryptedSecrets,
      2,
      referenceTo(await upload(user, encryptedSecrets)),
    );
    expect(own).toEqual({ shares: [SHARE, SHARE, SHARE], answer: "let in" });
    // What no proof covers can be changed, and the shares would be the same.
    const changed = {
      ...JSON.parse(hexToString(encryptedSecrets as Hex)),
      Nonce: btoa("another nonc"),
      SymCtxt: "",
    };
    for (const copy of [encryptedSecrets, stringToHex(JSON.stringify(changed, undefined, 1))]) {
      await expect(upload(thief, copy)).rejects.toThrow("Failed to send request");
      api.documents.set("/copy", JSON.stringify({ encryptedSecrets: copy }));
      const urls = await thief.secrets.encryptSecretsUrls([`${api.url}/copy`]);
      expect(await askForShares(thief, copy, 1, urls)).toEqual({
        shares: [COPIED, COPIED, COPIED],
        answer: COPIED,
      });
    }
    for (const one of [tyche, ...nodes]) expect(one.output()).not.toContain(TOKEN);
  },
  PATIENCE_MS,
);

test(
  "a node that was away for uploads gets them from the others, and if it sees a copy first, it alone gives a share of it",
  async () => {
    const [user, other] = [await bank.createUser(), await bank.createUser()];
    const thief = await bank.createUser();
    const { encryptedSecrets } = await user.secrets.encryptSecrets({ API_KEY: TOKEN });
    const { encryptedSecrets: others } = await other.secrets.encryptSecrets({ API_KEY: TOKEN });
    await nodes[SECOND_LIAR]!.stop("SIGKILL");
    await upload(user, encryptedSecrets);
    const missed = await upload(other, others);
    nodes[SECOND_LIAR] = await startLiar(nodeEnv(SECOND_LIAR), MARKERS[SECOND_LIAR]!);
    await vi.waitUntil(async () => !(await hasNoKey(SECOND_LIAR)), WAIT);
    const version = await upload(thief, encryptedSecrets, nodes[SECOND_LIAR].url);
    const { shares, answer } = await askForShares(thief, encryptedSecrets, 2, referenceTo(version));
    expect(shares).toEqual([NO_SLOT, NO_SLOT, SHARE]);
    expect(answer).toMatch(/has no version|too many nodes refuse/);
    expect(await askForShares(other, others, 2, referenceTo(missed))).toEqual({
      shares: [SHARE, SHARE, SHARE],
      answer: "let in",
    });
  },
  PATIENCE_MS,
);

test(
  "with one node that forges bytes, every function gets its own result",
  async () => {
    const words = ["one", "two", "three", "four"];
    const transmitted = async () =>
      (await peersOf(0)).reduce((sum, { transmissions }) => sum + transmissions, 0);
    const before = await transmitted();
    const answers = await Promise.all(words.map((word) => runFunction(word, "one liar")));
    expect(answers.map(({ data }) => data)).toMatchObject(
      words.map((word) => ({ success: true, parsedResult: `${word}!` })),
    );
    // Answers of before may be counted late.
    await expect.poll(transmitted).toBeGreaterThanOrEqual(before + words.length);
  },
  PATIENCE_MS,
);

test(
  "with one node that forges an error, every function gets its own result",
  async () => {
    const words = ["five", "six", "seven", "eight"];
    const answers = await Promise.all(words.map((word) => runFunction(word, "one liar, an error")));
    expect(answers.map(({ data }) => data)).toMatchObject(
      words.map((word) => ({ success: true, parsedResult: `${word}!` })),
    );
    // A result may be delivered before the liar's reveal arrives, which counts nothing.
    await expect
      .poll(async () => {
        await runFunction("nine", "one liar, an error");
        return (await peersOf(0))[LIAR]!.agreement.of;
      }, WAIT)
      .toBeGreaterThan(0);
  },
  PATIENCE_MS,
);

test(
  "a node whose clock is an hour ahead agrees with the others",
  async () => {
    await nodes[WRONG_CLOCK]!.stop("SIGKILL");
    nodes[WRONG_CLOCK] = await startNode(nodeEnv(WRONG_CLOCK), { clockShiftMs: HOUR_MS });
    await expect
      .poll(async () => {
        await runFunction("whatever the time");
        const { same, of } = (await peersOf(0))[WRONG_CLOCK]!.agreement;
        return [of > 0, of - same];
      }, WAIT)
      .toEqual([true, 0]);
    await expect
      .poll(async () => Date.parse(String((await peersOf(WRONG_CLOCK))[0]!.lastSeen)) - Date.now())
      .toBeGreaterThan(HOUR_MS / 2);
  },
  PATIENCE_MS,
);

test(
  "a preset takes a word of the VRF operator and a result of the nodes, and its signers are named",
  async () => {
    const { data } = await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=range`, {
      body: { min: "1", max: "6" },
    });
    expect(data).toMatchObject({ success: true });
    const verified = await operators.run([
      "verify",
      NETWORK,
      data.url.slice(-66),
      "--rpc-url",
      chain.httpUrl,
      "--contracts",
      await publishedBy(tyche),
      "--json",
    ]);
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.output).toContain("3 of 4 nodes signed this report");
    expect(verified.output).toContain("2 of the 4 operators");
  },
  PATIENCE_MS,
);

test.each(Object.entries(NODE_FAULTS))(
  "with %s, every function gets its own result",
  async (name, fault) => {
    const end = await fault({ chain, operators, wrong: LIAR });
    const startedAt = Date.now();
    const transmitters = await endAfter(end, () => runUntilFirst(LIAR));
    // If a node says nothing, or sends nothing, others answer in its place.
    const mustPass = /silent|cut off|withholds/.test(name);
    expect(mustPass && transmitters.includes(operators.transmitterOf(LIAR))).toBe(false);
    await expect
      .poll(async () => {
        await runFunction("after");
        return (await peersOf(0))[LIAR]!.lastSeen;
      }, WAIT)
      .toSatisfy((seen) => Date.parse(String(seen)) > startedAt);
  },
  PATIENCE_MS,
);

test.each(Object.keys(NODE_STEPS) as (keyof typeof NODE_STEPS)[])(
  "a node that is needed and killed when %s goes on from its journal, and contradicts nothing",
  async (step) => {
    const reached = watchStep(operators, { silent: LIAR, node: WRONG_CLOCK, step });
    const waves: ReturnType<typeof runFunctions>[] = [];
    let isReached = false;
    while (!isReached) {
      const wave = runFunctions(`${step}, wave ${waves.length}`);
      wave.catch(() => {});
      waves.push(wave);
      await Promise.race([reached.then(() => (isReached = true)), wave]);
    }
    await nodes[WRONG_CLOCK]!.stop("SIGKILL");
    operators.proxy.setRule(async ({ from, body }) => (from === LIAR ? undefined : body));
    nodes[WRONG_CLOCK] = await startNode(operators.nodes[WRONG_CLOCK]!, { clockShiftMs: -HOUR_MS });
    await endAfter(
      () => operators.proxy.setRule(undefined),
      () => Promise.all(waves),
    );
    expect(await Promise.all([0, 2].map((index) => evidenceOf(index)))).toEqual([[], []]);
  },
  PATIENCE_MS,
);

test(
  "evidence against a node that commits twice is kept by the others, and proves it to anybody",
  async () => {
    const coordinator = operators.coordinator();
    const client = createChainClient(chain.httpUrl);
    const set = await endAfter(
      () => client.close(),
      () => readNodeSet(client, coordinator),
    );
    await endAfter(startEquivocating(operators, { wrong: LIAR, set, coordinator }), () =>
      expect
        .poll(async () => {
          // The others may finish a request before it even commits.
          const { data } = await runFunction("twice");
          expect(data).toMatchObject({ success: true, parsedResult: "twice!" });
          return evidenceOf(0);
        }, WAIT)
        .not.toEqual([]),
    );
    expect(new Set((await evidenceOf(0)).map(({ signer }) => signer))).toEqual(new Set([set.signers[LIAR]]));
    const file = path.join(operators.folder, "evidence.json");
    writeFileSync(file, JSON.stringify({ evidence: await evidenceOf(0) }));
    const checked = await operators.run(["oracle", "evidence", file, "--rpc-url", chain.httpUrl]);
    expect(checked).toMatchObject({ code: 0 });
    expect(checked.output).toContain(`${set.signers[LIAR]} signed two different observations for request`);
    expect(checked.output).toContain(`as a node of ${coordinator}`);
    const { output } = await operators.run(["network", "check", NETWORK]);
    expect(output).toContain("contradicted itself");
  },
  PATIENCE_MS,
);

test(
  "two liars of four, more than f, can make what they say the result; an honest node sees that it differs",
  async () => {
    const before = (await peersOf(0))[0]!.agreement;
    // One of the honest nodes is slow, so that the first three reveals mostly come from the other one and the liars.
    operators.proxy.setRule(async ({ from, body }) => {
      if (from === WRONG_CLOCK) await new Promise((resolve) => setTimeout(resolve, 1_000));
      return body;
    });
    await endAfter(
      () => operators.proxy.setRule(undefined),
      () =>
        expect
          .poll(async () => {
            const { data } = await runFunction("right", "two liars");
            expect(data).toMatchObject({
              success: true,
              parsedResult: expect.stringMatching(/^(?:right!|forged)$/),
            });
            return data.parsedResult as string;
          }, WAIT)
          .toBe("forged"),
    );
    await expect
      .poll(async () => {
        const { same, of } = (await peersOf(0))[0]!.agreement;
        return of - same > before.of - before.same;
      })
      .toBe(true);
    await expect.poll(() => nodes[0]!.output()).toContain("the answer is not what this node saw");
  },
  PATIENCE_MS,
);

test(
  "the set changes under load: nodes that run follow, and each request is answered once",
  async () => {
    const isIdle = async (index: number): Promise<boolean> =>
      (await stateOf(index)).warnings?.some((text) => text.includes("not in the coordinator's")) ?? false;
    await expect.poll(() => isIdle(SPARE)).toBe(true);
    let isOver = false;
    const answers: { readonly word: string; readonly data: object }[] = [];
    const send = async (lane: number): Promise<void> => {
      for (let i = 0; !isOver; i += 1) {
        const word = `lane ${lane}, request ${i}`;
        answers.push({ word, ...(await runFunction(word)) });
      }
    };
    const lanes = Promise.all([0, 1, 2].map((lane) => send(lane)));
    await operators.reconfigure([0, 2, LIAR, SPARE]).finally(() => (isOver = true));
    await lanes;
    for (const { word, data } of answers)
      expect(data).toEqual(expect.objectContaining({ success: true, parsedResult: `${word}!` }));
    const urls = [0, 2, LIAR, SPARE].map((index) => operators.proxy.urls[index]);
    for (const index of [0, 2, SPARE])
      await expect.poll(async () => (await peersOf(index)).map(({ url }) => url)).toEqual(urls);
    await expect.poll(() => isIdle(1)).toBe(true);
    const counts = [...(await operators.readAnswers()).values()].map(({ length }) => length);
    expect(new Set(counts)).toEqual(new Set([1]));
    await nodes[1]!.stop();
    const listed = async () =>
      ((await tyche.call("GET", "/api/networks")).data.items[0].nodes as OracleNodeView[]).map(
        ({ url, answers }) => ({ url, answers }),
      );
    await expect.poll(listed).toEqual(urls.map((url) => ({ url, answers: true })));
    // The new node has agreed with nothing before its reveal has come before an answer.
    await expect
      .poll(async () => {
        await runFunction("with the new set");
        return (await peersOf(0)).map(({ agreement }) => agreement.of > 0);
      }, WAIT)
      .toEqual(urls.map(() => true));
    await operators.run(["network", "fund", NETWORK, "--coin", "10"]);
    const { output } = await operators.run(["network", "check", NETWORK]);
    for (const url of urls)
      expect(output).toMatch(new RegExp(`✓ node ${url} \\(0x\\w+\\): last seen 20.*; agreed with .* %`));
  },
  PATIENCE_MS,
);

test(
  "a node that was killed is missed by nobody, and goes on when it is started again",
  async () => {
    await nodes[LIAR]!.stop("SIGKILL");
    nodes[LIAR] = await startNode(operators.nodes[LIAR]!);
    await nodes[0]!.stop("SIGKILL");
    const { data } = await runFunction("without");
    expect(data).toEqual(expect.objectContaining({ success: true, parsedResult: "without!" }));
    nodes[0] = await startNode(operators.nodes[0]!);
    await expect.poll(async () => (await peersOf(0)).length, { timeout: 60_000 }).toBe(4);
  },
  PATIENCE_MS,
);

test("words of two VRF operators are joined, and one who is away is named until its word comes", async () => {
  const { data: networks } = await tyche.call("GET", "/api/networks");
  const { keyHashes } = networks.items.find(({ name }: { name: string }) => name === NETWORK).vrf;
  expect(new Set(keyHashes).size).toBe(2);
  const ask = (prefer: string) =>
    tyche.call("POST", "/api/vrfv2/requestRandomNumber", {
      body: { network: NETWORK, keyHashes, numWords: 2 },
      headers: { "idempotency-key": "two-operators", prefer },
    });
  await secondVrf.stop("SIGKILL");
  const { id } = (await ask("respond-async")).data;
  const why = await vi.waitFor(
    async () => {
      const { data } = await tyche.call("GET", `/api/requests/${id}`);
      expect(data).toMatchObject({ why: expect.stringContaining("1 of 2 words have come") });
      return data.why;
    },
    { timeout: PATIENCE_MS },
  );
  expect(why).toContain(keyHashes[1]);
  expect(why).not.toContain(keyHashes[0]);
  secondVrf = await startNode(operators.secondVrf);
  const { data: answer } = await ask("wait=120");
  expect(answer).toMatchObject({ success: true });
  const { code, output } = await operators.run([
    "verify",
    NETWORK,
    answer.transactionHash,
    "--rpc-url",
    chain.httpUrl,
    "--contracts",
    await publishedBy(tyche),
    "--json",
  ]);
  expect([code, output]).toEqual([0, expect.stringContaining("join")]);
});
