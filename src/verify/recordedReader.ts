import type { ChainData } from "../api/types.ts";
import type { Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { hasTooManyValues, RpcError } from "../lib/nodeAnswers.ts";
import type { ChainReader } from "./chainFacts.ts";

/** Names the format of {@link ChainData}. */
const FORMAT: ChainData["format"] = "tyche-chain-data/1";

type Answered = ChainData["answers"][number];

/** How long to wait for a node, in ms. */
const TIMEOUT_MS = 30_000;
const MEBIBYTE = 1_048_576;
/** Size of all answers to one reader: a browser keeps them in memory, as text and as objects. */
export const MAX_READ_BYTES = 256 * MEBIBYTE;
const REMEDY = "and no more is read; try another node, or one request alone";

/**
 * Creates a reader that queries a node over HTTP, using only `fetch`.
 *
 * @param options.timeoutMs how long to wait for each answer, in ms; 30 s by default.
 * @param options.maxBytes size of all answers together, uncompressed; 256 MiB by default.
 * @param options.stop aborting it ends every read with its reason. The reader aborts it when the answers exceed `maxBytes`.
 */
export function createFetchReader(
  rpcUrl: string,
  {
    timeoutMs = TIMEOUT_MS,
    maxBytes = MAX_READ_BYTES,
    stop = new AbortController(),
  }: { readonly timeoutMs?: number; readonly maxBytes?: number; readonly stop?: AbortController } = {},
): ChainReader {
  let id = 0;
  let bytes = 0;
  const refuse = (method: string, reason: string): never => {
    stop.abort(new RpcError(method, `${reason}, ${REMEDY}`));
    throw stop.signal.reason;
  };
  const readText = async (method: string, response: Response): Promise<string> => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of chunksOf(response)) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        refuse(method, `the node's answers are longer than ${maxBytes / MEBIBYTE} MiB in all`);
      text += decoder.decode(chunk, { stream: true });
    }
    text += decoder.decode();
    if (hasTooManyValues(text)) refuse(method, "the node's answer has millions of values");
    return text;
  };
  return {
    async request(method, params = []) {
      stop.signal.throwIfAborted();
      const body = JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method, params });
      const headers = { "content-type": "application/json" };
      const late = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([stop.signal, late]);
      const failWhenEnded = (cause?: unknown): void => {
        stop.signal.throwIfAborted();
        if (!late.aborted) return;
        throw new RpcError(method, `the node did not answer within ${timeoutMs / 1000} s`, { cause });
      };
      const response = await fetch(rpcUrl, { method: "POST", headers, body, signal }).catch(
        (cause: unknown) => {
          failWhenEnded(cause);
          const reason =
            "the node can't be reached from this page: check the URL, and that the node allows cross-origin requests (CORS); in place of a node, open chain data that tyche verify --save has saved, under More";
          throw new RpcError(method, reason, { cause });
        },
      );
      const answer: unknown = await readText(method, response)
        .then((text) => JSON.parse(text) as unknown)
        .catch(failWhenEnded);
      if (!isAnswer(answer))
        throw new RpcError(
          method,
          `what answers at this URL (HTTP ${response.status}) is no node; give the URL of its JSON-RPC`,
        );
      return unwrap(method, answer);
    },
  };
}

/** Yields a body's bytes as they arrive; browsers can't iterate over a stream. Cancels the rest when the caller leaves. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** What reading may take in all. */
export interface ReadingLimits {
  readonly timeMs: number;
  /** Characters of the answers as JSON. */
  readonly chars: number;
}

/** Limits what a reader asks of a node: once over a limit, all further requests reject; `assertWhole` throws the same error. */
export function limitReader(
  reader: ChainReader,
  { timeMs, chars }: ReadingLimits,
): ChainReader & { readonly assertWhole: () => void } {
  const beganAt = performance.now();
  let left = chars;
  let excess: RpcError | undefined;
  const assertWhole = (): void => {
    if (excess !== undefined) throw excess;
  };
  return {
    assertWhole,
    async request(method, params) {
      assertWhole();
      const answer = await reader.request(method, params);
      left -= JSON.stringify(answer ?? null).length;
      if (left < 0)
        excess = new RpcError(
          method,
          `the node's answers are longer than ${chars} characters in all, ${REMEDY}`,
          { answered: true },
        );
      else if (performance.now() - beganAt > timeMs)
        excess = new RpcError(method, `reading the chain has taken more than ${timeMs / 1000} s, ${REMEDY}`, {
          answered: true,
        });
      assertWhole();
      return answer;
    },
  };
}

