import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { limitClock } from "../clockLimit.ts";
import { createUnsentBudget, type UnsentBudget } from "./unsentBudget.ts";
import { createRpcAccess, type RpcAccess } from "./rpcAccess.ts";
import { closeIfStalled } from "../../../lib/stalledReaders.ts";
import { AnswerError } from "../../../evm/connection.ts";
import { MAX_MESSAGE_BYTES, answerMessage } from "./rpcCalls.ts";
import { RPC_CODES, failure, type RpcRequest } from "../rpcErrors.ts";
import { serveRpcSockets, type Subscribe } from "./rpcSockets.ts";

/** HTTP connections and WebSockets of one chain. */
const MAX_CONNECTIONS = 1_024;
const REQUEST_TIMEOUT_MS = 30_000;
/** Connections stay open long enough for a client that is busy for some seconds: a request sent on a closed one is lost. */
const TIMEOUTS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: 65_000,
  // Node's 30 s would let a slow caller keep its place for twice the timeout.
  connectionsCheckingInterval: 1_000,
} as const;
/** Bytes that all connections to a chain may hold in memory: incoming messages, and answers that nobody reads. */
const MAX_UNSENT_BYTES = 256 * 2 ** 20;
const PREFLIGHT = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "*",
  "access-control-allow-private-network": "true",
  "access-control-max-age": "600",
};

/** The port of an embedded chain for users' tools. */
export interface RpcServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface RpcServerOptions {
  /** A loopback address. */
  readonly host: string;
  /** Port to use if it is free; otherwise the system picks one. */
  readonly preferredPort: number;
  /** Origins of pages that may use the chain, besides those of this machine. */
  readonly origins: readonly string[];
  readonly request: RpcRequest;
  /** Creates a subscription for one WebSocket. */
  readonly subscribe: Subscribe;
  /** Bytes that all connections together may hold in memory. Default 256 MiB. */
  readonly maxUnsentBytes?: number;
}

/**
 * Serves JSON-RPC over HTTP and WebSockets in front of an embedded node, under the same rules: the port outlives the node's process,
 * requests wait while the chain must stand still, and what the node has forgotten is still answered. See {@link createRpcAccess} for who
 * may ask, and {@link answerMessage} for what.
 */
export async function startRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const { host, preferredPort, subscribe } = options;
  const access = createRpcAccess(options.origins);
  const closing = new AbortController();
  const request = nameUnknownMethods(limitClock(options.request, { signal: closing.signal }));
  const unsent = createUnsentBudget(options.maxUnsentBytes ?? MAX_UNSENT_BYTES);
  const requestOnce: RpcRequest = async (method, parameters) => {
    // HTTP can't push.
    if (/^eth_(?:un)?subscribe$/.test(method))
      throw new AnswerError(`${method} needs a WebSocket`, RPC_CODES.methodNotFound, undefined);
    return request(method, parameters);
  };
  const server = createServer(TIMEOUTS, (incoming, response) => {
    closeIfStalled(response);
    serve(incoming, response, { access, request: requestOnce, unsent }).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  const sockets = serveRpcSockets({ access, request, subscribe, unsent });
  server.on("upgrade", (incoming, socket: Socket, head) => sockets.upgrade(incoming, socket, head));

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  await listen(preferredPort).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE" && error.code !== "EACCES") throw error;
    return listen(0);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
        sockets.close();
      }),
  };
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  {
    access,
    request,
    unsent,
  }: { readonly access: RpcAccess; readonly request: RpcRequest; readonly unsent: UnsentBudget },
): Promise<void> {
  const connection = unsent.open(() => incoming.socket.destroy());
  response.once("close", () => connection.hold(0));
  response.setHeader("vary", "Origin");
  const refuse = (status: number, message: string): void =>
    reply(response, status, JSON.stringify(failure(null, RPC_CODES.invalidRequest, message)));
  const refusal = access.refusalOf(incoming);
  if (refusal !== undefined) {
    refuse(refusal.status, refusal.message);
    return;
  }
  const { origin } = incoming.headers;
  if (origin !== undefined) response.setHeader("access-control-allow-origin", origin);
  if (incoming.method === "OPTIONS") {
    response.writeHead(204, PREFLIGHT).end();
    return;
  }
  if (incoming.method !== "POST") {
    response.setHeader("allow", "POST, OPTIONS");
    refuse(405, "JSON-RPC takes POST");
    return;
  }
  // Pages may send other content types anywhere without a preflight (CORS, "simple requests").
  const [type] = (incoming.headers["content-type"] ?? "").split(";");
  if (type!.trim().toLowerCase() !== "application/json") {
    refuse(415, "JSON-RPC takes Content-Type: application/json");
    return;
  }
  const body = await readBody(incoming, connection.hold);
  if (body === undefined) {
    refuse(413, `a message has at most ${MAX_MESSAGE_BYTES} bytes`);
    return;
  }
  const answer = await answerMessage(body, request);
  connection.hold(response.destroyed ? 0 : Buffer.byteLength(answer));
  reply(response, 200, answer);
}

