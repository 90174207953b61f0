import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const CHECK_INTERVAL_MS = 20;
/** Half of what servers give a balancer to notice that they leave; it may have been paused itself since its last check. */
const CURRENT_MS = 2_000;

/** A load balancer: sends each call to the next server that is ready by its `/readyz`, and holds calls while none is. */
export interface Balancer {
  readonly url: string;
  /** Replaces the base URLs of the servers. */
  setServers(urls: readonly string[]): void;
  /** The servers that were ready at the last check. */
  ready(): readonly string[];
  close(): Promise<void>;
}

/**
 * Starts a load balancer on a free port. It sends each call once and passes on the server's answer, or 502 if there is
 * none.
 */
export async function startBalancer(servers: readonly string[]): Promise<Balancer> {
  let known = servers;
  let ready: readonly string[] = [];
  let checkedAtMs = -Infinity;
  let turn = 0;
  const closing = new AbortController();

  const check = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const asked = known;
      const beganMs = performance.now();
      const states = await Promise.all(asked.map((url) => isReady(url)));
      ready = asked.filter((url, index) => states[index] === true && known.includes(url));
      checkedAtMs = beganMs;
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  };
  const choose = async (): Promise<string> => {
    while (ready.length === 0 || performance.now() - checkedAtMs > CURRENT_MS)
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: closing.signal });
    turn += 1;
    return ready[turn % ready.length]!;
  };

  const proxy = createServer((incoming, outgoing) => {
    choose()
      .then((url) => forward(url, incoming, outgoing))
      .catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  const checking = check();
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    setServers(urls) {
      known = urls;
      ready = ready.filter((url) => urls.includes(url));
    },
    ready: () => ready,
    async close() {
      closing.abort();
      await checking;
      const closed = new Promise<void>((resolve) => void proxy.close(() => resolve()));
      proxy.closeAllConnections();
      await closed;
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { headers: { connection: "close" } });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** Uses a connection of its own: the server may close an idle one at the moment it is reused. */
function forward(url: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers } = incoming;
  const sent = request(`${url}${incoming.url}`, { method, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on("error", () => {
    if (!outgoing.headersSent) outgoing.writeHead(502);
    outgoing.end();
  });
  incoming.pipe(sent);
}