/** Creates a reader that records another one's answers; `save` returns them as a file's content. */
export function createReadRecorder(reader: ChainReader): ChainReader & { readonly save: () => ChainData } {
  const answers = new Map<string, Answered>();
  return {
    async request(method, params = []) {
      const key = keyOf(method, params);
      try {
        const result = await reader.request(method, params);
        answers.set(key, { method, params, result });
        return result;
      } catch (thrown) {
        if (thrown instanceof RpcError && thrown.answered) {
          const error = {
            message: thrown.message,
            ...(thrown.data === undefined ? {} : { data: thrown.data }),
          };
          answers.set(key, { method, params, error });
        }
        throw thrown;
      }
    },
    save: () => ({ format: FORMAT, answers: [...answers.values()] }),
  };
}

/**
 * Creates a reader of recorded answers. They are trusted no more than a node.
 *
 * @throws {ChainDataError} if the text is not such a record.
 */
export function createRecordedReader(text: string): ChainReader {
  const answers = new Map(parseChainData(text).answers.map((one) => [keyOf(one.method, one.params), one]));
  const hash = findRecordedHash(text);
  const missing = `the chain data has no answer to this${hash === undefined ? "" : `; it was saved for the transaction ${hash}`}`;
  return {
    request(method, params = []) {
      const answer = answers.get(keyOf(method, params));
      return answer === undefined
        ? Promise.reject(new RpcError(method, missing))
        : Promise.resolve().then(() => unwrap(method, answer));
    },
  };
}

/** Finds the transaction that chain data was saved for: the first one whose receipt was read. */
export function findRecordedHash(text: string): Hex | undefined {
  let data: ChainData;
  try {
    data = parseChainData(text);
  } catch {
    return undefined;
  }
  const [hash] = data.answers.find(({ method }) => method === "eth_getTransactionReceipt")?.params ?? [];
  return typeof hash === "string" && /^0x[0-9a-f]{64}$/.test(hash) ? (hash as Hex) : undefined;
}

function parseChainData(text: string): ChainData {
  let data: Partial<ChainData> | null;
  try {
    data = JSON.parse(text) as Partial<ChainData> | null;
  } catch {
    throw new ChainDataError("it is not JSON");
  }
  if (data?.format !== FORMAT) throw new ChainDataError(`its format is not ${FORMAT}`);
  const isKept = (one: Partial<Answered> | null) =>
    typeof one?.method === "string" && Array.isArray(one.params) && isAnswer(one);
  if (!Array.isArray(data.answers) || !data.answers.every(isKept))
    throw new ChainDataError("its answers are not a list of method, params and result");
  return data as ChainData;
}

/** Whether it is a JSON-RPC answer; an error without a message is not. */
function isAnswer(answer: unknown): answer is Pick<Answered, "result" | "error"> {
  if (typeof answer !== "object" || answer === null) return false;
  const { error } = answer as { readonly error?: { readonly message?: unknown } | null };
  return "result" in answer || typeof error?.message === "string";
}

function unwrap(method: string, { result, error }: Pick<Answered, "result" | "error">): unknown {
  if (error === undefined || error === null) return result;
  const reason = typeof error.message === "string" ? error.message : "the node gives no reason";
  throw new RpcError(method, reason, { data: error.data, answered: true });
}

function keyOf(method: string, params: readonly unknown[]): string {
  return JSON.stringify([method, params]);
}

/** A text is not a record of a node's answers. */
export class ChainDataError extends TycheError {
  constructor(reason: string) {
    super(
      `The chain data can't be used: ${reason}. Save it with this page, or with tyche verify --save FILE.`,
      {
        code: "invalid_parameter",
        blame: "caller",
      },
    );
  }
}
