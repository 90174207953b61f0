/**
 * `node lyingNode.ts NETWORK MARKER`: an oracle node like `tyche oracle`, except that its sandbox forges the result
 * of any source that contains the marker: bytes, or an error if the source says so. With TYCHE_TEST_WRONG_SHARES,
 * every share of secrets that it gives is wrong.
 */
import { pino } from "pino";
import type { Hex } from "viem";
import { Registry } from "prom-client";
import { createSandboxPool, type SandboxPool } from "../../../sandbox/index.ts";
import { readConfig } from "../../../src/config/readConfig.ts";
import { isEmbedded } from "../../../src/config/embeddedNetworkSchema.ts";
import { openSandboxNetwork } from "../../../src/app/process/openSandboxNetwork.ts";
import { serveOracleNetwork } from "../../../src/app/oracle/oracleNetwork.ts";
import { deriveNodeKeys, findOracleRole } from "../../../src/app/oracle/oracleRole.ts";
import { listenForOracle } from "../../../src/app/oracle/oracleServer.ts";
import { fromHexText, toHexText } from "../../../src/lib/hex.ts";
import { createGateway, signPersonal, type GatewayNetwork } from "../../../src/oracle/secrets/gateway.ts";
import { encodeGatewayBody } from "../../../src/oracle/secrets/gatewayMessage.ts";
import { sealTo } from "../../../src/oracle/secrets/sealedBox.ts";
import { openDapps } from "../../../src/app/tools/dappTools.ts";
import { openDataDirectory } from "../../../src/store/dataDirectory.ts";

const [, , name = "", marker = ""] = process.argv;
const dataDir = process.env["TYCHE_DATA_DIR"]!;
const { config } = readConfig({ file: undefined, dataDir, environment: process.env });
const network = config.networks[name]!;
if (isEmbedded(network)) throw new Error(`${name} is embedded`);
const directory = openDataDirectory(dataDir, { exclusive: true });
const { store } = await openDapps(directory, { onFatal: () => process.exit(1) });
const { hostCalls } = openSandboxNetwork(config.sandbox, directory);
const honest = createSandboxPool({ concurrency: 1, maxWorkers: 1, hostCalls });
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
  allowHosts: config.sandbox.allowHosts,
  role: findOracleRole(directory),
});
const { signer } = deriveNodeKeys(directory.masterKey, served.address!.chainId);
/** Answers as the node does, but gives shares of zeros. */
const lie = (gateway: GatewayNetwork | undefined): GatewayNetwork[] => {
  if (gateway === undefined) return [];
  const liar: GatewayNetwork = {
    async answer(message, from) {
      const { id, body } = message;
      if (body.method !== "node_share" || process.env["TYCHE_TEST_WRONG_SHARES"] === undefined)
        return await gateway.answer(message, from);
      const { boxKey } = body.payload as { readonly boxKey: Hex };
      const share = toHexText(sealTo(fromHexText(boxKey), new Uint8Array(129), "tyche secrets share"));
      const answer = { ...body, payload: { success: true, share } };
      const signature = signPersonal(encodeGatewayBody(answer), signer);
      return { jsonrpc: "2.0", id, result: { body: answer, signature } };
    },
  };
  return [liar];
};
const server = await listenForOracle({
  host: config.host,
  port: config.port,
  registry: new Registry(),
  networks: [served],
  gateway: createGateway({ find: () => lie(served.gateway()), onError() {} }),
  sandbox: () => ({ isReady: true }),
});
process.once("SIGTERM", () => {
  directory.close();
  process.exit(0);
});
console.log(`listening on ${server.url}`);
