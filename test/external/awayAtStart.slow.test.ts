import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { findFreePorts } from "../support/freePorts.ts";
import { startOracleProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild | undefined;
let tyche: TycheProcess | undefined;
let line: Line;

beforeAll(async () => {
  chain = await startIntervalAnvil();
  line = await openLine(chain.httpUrl);
  parties = prepareParties(chain, { serviceUrls: [line.url], oracleUrls: [line.url] });
  await deployByCommands(parties);
});
afterEach(async () => {
  await tyche?.stop("SIGKILL");
  await oracle?.stop("SIGKILL");
});
afterAll(async () => {
  await line?.cut();
  await chain?.close();
  parties?.remove();
});

test("a service whose only network is away at the start says so, and serves it once its node answers", async () => {
  await line.cut();
  [tyche, oracle] = await Promise.all([startService(parties), startOracleProcess(parties.oracle)]);
  expect(tyche.output()).toMatch(new RegExp(`but ${NETWORK} can't serve: see below`));
  await expect.poll(() => tyche!.output()).toContain(`Nodes of ${NETWORK} are tried again`);
  expect(tyche.output()).not.toMatch(/restart the service|^\{/m);
  const { status, network } = await readReadiness(tyche);
  expect([status, network.why]).toEqual([503, expect.stringMatching(/eth_chainId.*; it is tried again$/)]);
  const refused = await tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}`);
  expect(refused.status).toBe(502);
  await line.mend();
  await expect.poll(async () => (await readReadiness(tyche!)).status).toBe(200);
  await expect.poll(() => tyche!.output()).toContain(`✓ ${NETWORK}`);
  await expectFulfilled(tyche, await sendWave(tyche, "after all", 4));
});

test("a service ends on a signal while a network is tried again", async () => {
  await line.cut();
  tyche = await startService(parties);
  expect(await tyche.stop()).toBe(0);
  await line.mend();
});

test("an oracle says that its node is away, and that it is back", async () => {
  oracle = await startOracleProcess(parties.oracle);
  const read = async () => {
    const { status, network } = await readReadiness(oracle!);
    const metrics = await (await fetch(`${oracle!.url}/metrics`)).text();
    return {
      status,
      why: network.why,
      isReachable: metrics.includes(`tyche_rpc_reachable{network="${NETWORK}"} 1`),
    };
  };
  await expect.poll(read).toEqual({ status: 200, why: undefined, isReachable: true });
  await line.cut();
  const why = expect.stringMatching(/^node 1: /);
  await expect.poll(read).toEqual({ status: 503, why, isReachable: false });
  await line.mend();
  await expect.poll(read).toEqual({ status: 200, why: undefined, isReachable: true });
});

test("an oracle whose port is in use says what to set", async () => {
  const { port: PORT } = new URL(line.url);
  const { code, output } = await parties.run(["oracle"], { ...parties.oracle, PORT });
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringContaining(`error: port ${PORT} on 127.0.0.1 is in use; set PORT to another one`),
  });
});

async function readReadiness({ url }: Pick<TycheProcess, "url">) {
  const response = await fetch(`${url}/readyz`);
  const { networks } = (await response.json()) as { networks: Record<string, { why?: string }> };
  return { status: response.status, network: networks[NETWORK]! };
}

/** A way to a node that can be cut. */
interface Line {
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

async function openLine(nodeUrl: string): Promise<Line> {
  const [port] = await findFreePorts(1);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const mend = async (): Promise<void> => {
    server = createServer((socket) => {
      const onward = connect(Number(new URL(nodeUrl).port), "127.0.0.1");
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        sockets.add(from);
        from.pipe(to);
        from.on("error", () => {}).on("close", () => to.destroy());
      }
    });
    await new Promise<void>((resolve) => {
      server!.listen(port, "127.0.0.1", resolve);
    });
  };
  await mend();
  return {
    url: `http://127.0.0.1:${port}`,
    mend,
    async cut() {
      const closed = new Promise((resolve) => server?.close(resolve));
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await closed;
    },
  };
}
