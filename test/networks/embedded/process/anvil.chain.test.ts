import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openUnixSocket } from "../../../../src/evm/connection.ts";
import { startAnvil } from "../../../../src/networks/embedded/process/anvil.ts";

const start = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-anvil-"));
  const ipcPath = path.join(folder, "ipc");
  const pidFile = path.join(folder, "anvil.pid");
  const onExit = vi.fn<() => void>();
  const anvil = await startAnvil({
    chainId: 31_337,
    ipcPath,
    pidFile,
    stateFile: path.join(folder, "state.json"),
    onExit,
  });
  const pid = Number.parseInt(readFileSync(pidFile, "utf8"), 10);
  const connection = openUnixSocket(ipcPath, 60_000);
  onTestFinished(async () => {
    connection.close();
    await anvil.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { anvil, folder, pid, connection, onExit };
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a process ends when it is closed, though its folder is gone", async () => {
  const { anvil, folder, pid, connection, onExit } = await start();
  expect(await connection.request("eth_chainId", [])).toBe("0x7a69");
  expect(statSync(path.join(folder, "anvil.pid")).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
  await anvil.close();
  expect(isAlive(pid)).toBe(false);
  expect(onExit).not.toHaveBeenCalled();
});

/** Returns the addresses on which a process listens, in the kernel's notation. */
const listeningOn = (pid: number): string[] => {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  return readFileSync(`/proc/${pid}/net/tcp`, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === "0A" && sockets.includes(`socket:[${fields[9]}]`))
    .map((fields) => fields[1]!.split(":")[0]!);
};

test("Anvil's TCP port is in a network of its own, or on an address that nobody guesses", async () => {
  const { anvil, pid } = await start();
  const [own, its] = ["self", pid].map((who) => readlinkSync(`/proc/${who}/ns/net`));
  expect(anvil.isIsolated).toBe(own !== its);
  const addresses = listeningOn(pid);
  expect(addresses).toHaveLength(1);
  // 127.0.0.1 in little-endian order, and the wildcard address.
  expect(anvil.isIsolated || !["0100007F", "00000000"].includes(addresses[0]!)).toBe(true);
});
