import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Hex } from "viem";
import { decodeLog } from "../../../src/chainlink/events.ts";
import type { StackAddresses } from "../../../src/chainlink/stackPlan.ts";
import { createChainClient } from "../../../src/evm/client.ts";
import { readContractsFile, type ContractsFile } from "../../../src/networks/external/contractsFile.ts";
import { findFreePorts } from "../../support/freePorts.ts";
import { programFile } from "../../support/programs.ts";
import { readLogs } from "../../support/readLogs.ts";
import { runTyche, startOracleProcess, type OracleChild } from "../../support/tyche.ts";
import { RICH_KEY, type StrangersChain } from "./chain.ts";
import { startPeerProxy, type PeerProxy } from "./peerProxy.ts";
import { NETWORK } from "./world.ts";

const KEY_VARIABLE = "TYCHE_TEST_KEY";
const KEYS_AT_ONCE = 4;
const SHIFTED_CLOCK = path.resolve(import.meta.dirname, "shiftedClock.ts");

/** An oracle of several operators, each with its own folder and process, and a service on the same chain. */
export interface SeveralOperators {
  readonly service: Readonly<Record<string, string>>;
  /** Environments of the nodes, in the order of their cards. */
  readonly nodes: readonly Readonly<Record<string, string>>[];
  readonly vrf: Readonly<Record<string, string>>;
  /** An additional VRF operator with its own key. */
  readonly secondVrf: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Creates all keys, deploys the contracts for the cards of the first `nodes` nodes (default all), and funds their accounts. */
  deploy(nodes?: number): Promise<string>;
  /** Takes the contracts file from a node: of the network, it gets only the addresses of coordinator and PresetConsumer. */
  tellAddressesAlone(node: number): Readonly<Record<string, string>>;
  /** Has a node's operator agree to hand its share of the key for secrets on. */
  letHandOn(node: number, configDigest: string): Readonly<Record<string, string>>;
  /** Configures the network for other nodes, by index. */
  reconfigure(nodes: readonly number[], more?: readonly string[]): Promise<string>;
  /** Reads from the chain which accounts (lower case) answered each request, by request id. */
  readAnswers(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Returns the account (lower case) that sends a node's reports. */
  transmitterOf(node: number): string;
  readonly coordinator: () => Hex;
  readonly contracts: () => StackAddresses;
  readonly contractsFile: () => ContractsFile;
  /** The proxy between the nodes. */
  readonly proxy: PeerProxy;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof runTyche>;
  remove(): Promise<void>;
}

/** Prepares the folders without starting anything. `direct`: without a proxy between the nodes. */
export async function prepareOperators(
  chain: StrangersChain,
  count: number,
  { direct = false } = {},
): Promise<SeveralOperators> {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-nodes-"));
  const contracts = path.join(folder, "contracts", "mychain.json");
  const writeConfig = (name: string, more: object): string => {
    const file = path.join(folder, `${name}.json`);
    const network = { chainId: 31_337, title: "My chain", contracts, finalityDepth: 12, ...more };
    writeFileSync(
      file,
      JSON.stringify({ networks: { [NETWORK]: network }, sandbox: { concurrency: 1, maxWorkers: 2 } }),
    );
    return file;
  };
  const service = {
    TYCHE_DATA_DIR: path.join(folder, "service"),
    TYCHE_CONFIG: writeConfig("service-config", {
      rpcUrls: [chain.wsUrl],
      operatorKey: { env: KEY_VARIABLE },
    }),
    [KEY_VARIABLE]: RICH_KEY,
  };
  const TYCHE_CONFIG = writeConfig("oracle-config", { rpcUrls: [chain.httpUrl] });
  const ports = await findFreePorts(count);
  const nodes = ports.map((port, index) => ({
    TYCHE_DATA_DIR: path.join(folder, `node-${index}`),
    TYCHE_CONFIG,
    PORT: String(port),
  }));
  const vrfAt = (name: string) => ({ TYCHE_DATA_DIR: path.join(folder, name), TYCHE_CONFIG, PORT: "0" });
  const [vrf, secondVrf] = [vrfAt("vrf"), vrfAt("vrf-2")] as const;
  const proxy = await startPeerProxy(ports);
  const readFile = () => readContractsFile(contracts, { network: NETWORK, chainId: 31_337 });
  /** By node index. */
  const cards: string[] = [];
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = service) => {
    const done = await runTyche(args, env);
    if (done.code !== 0) throw new Error(`tyche ${args.join(" ")}: ${done.output}`);
    return done;
  };
  return {
    service,
    nodes,
    vrf,
    secondVrf,
    folder,
    run: (args, env = service) => runTyche(args, env),
    async deploy(first = count) {
      const print = async (
        name: string,
        role: readonly string[],
        env: Readonly<Record<string, string>>,
      ): Promise<string> => {
        const { output } = await run(["oracle", "keys", ...role, "--json"], env);
        const card = path.join(folder, `${name}-card.json`);
        writeFileSync(card, output);
        return card;
      };
      const vrfCards = [
        await print("vrf", ["--role", "vrf"], vrf),
        await print("vrf-2", ["--role", "vrf"], secondVrf),
      ];
      // A few processes at a time: 31 at once are slower on two cores.
      for (let from = 0; from < nodes.length; from += KEYS_AT_ONCE)
        cards.push(
          ...(await Promise.all(
            nodes.slice(from, from + KEYS_AT_ONCE).map((env, index) => {
              const url = direct ? `http://127.0.0.1:${env.PORT}` : proxy.urls[from + index]!;
              return print(`node-${from + index}`, ["--role", "node", "--url", url], env);
            }),
          )),
        );
      const chosen = [...cards.slice(0, first), ...vrfCards];
      const { output } = await run(["network", "deploy", NETWORK, "--oracle", ...chosen, "--yes"]);
      await run(["network", "fund", NETWORK, "--coin", "10"]);
      return output;
    },
    proxy,
    coordinator: () => readFile().contracts.functionsCoordinator,
    contracts: () => readFile().contracts,
    contractsFile: readFile,
    transmitterOf(node) {
      const { cards: found } = JSON.parse(readFileSync(cards[node]!, "utf8")) as {
        cards: { transmitter: string }[];
      };
      return found[0]!.transmitter.toLowerCase();
    },
    tellAddressesAlone(node) {
      const { functionsCoordinator: coordinator, presetConsumer } = readFile().contracts;
      const alone = { rpcUrls: [chain.httpUrl], contracts: undefined, coordinator, presetConsumer };
      return { ...nodes[node]!, TYCHE_CONFIG: writeConfig(`node-${node}-config`, alone) };
    },
    letHandOn(node, configDigest) {
      const more = { rpcUrls: [chain.httpUrl], handKeyOnTo: configDigest };
      return { ...nodes[node]!, TYCHE_CONFIG: writeConfig(`node-${node}-config`, more) };
    },
    async reconfigure(chosen, more = []) {
      const files = chosen.map((index) => cards[index]!);
      return (await run(["network", "reconfigure", NETWORK, "--oracle", ...files, "--yes", ...more])).output;
    },
    async readAnswers() {
      const file = readFile();
      const client = createChainClient(chain.httpUrl);
      try {
        const logs = await readLogs(client, [file.contracts.functionsRouter], BigInt(file.blockNumber));
        const answers = new Map<string, string[]>();
        for (const event of logs.map((log) => decodeLog(log))) {
          if (event?.name === "RequestStart") answers.set(event.requestId, []);
          if (event?.name === "RequestProcessed")
            answers.get(event.requestId)!.push(event.transmitter.toLowerCase());
        }
        return answers;
      } finally {
        await client.close();
      }
    },
    async remove() {
      await proxy.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** Starts a node that follows the protocol, but reports forged bytes for each source that contains a marker. */
export async function startLiar(env: Readonly<Record<string, string>>, marker: string): Promise<OracleChild> {
  const child = spawn(process.execPath, [programFile("lyingNode"), NETWORK, marker], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const found = /listening on (http\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`the liar did not start:\n${text}`)));
  });
  return {
    url,
    pid: child.pid!,
    output: () => text,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}

/** Starts a node as its operator does; its clock may be off. */
export async function startNode(
  env: Readonly<Record<string, string>>,
  { clockShiftMs = 0 }: { readonly clockShiftMs?: number } = {},
): Promise<OracleChild> {
  if (clockShiftMs === 0) return await startOracleProcess(env);
  return await startOracleProcess({
    ...env,
    NODE_OPTIONS: `--import=${pathToFileURL(SHIFTED_CLOCK).href}`,
    TYCHE_TEST_CLOCK_SHIFT_MS: String(clockShiftMs),
  });
}
