import { connect } from "node:net";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { startRpcServer } from "../../../../src/networks/embedded/rpc/rpcServer.ts";
import { createUnsentBudget } from "../../../../src/networks/embedded/rpc/unsentBudget.ts";

function open(maxBytes: number, names: readonly string[]) {
  const dropped: string[] = [];
  const budget = createUnsentBudget(maxBytes);
  const holds = names.map((name) => budget.open(() => dropped.push(name)).hold);
  return { dropped, holds };
}

test("what all hold within the budget drops nobody", () => {
  const { dropped, holds } = open(100, ["a", "b"]);
  holds[0]?.(60);
  holds[1]?.(40);
  holds[1]?.(0);
  holds[0]?.(100);
  expect(dropped).toEqual([]);
});

test("the one that has been holding longest goes first, as many as it takes", () => {
  const { dropped, holds } = open(100, ["slow", "slower", "quick", "new"]);
  holds[1]?.(10);
  holds[0]?.(50);
  holds[2]?.(40);
  holds[2]?.(0);
  holds[3]?.(100);
  expect(dropped).toEqual(["slower", "slow"]);
});

test("one that has been dropped counts no more", () => {
  const { dropped, holds } = open(100, ["a", "b"]);
  holds[0]?.(101);
  holds[0]?.(90);
  holds[1]?.(90);
  expect(dropped).toEqual(["a"]);
});

test("one alone past the budget is dropped itself", () => {
  const { dropped, holds } = open(100, ["a"]);
  holds[0]?.(101);
  expect(dropped).toEqual(["a"]);
});

test("readers that don't read lose their connections, and others are served", async () => {
  const answer = "x".repeat(8 * 2 ** 20);
  const server = await startRpcServer({
    host: "127.0.0.1",
    preferredPort: 0,
    origins: [],
    request: async () => answer,
    subscribe: async () => () => {},
    maxUnsentBytes: 24 * 2 ** 20,
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [] });
  let ended = 0;
  const sockets = Array.from({ length: 8 }, () => {
    const socket = connect(server.port, "127.0.0.1").pause();
    socket.on("error", () => {});
    socket.on("close", () => (ended += 1));
    socket.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  });
  const slow = new WebSocket(`ws://127.0.0.1:${server.port}`);
  slow.on("error", () => {});
  let slowEnded = false;
  slow.on("close", () => (slowEnded = true));
  slow.on("open", () => {
    slow.pause();
    for (let i = 0; i < 6; i += 1) slow.send(body);
  });
  try {
    // A paused socket notices that it was closed only when it writes. The nine sockets hold 8 MB or more each, and the budget has room for
    // two. From then on none of them gets an answer, and a caller that reads is never the one that has held its answer longest.
    await expect
      .poll(() => {
        for (const socket of sockets) socket.write(" ");
        if (slow.readyState === WebSocket.OPEN) slow.ping();
        return slowEnded && ended >= 6;
      })
      .toBe(true);
    const response = await fetch(`http://127.0.0.1:${server.port}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(((await response.json()) as { result: string }).result).toHaveLength(answer.length);
  } finally {
    for (const socket of sockets) socket.destroy();
    slow.terminate();
    await server.close();
  }
});
