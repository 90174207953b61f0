/**
 * Serves the naive path over HTTP, like the service in a process of its own: `node bench/naive/server.ts
 * FOLDER`. Prints one line of JSON once it listens; SIGTERM ends it.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createSandboxPool } from "../../sandbox/index.ts";
import { createAccount } from "../../src/evm/account.ts";
import { startEmbeddedChain } from "../../src/networks/embedded/chain.ts";
import { MAX_RESPONSE_BYTES } from "../../src/domain/sourceLimit.ts";
import { NETWORKS } from "../../src/networks/profiles.ts";
import { deriveKey } from "../../src/lib/seal.ts";
import { createReportSigner } from "../../src/oracle/signer.ts";
import { createProvingKey } from "../../src/vrf/proof.ts";
import { createNaivePath } from "./naivePath.ts";
import { createOrderlyAccount } from "./orderlyAccount.ts";

const folder = process.argv[2];
if (folder === undefined) throw new Error("the first argument is the folder for the chain's state");

const profile = NETWORKS.sepolia;
const key = (purpose: string): Uint8Array => deriveKey(Buffer.from("naive path"), purpose);
const account = (purpose: string) => createAccount(key(purpose));
const provingKey = createProvingKey(key("vrf"));
const signers = [0, 1, 2, 3].map((i) => createReportSigner(key(`signer ${i}`)));
const transmitters = [0, 1, 2, 3].map((i) => account(`transmitter ${i}`));
const [deployer, operator, vrfAccount] = [account("deployer"), account("operator"), account("vrf sender")];

const chain = await startEmbeddedChain({
  profile,
  folder,
  known: undefined,
  preferredPort: 0,
  rpcOrigins: [],
  deployer,
  vrf: { vrfVersion: "v2", nativePayment: false },
  roles: {
    operator: operator.address,
    vrf: [{ oracle: vrfAccount.address, publicKey: [provingKey.publicKey.x, provingKey.publicKey.y] }],
    functions: {
      signers: signers.map(({ address }) => address),
      transmitters: transmitters.map(({ address }) => address),
      donPublicKey: "0x00",
      thresholdPublicKey: "0x00",
    },
  },
  accounts: [operator.address, vrfAccount.address, ...transmitters.map(({ address }) => address)],
  onRestart: () => process.exit(1),
  onCompacted: () => {},
  onError: (error) => console.error(error),
});
const { client } = chain;
const pool = createSandboxPool();
await pool.ready();
const orderly = (one: typeof operator) =>
  createOrderlyAccount({ client, account: one, chainId: profile.chainId });
const run = await createNaivePath({
  client,
  contracts: chain.deployment.contracts,
  operator: await orderly(operator),
  vrf: { key: provingKey, account: await orderly(vrfAccount) },
  functions: { signers, account: await orderly(transmitters[0]!) },
  runner: pool,
  maxResponseBytes: MAX_RESPONSE_BYTES,
});

const server = createServer((request, response) => {
  void (async () => {
    try {
      const data = await run(JSON.parse(await readBody(request)));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data: { success: true, ...data } }));
    } catch (error) {
      response.statusCode = 500;
      response.end(JSON.stringify({ data: { success: false, err: String(error) } }));
    }
  })();
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  const { contracts } = chain.deployment;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}`, rpcUrl: chain.rpcUrl, contracts }));
});

process.on("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
  void Promise.allSettled([pool.close(), chain.close()]).then(() => process.exit(0));
});

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
