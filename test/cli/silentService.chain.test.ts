import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { startCli } from "./runCli.ts";

test("a command whose service accepts and never answers says what it waits for", async () => {
  const sockets = new Set<Socket>();
  const service = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1");
  await once(service, "listening");
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const command = startCli(["consumer", "list"], { TYCHE_URL: url, TYCHE_API_KEY: "tyche_key" });
  let stderr = "";
  command.stderr!.setEncoding("utf8").on("data", (part: string) => (stderr += part));
  try {
    await expect.poll(() => stderr).toBe(`waiting for an answer from ${url} …\n`);
  } finally {
    command.kill("SIGKILL");
    for (const socket of sockets) socket.destroy();
    service.close();
  }
});
