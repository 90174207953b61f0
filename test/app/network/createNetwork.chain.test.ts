import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createEmbeddedSource } from "../../../src/app/network/createNetwork.ts";
import { deriveNetworkKeys } from "../../../src/app/network/networkKeys.ts";
import { NETWORKS } from "../../../src/networks/profiles.ts";

const FIRST_RPC_PORT = 8545;

test("a chain whose port is taken says so, and where it serves instead, at the start and in the readiness", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tyche-test-"));
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const source = createEmbeddedSource({
    profile: NETWORKS.sepolia,
    keys: deriveNetworkKeys(new Uint8Array(32).fill(7), "sepolia"),
    vrf: { vrfVersion: "v2", nativePayment: false },
    folder: join(folder, "sepolia"),
    index: port - FIRST_RPC_PORT,
    rpcOrigins: [],
    log: pino({ level: "silent" }),
  });
  try {
    const chain = await source.open(undefined, { onDown: () => {}, onError: () => {} });
    const finding = `port ${port} is taken by another program or not permitted, so the RPC URL of sepolia is now ${chain.rpcUrl}: change it in wallets and tools, or free the port and restart`;
    expect([chain.takenPort, chain.findings]).toEqual([port, []]);
    expect(await chain.warnings()).toEqual([finding]);
    await chain.close();
    expect(chain.rpcUrl).not.toContain(String(port));
  } finally {
    other.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
