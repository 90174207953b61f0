import { AnswerError, TOO_LONG } from "./connection.ts";
import { HttpStatusError } from "./httpTransport.ts";

/**
 * What an error says about the node that returned it:
 * - `failing`: it can't serve any request at the moment: unreachable, too slow, over its rate limit, a page instead of an answer;
 * - `lacking`: it doesn't have this, but another one may: a block it doesn't know yet, a state it has pruned, a method;
 * - `answer`: a refusal that every node would give: a call that reverts, a spent nonce, too wide a range.
 *
 * A node that gives too long an answer fails, except where strangers can make a right answer long: the logs of many blocks, the trace of a
 * transaction. There, another node may have fewer blocks, or make its answer shorter.
 */
export type NodeTrouble = "failing" | "lacking" | "answer";

/** A "limit exceeded" (EIP-1474) about how much was requested, not how often. */
const TOO_MUCH = /range|results|logs|blocks?\b|response size|too (?:large|long|wide)/i;
/** Texts of geth, Erigon, Nethermind, Besu, Reth, and the providers in front of them. */
const FAILING =
  /rate.?limit|too many requests|request (?:limit|count|rate)|requests per|(?:daily|monthly|capacity|quota|credits?|compute units|throughput)\b.*(?:exceeded|reached|limit|exhausted)|exceeded.*(?:capacity|quota|credits?|compute units|throughput|rate)|internal (?:server )?error|try again|temporarily|unavailable|unauthori[sz]ed|forbidden|invalid (?:api|project)|api.?key|timed? ?out|is syncing|not synced/i;
const LACKING =
  /header not found|unknown block|block not found|block height is \d+ but requested|invalid block tag|(?:block|state|header|history).*(?:not (?:found|available)|unavailable|pruned)|missing trie node|historical state|beyond (?:the )?(?:current )?head|after (?:the )?(?:last|latest) (?:accepted )?block|method .*(?:not found|not supported|not available|does not exist|disabled)|unsupported method|pool is full/i;
const MAY_BE_LONG = /^(?:eth_getLogs|debug_trace\w*)$/;
const METHOD_NOT_FOUND = -32_601;
const METHOD_NOT_SUPPORTED = -32_004;
const LIMIT_EXCEEDED = -32_005;
/** Nodes' JSON-RPC code for a call that reverts; its reason is the contract's text, not the node's. */
const REVERTED = 3;

/** Classifies an error thrown by a transport. Nodes return little but text: a test pins the patterns. */
export function troubleOf(method: string, error: unknown): NodeTrouble {
  if (!(error instanceof AnswerError)) return "failing";
  const { code, message, data } = error;
  if (code === REVERTED || /revert/i.test(message) || isHex(data)) return "answer";
  if (message === TOO_LONG) return MAY_BE_LONG.test(method) ? "lacking" : "failing";
  if (code === METHOD_NOT_FOUND || code === METHOD_NOT_SUPPORTED || LACKING.test(message)) return "lacking";
  if (code === LIMIT_EXCEEDED && !TOO_MUCH.test(message)) return "failing";
  return FAILING.test(message) && !/more than .*(?:results|logs|blocks)/i.test(message)
    ? "failing"
    : "answer";
}

/** Returns how long the server asks not to be contacted, in milliseconds. */
export function retryAfterOf(error: unknown): number | undefined {
  return error instanceof HttpStatusError ? error.retryAfterMs : undefined;
}

function isHex(data: unknown): boolean {
  return typeof data === "string" && data.startsWith("0x") && data.length > 2;
}