function reply(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
}

/** @param onBytes called with the number of bytes of the body held so far. */
async function readBody(
  incoming: IncomingMessage,
  onBytes: (bytes: number) => void,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_MESSAGE_BYTES) return undefined;
    chunks.push(chunk);
    onBytes(bytes);
  }
  return Buffer.concat(chunks).toString();
}

/** Methods of the Anvil version pinned in `package.json`, by namespace. A test calls each of them on Anvil. */
const NAMES: Readonly<Record<string, string>> = {
  anvil: `
    addBalance autoImpersonateAccount dealERC20 dropAllTransactions dropTransaction dumpState getAutomine
    getBlobByHash getBlobsByTransactionHash getGenesisTime getIntervalMining impersonateAccount
    impersonateSignature increaseTime loadState metadata mine mine_detailed nodeInfo
    removeBlockTimestampInterval removePoolTransactions reorg reset revert rollback setAutomine setBalance
    setBlockGasLimit setBlockTimestampInterval setChainId setCode setCoinbase setERC20Allowance
    setERC20Balance setFeeAmmLiquidity setFeeToken setIntervalMining setLoggingEnabled setMinGasPrice
    setNextBlockBaseFeePerGas setNextBlockTimestamp setNonce setRpcUrl setStorageAt setTime
    setValidatorFeeToken snapshot stopImpersonatingAccount`,
  debug: `codeByHash dbGet getRawTransaction traceBlockByHash traceBlockByNumber traceCall traceTransaction`,
  erigon: `getHeaderByNumber`,
  eth: `
    accounts blobBaseFee blockNumber call chainId coinbase config createAccessList estimateGas feeHistory
    fillTransaction gasPrice getAccount getAccountInfo getBalance getBlockByHash getBlockByNumber
    getBlockReceipts getBlockTransactionCountByHash getBlockTransactionCountByNumber getCode
    getFilterChanges getFilterLogs getLogs getProof getRawTransactionByBlockHashAndIndex
    getRawTransactionByBlockNumberAndIndex getRawTransactionByHash getStorageAt getStorageValues
    getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionByHash
    getTransactionBySenderAndNonce getTransactionCount getTransactionReceipt getUncleByBlockHashAndIndex
    getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber getWork hashrate
    maxPriorityFeePerGas networkId newBlockFilter newFilter newPendingTransactionFilter protocolVersion
    requestAccounts sendRawTransaction sendRawTransactionSync sendTransaction sendTransactionSync
    sendUnsignedTransaction sign signTransaction signTypedData signTypedData_v3 signTypedData_v4 simulateV1
    submitHashrate submitWork subscribe syncing uninstallFilter unsubscribe`,
  evm: `
    increaseTime mine mine_detailed revert setAccountNonce setAutomine setBlockGasLimit setIntervalMining
    setNextBlockTimestamp setTime snapshot`,
  hardhat: `
    addBalance autoImpersonateAccount dealERC20 dropAllTransactions dropTransaction dumpState getAutomine
    impersonateAccount loadState metadata mine reset setBalance setCode setCoinbase setLoggingEnabled
    setMinGasPrice setNextBlockBaseFeePerGas setNonce setStorageAt stopImpersonatingAccount`,
  net: `listening version`,
  ots: `
    getApiLevel getBlockDetails getBlockDetailsByHash getBlockTransactions getContractCreator
    getInternalOperations getTransactionBySenderAndNonce getTransactionError hasCode searchTransactionsAfter
    searchTransactionsBefore traceTransaction`,
  personal: `sign`,
  tenderly: `addBalance setBalance`,
  trace: `block filter replayBlockTransactions transaction`,
  txpool: `content inspect status`,
  web3: `clientVersion sha3`,
};

/** All methods that Anvil supports. */
export const ANVIL_METHODS: ReadonlySet<string> = new Set(
  Object.entries(NAMES).flatMap(([namespace, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${namespace}_${name}`),
  ),
);

/** Anvil's own answer on its socket to anything it can't parse: unknown methods and wrong parameters alike. */
const UNPARSED = "data did not match any variant of untagged enum EthRpcCall";

/** Wraps chain requests so that an unknown method gets a different error than wrong parameters do. */
function nameUnknownMethods(request: RpcRequest): RpcRequest {
  return async (method, parameters) => {
    try {
      return await request(method, parameters);
    } catch (error) {
      if (!(error instanceof AnswerError) || error.message !== UNPARSED) throw error;
      throw ANVIL_METHODS.has(method)
        ? new AnswerError(
            `${method} can't be called with these parameters`,
            RPC_CODES.invalidParams,
            undefined,
          )
        : new AnswerError(`there is no method ${method.slice(0, 100)}`, RPC_CODES.methodNotFound, undefined);
    }
  };
}
