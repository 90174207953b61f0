import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createEmbeddedSource } from "../../src/app/embeddedSource.ts";
import { deriveNetworkKeys } from "../../src/app/networkKeys.ts";
import { NETWORKS } from "../../src/networks/profiles.ts";

const FIRST_RPC_PORT = 8545;

test("behaviour: a chain whose port is taken says so, and where it serves instead", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tyche-test-"));
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const lines: string[] = [];
  const source = createEmbeddedSource({
    profile: NETWORKS.sepolia,
    keys: deriveNetworkKeys(new Uint8Array(32).fill(7), "sepolia"),
    vrf: { vrfVersion: "v2", nativePayment: false },
    folder: join(folder, "sepolia"),
    index: port - FIRST_RPC_PORT,
    rpcOrigins: [],
    log: pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }),
  });
  try {
    const chain = await source.open(undefined, { onDown: () => {}, onError: () => {} });
    await chain.close();
    expect(lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg)).toEqual([
      `port ${port} can't be used: the RPC URL of sepolia is now ${chain.rpcUrl}`,
    ]);
    expect(chain.rpcUrl).not.toContain(String(port));
  } finally {
    other.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
