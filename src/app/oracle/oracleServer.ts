import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Gauge, type Registry } from "prom-client";
import type { OracleNetwork } from "./oracleNetwork.ts";
import type { Gateway } from "../../oracle/secrets/gateway.ts";
import { GATEWAY_PATH } from "../../oracle/secrets/gatewayClient.ts";
import { describeOracleHealth } from "../network/networkOracle.ts";
import { closeIfStalled } from "../../lib/stalledReaders.ts";
import { limitConnections } from "../../http/connectionLimit.ts";
import { MESSAGES_PATH, MAX_BODY_BYTES } from "../../oracle/node/peerClient.ts";
import type { PeerView } from "../../oracle/node/peerViews.ts";
import { createTokenBuckets, type TokenBuckets } from "../../lib/tokenBucket.ts";
import { addressGroup } from "../../lib/addressGroup.ts";
import { peekAddressee } from "../../oracle/protocol/wire.ts";

/** An older head means trouble: no public network takes a minute for a block. */
const OLD_HEAD_MS = 120_000;
/** An account with less coin than this, 0.1, needs a top-up. */
const LOW_BALANCE_WEI = 10n ** 17n;
const WEI = 1e18;
/** A request between nodes takes milliseconds; a slower caller holds a place that others need. */
const RECEIVE_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 512;
/** Per address, where it is the caller's own: a peer has one connection, and a stranger must not take them all. */
const MAX_CONNECTIONS_OF_ADDRESS = 64;
/** Calls per address, other than peers' messages; one takes a fraction of a millisecond. */
const CALLS = { burst: 200, perSecond: 50 } as const;
/** A call of `/metrics` counts as this many calls: it takes a few milliseconds. */
const METRICS_COST = 10;
/** Messages about secrets per address: the service is one, and passes on those of its callers. One takes a few milliseconds, a dry run more. */
const GATEWAY_CALLS = { burst: 200, perSecond: 100 } as const;
/** Longest message about secrets: a source and its arguments, of 60 KB together, as JSON. Bytes. */
const MAX_MESSAGE_BYTES = 262_144;
/** A message counts once per this many bytes: reading and hashing 250 KB takes about 30 ms. */
const BYTES_OF_MESSAGE = 4_096;
/** A response counts once per this many bytes: evidence may take megabytes. */
const BYTES_OF_CALL = 65_536;

/** The HTTP endpoints of an oracle's process, for its operator and its peers. */
export interface OracleServer {
  /** Without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

export interface OracleServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly registry: Registry;
  readonly networks: readonly OracleNetwork[];
  /** Answers messages about secrets. */
  readonly gateway: Pick<Gateway, "answer">;
  readonly sandbox: () => { readonly isReady: boolean; readonly why?: string };
  /** Whether a caller's address is the last one in `X-Forwarded-For`, set by a proxy in front. Default `false`. */
  readonly trustProxy?: boolean;
  /**
   * How long a request's headers and its body may each take to arrive, in milliseconds; a connection without a request is closed after the
   * same time. Default 10,000.
   */
  readonly receiveTimeoutMs?: number;
}

/**
 * Serves `/healthz`, `/readyz`, `/metrics`, `/evidence`, and the endpoints for messages of peers and about secrets, for an oracle's process. Rejects with Node's
 * own error if it can't listen.
 */
