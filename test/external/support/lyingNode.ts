/**
 * `node lyingNode.ts NETWORK MARKER`: an oracle node like `tyche oracle`, except that its sandbox forges the result
 * of any source that contains the marker: bytes, or an error if the source says so.
 */
import { pino } from "pino";
import { Registry } from "prom-client";
import { createSandboxPool, type SandboxPool } from "../../../sandbox/index.ts";
import { readConfig } from "../../../src/app/config/readConfig.ts";
import { isEmbedded } from "../../../src/app/config/embeddedNetworkSchema.ts";
import { serveOracleNetwork } from "../../../src/app/oracle/oracleNetwork.ts";
import { findOracleRole } from "../../../src/app/oracle/oracleRole.ts";
import { listenForOracle } from "../../../src/app/oracle/oracleServer.ts";
import { openDapps } from "../../../src/dapps/dappTools.ts";
import { openDataDirectory } from "../../../src/store/dataDirectory.ts";

const [, , name = "", marker = ""] = process.argv;
const dataDir = process.env["TYCHE_DATA_DIR"]!;
const { config } = readConfig({ file: undefined, dataDir, environment: process.env });
const network = config.networks[name]!;
if (isEmbedded(network)) throw new Error(`${name} is embedded`);
const directory = openDataDirectory(dataDir, { exclusive: true });
const { store } = await openDapps(directory, { onFatal: () => process.exit(1) });
const honest = createSandboxPool({ concurrency: 1, maxWorkers: 1 });
const forged = { ok: true, bytes: Buffer.from("forged") };
const forgedError = { ok: false, error: { message: "forged" } };
const pool: Pick<SandboxPool, "run"> = {
  run: async (run) =>
    run.source.includes(marker)
      ? ((run.source.includes("error") ? forgedError : forged) as unknown as ReturnType<SandboxPool["run"]>)
      : honest.run(run),
};
const served = serveOracleNetwork({
  name,
  config: network,
  masterKey: directory.masterKey,
  store,
  pool: pool as SandboxPool,
  log: pino({ level: "warn" }, pino.destination(2)),
  onTransaction() {},
  allowHosts: [],
  role: findOracleRole(directory),
});
const server = await listenForOracle({
  host: config.host,
  port: config.port,
  registry: new Registry(),
  networks: [served],
  gateway: { answer: async () => ({}) },
  sandbox: () => ({ isReady: true }),
});
process.once("SIGTERM", () => {
  directory.close();
  process.exit(0);
});
console.log(`listening on ${server.url}`);
