import { AnswerError } from "./connection.ts";
import { HttpStatusError } from "./httpTransport.ts";

/**
 * What an error says of the node that gave it:
 * - `failing`: it can't work now, for whatever is asked: unreachable, too slow, over its rate limit, a page instead of an answer;
 * - `lacking`: it has not got this, and another one may: a block that it doesn't know yet, a state that it has pruned, a method;
 * - `answer`: a refusal that every node would give: of a call that reverts, of a nonce that is spent, of too wide a range.
 */
export type NodeTrouble = "failing" | "lacking" | "answer";

/** Of "limit exceeded" (EIP-1474) that says how much was asked for, not how often. */
const TOO_MUCH = /range|results|logs|blocks?\b|response size|too (?:large|long|wide)/i;
/** geth, Erigon, Nethermind, Besu, Reth, and the providers in front of them. */
const FAILING =
  /rate.?limit|too many requests|request (?:limit|count|rate)|requests per|(?:daily|monthly|capacity|quota|credits?|compute units|throughput)\b.*(?:exceeded|reached|limit|exhausted)|exceeded.*(?:capacity|quota|credits?|compute units|throughput|rate)|internal (?:server )?error|try again|temporarily|unavailable|unauthori[sz]ed|forbidden|invalid (?:api|project)|api.?key|timed? ?out|is syncing|not synced/i;
const LACKING =
  /header not found|unknown block|block not found|block height is \d+ but requested|invalid block tag|(?:block|state|header|history).*(?:not (?:found|available)|unavailable|pruned)|missing trie node|historical state|beyond (?:the )?(?:current )?head|after (?:the )?(?:last|latest) (?:accepted )?block|method .*(?:not found|not supported|not available|does not exist|disabled)|unsupported method|pool is full/i;
const METHOD_NOT_FOUND = -32_601;
const METHOD_NOT_SUPPORTED = -32_004;
const LIMIT_EXCEEDED = -32_005;
/** JSON-RPC's codes for a call that reverts; what its reason says is the contract's word, not the node's. */
const REVERTED = 3;

/** Reads what a transport threw. Nodes give little but text: a test pins it. */
export function troubleOf(error: unknown): NodeTrouble {
  if (!(error instanceof AnswerError)) return "failing";
  const { code, message, data } = error;
  if (code === REVERTED || /revert/i.test(message) || isHex(data)) return "answer";
  if (code === METHOD_NOT_FOUND || code === METHOD_NOT_SUPPORTED || LACKING.test(message)) return "lacking";
  if (code === LIMIT_EXCEEDED && !TOO_MUCH.test(message)) return "failing";
  return FAILING.test(message) && !/more than .*(?:results|logs|blocks)/i.test(message)
    ? "failing"
    : "answer";
}

/** How long the other side asks to be left alone, in milliseconds. */
export function retryAfterOf(error: unknown): number | undefined {
  return error instanceof HttpStatusError ? error.retryAfterMs : undefined;
}

function isHex(data: unknown): boolean {
  return typeof data === "string" && data.startsWith("0x") && data.length > 2;
}
