import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startAnvil } from "../../../src/chain/embedded/anvil.ts";

test("behaviour: a process ends when it is closed, though its folder is gone", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-anvil-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const onExit = vi.fn<() => void>();
  const anvil = await startAnvil({
    chainId: 31_337,
    ipcPath: path.join(folder, "ipc"),
    pidFile: path.join(folder, "anvil.pid"),
    stateFile: path.join(folder, "state.json"),
    host: "127.0.0.1",
    onExit,
  });
  const isReachable = () =>
    fetch(`http://127.0.0.1:${anvil.port}`).then(
      () => true,
      () => false,
    );
  expect(await isReachable()).toBe(true);
  rmSync(folder, { recursive: true });
  await anvil.close();
  expect(await isReachable()).toBe(false);
  expect(onExit).not.toHaveBeenCalled();
});
