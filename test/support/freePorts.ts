import { createServer, type Server } from "node:net";

/** Below Linux's ephemeral range (32,768 and up), so that a port isn't lost to a connection or to port 0 while nobody listens on it. */
const FIRST_PORT = 10_000;
/** Most processes that run tests in parallel. */
const MAX_WORKERS = 8;
/** Number of ports for each of them. */
const PORTS_EACH = 2_500;

/**
 * Returns ports of 127.0.0.1 that are free, and that no other process of this run gets: a service is given its port, and may be stopped
 * and restarted on it.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const first = FIRST_PORT + (Number(process.env["VITEST_POOL_ID"] ?? 1) % MAX_WORKERS) * PORTS_EACH;
  const servers: Server[] = [];
  const ports: number[] = [];
  let candidate = Math.floor(Math.random() * PORTS_EACH);
  for (let tried = 0; ports.length < count && tried < PORTS_EACH; tried += 1) {
    candidate = (candidate + 1) % PORTS_EACH;
    const server = await listen(first + candidate);
    if (server === undefined) continue;
    servers.push(server);
    ports.push(first + candidate);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  if (ports.length < count) throw new Error(`there are not ${count} free ports from ${first} on`);
  return ports;
}

/** Listens on a port; `undefined` if it is taken. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