export async function listenForOracle(options: OracleServerOptions): Promise<OracleServer> {
  const { host, registry, networks, gateway, sandbox, trustProxy = false } = options;
  const { receiveTimeoutMs = RECEIVE_TIMEOUT_MS } = options;
  registerOracleMetrics(registry, networks);
  const timeouts = {
    headersTimeout: receiveTimeoutMs,
    requestTimeout: receiveTimeoutMs,
    // Node's default of 30 s would let slow callers stay three times longer.
    connectionsCheckingInterval: Math.min(1_000, receiveTimeoutMs),
  };
  const calls = createTokenBuckets(CALLS);
  const messages = createTokenBuckets(GATEWAY_CALLS);
  const refusals = createTokenBuckets(REFUSALS);
  const server = createServer(timeouts, (request, response) => {
    closeIfStalled(response);
    const caller = callerOf(request, trustProxy);
    const answer = (status: number, type: string, text: string): void => {
      calls.charge(caller, Math.floor(text.length / BYTES_OF_CALL));
      const connection = status === 429 ? ({ connection: "close" } as const) : {};
      response
        .writeHead(status, { "content-type": type, "cache-control": "no-store", ...connection })
        .end(text);
    };
    // `//` is a path that HTTP permits, but not a URL.
    const pathname = URL.parse(request.url ?? "/", "http://oracle")?.pathname;
    if (pathname === MESSAGES_PATH && request.method === "POST")
      return takeMessages(request, response, { networks, caller, refusals });
    if (pathname === GATEWAY_PATH && request.method === "POST") {
      if (!messages.take(caller))
        return answer(429, "text/plain", "too many messages; wait before the next one\n");
      return readBody(request, MAX_MESSAGE_BYTES, {
        tooLong: () => answer(413, "text/plain", `a message has at most ${MAX_MESSAGE_BYTES} bytes\n`),
        read(body) {
          messages.charge(caller, Math.floor(body.length / BYTES_OF_MESSAGE));
          // The gateway never rejects.
          void gateway
            .answer(body.toString(), caller)
            .then((answered) => answer(200, "application/json", `${JSON.stringify(answered)}\n`));
        },
      });
    }
    if (!calls.take(caller)) return answer(429, "text/plain", "too many calls; wait before the next one\n");
    if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "text/plain", "GET only\n");
    if (pathname === "/healthz") return answer(200, "application/json", '{"status":"ok"}\n');
    if (pathname === "/readyz") {
      const { isReady, why } = sandbox();
      const described = networks.map((network) => [network.name, describe(network)] as const);
      const ready = isReady && described.every(([, one]) => one.ready);
      const body = {
        ready,
        sandbox: { ready: isReady, ...(why === undefined ? {} : { why }) },
        networks: Object.fromEntries(described),
      };
      return answer(ready ? 200 : 503, "application/json", `${JSON.stringify(body)}\n`);
    }
    if (pathname === "/evidence") {
      Promise.all(networks.map((network) => network.evidence())).then(
        (kept) => answer(200, "application/json", `{"evidence":[${kept.flat().join()}]}\n`),
        () => answer(500, "text/plain", "the evidence can't be read\n"),
      );
      return;
    }
    if (pathname !== "/metrics")
      return answer(404, "text/plain", "see /readyz, /healthz, /metrics and /evidence\n");
    calls.charge(caller, METRICS_COST - 1);
    registry.metrics().then(
      (text) => answer(200, registry.contentType, text),
      () => answer(500, "text/plain", "the metrics can't be read\n"),
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  if (!trustProxy) limitConnections(server, { most: MAX_CONNECTIONS_OF_ADDRESS });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function describe(network: OracleNetwork): Readonly<Record<string, unknown>> & { readonly ready: boolean } {
  const status = network.status();
  if (status === undefined) return { ready: false, why: network.trouble() ?? "it is starting" };
  const { lagMs, waitsFor, pendingWords, pendingFunctions } = describeOracleHealth(status);
  const { lastBlock, caughtUp, accounts } = status;
  const node = network.node();
  const peers = node?.peers();
  const unreachable = network.unreachable();
  const why =
    unreachable ??
    (!caughtUp
      ? "it is reading the blocks from before its start"
      : lastBlock !== undefined && performance.now() - lastBlock.seenAt > OLD_HEAD_MS
        ? `no block has been seen for ${Math.round((performance.now() - lastBlock.seenAt) / 1000)} s`
        : undefined);
  const low = accounts.filter(({ balanceWei }) => balanceWei !== undefined && balanceWei < LOW_BALANCE_WEI);
  return {
    ready: why === undefined,
    ...(why === undefined ? {} : { why }),
    rpcReachable: unreachable === undefined,
    caughtUp,
    ...(lastBlock === undefined ? {} : { blockNumber: Number(lastBlock.number) }),
    oracleLagMs: lagMs,
    pendingWords,
    pendingFunctions,
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...(peers === undefined ? {} : { nodes: peers.map(describePeer) }),
    warnings: [
      ...network.warnings(),
      ...(node !== undefined && peers === undefined
        ? ["this node is not in the coordinator's configuration, and waits for one that has it"]
        : []),
      ...low.map(
        ({ role, address, balanceWei }) =>
          `the account ${address} (${role}) holds ${balanceWei} wei, less than ${LOW_BALANCE_WEI}; send it coin`,
      ),
    ],
  };
}

function describePeer({ lastHeardAt, lastTransmission, ...peer }: PeerView): object {
  return {
    ...peer,
    ...(lastHeardAt === undefined ? {} : { lastSeen: new Date(lastHeardAt).toISOString() }),
    ...(lastTransmission === undefined ? {} : { lastTransmission }),
  };
}

function registerOracleMetrics(registry: Registry, networks: readonly OracleNetwork[]): void {
  const gauge = (
    name: string,
    help: string,
    label: string | undefined,
    rows: (network: OracleNetwork) => Readonly<Record<string, number | undefined>>,
  ): void => {
    const metric: Gauge = new Gauge({
      name,
      help,
      labelNames: ["network", ...(label === undefined ? [] : [label])],
      registers: [registry],
      collect() {
        metric.reset();
        for (const network of networks)
          for (const [value, number] of Object.entries(rows(network)))
            if (number !== undefined)
              metric.set(
                { network: network.name, ...(label === undefined ? {} : { [label]: value }) },
                number,
              );
      },
    });
  };
  gauge("tyche_network_ready", "Whether a network serves: 1 or 0.", undefined, (network) => ({
    value: Number(describe(network).ready),
  }));
  gauge("tyche_rpc_reachable", "Whether a network's node answers: 1 or 0.", undefined, (network) => ({
    value: Number(network.unreachable() === undefined),
  }));
  gauge("tyche_chain_head_block", "Number of the newest block seen.", undefined, (network) => {
    const number = network.status()?.lastBlock?.number;
    return { value: number === undefined ? undefined : Number(number) };
  });
  gauge(
    "tyche_oracle_lag_seconds",
    "Time since the oracle saw its oldest unanswered request; 0 when there is none.",
    undefined,
    (network) => {
      const status = network.status();
      return { value: status && describeOracleHealth(status).lagMs / 1000 };
    },
  );
  gauge(
    "tyche_oracle_pending_requests",
    "Requests that the oracle has seen and not answered: words or functions.",
    "kind",
    (network) => {
      const status = network.status();
      const health = status && describeOracleHealth(status);
      return { words: health?.pendingWords, functions: health?.pendingFunctions };
    },
  );
  gauge(
    "tyche_oracle_node_contradictions",
    "Requests in which a node of the oracle contradicted itself since this process started.",
    "signer",
    (network) =>
      Object.fromEntries(
        (network.node()?.peers() ?? []).map(({ signer, contradictions }) => [signer, contradictions]),
      ),
  );
  gauge(
    "tyche_account_balance_coins",
    "Coin of the accounts that pay for gas; the lowest of several with the same role.",
    "account",
    (network) => {
      const status = network.status();
      const lowest = status ? describeOracleHealth(status).lowestAccounts : {};
      return Object.fromEntries(
        Object.entries(lowest).map(([role, { balanceWei }]) => [role, Number(balanceWei) / WEI]),
      );
    },
  );
}

/**
 * Returns the address that limits count for. A proxy appends the address that it saw; everything before that is the caller's own
 * claim.
 */
function callerOf({ headers, socket }: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? headers["x-forwarded-for"] : undefined;
  const last = String(forwarded ?? "")
    .split(",")
    .at(-1)
    ?.trim();
  return addressGroup(last || (socket.remoteAddress ?? ""));
}

/** HTTP status by outcome. `elsewhere`: the message is for another configuration than the node has read so far; peers resend everything. */
const STATUS = { taken: 204, malformed: 400, limited: 429, elsewhere: 503 } as const;

/**
 * Limits bodies per address of which a node accepts nothing: for another network, or for another configuration than it has read. A peer
 * sends four a second until it is ready, and resends them when told to wait.
 */
const REFUSALS = { burst: 500, perSecond: 100 } as const;

interface TakeOptions {
  readonly networks: readonly OracleNetwork[];
  /** Whom limits count for. */
  readonly caller: string;
  /** Token buckets for {@link REFUSALS}. */
  readonly refusals: TokenBuckets;
}

/** Accepts a body of messages from a peer, or from anyone who claims to be one. The response reveals only a status. */
function takeMessages(
  request: IncomingMessage,
  response: ServerResponse,
  { networks, caller, refusals }: TakeOptions,
): void {
  const answer = (status: number): void => {
    if (response.headersSent) return;
    if (status !== STATUS.taken) refusals.take(caller);
    const connection = status === STATUS.taken ? "keep-alive" : "close";
    response.writeHead(status, { "content-length": 0, connection }).end();
  };
  // Over the limit, bodies are not even read.
  if (!refusals.has(caller)) return answer(STATUS.limited);
  const read = (body: Buffer): void => {
    const to = peekAddressee(body);
    const network = networks.find(
      ({ address }) =>
        address !== undefined &&
        BigInt(address.chainId) === to?.chainId &&
        address.coordinator === to.coordinator,
    );
    if (network === undefined) return answer(404);
    const node = network.node();
    // The node has not read the chain yet; peers resend everything.
    if (node === undefined) return answer(503);
    return answer(STATUS[node.take(body, caller)]);
  };
  readBody(request, MAX_BODY_BYTES, { tooLong: () => answer(413), read });
}

/** Reads a body whose length its headers tell; one that is too long ends the connection. */
function readBody(
  request: IncomingMessage,
  most: number,
  then: { readonly tooLong: () => void; readonly read: (body: Buffer) => void },
): void {
  if (Number(request.headers["content-length"] ?? most + 1) > most) return then.tooLong();
  const chunks: Buffer[] = [];
  let length = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= most) return chunks.push(chunk);
    then.tooLong();
    return request.destroy();
  });
  request.once("end", () => then.read(Buffer.concat(chunks)));
}
