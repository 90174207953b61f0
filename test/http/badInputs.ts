import { gzipSync } from "node:zlib";
import { CONSUMER } from "./exampleService.ts";

const PRESETS = "/api/vrfv2/presets";
const RANDOM = "/api/vrfv2/requestRandomNumber";
const CONSUMERS = "/api/vrfv2/addConsumer";
const RUN = "/api/oracleFunctions/runFunction";
const SIMULATE = "/api/oracleFunctions/simulate";
const REQUESTS = "/api/requests";
const VERIFY = "/api/verify";

/** Stands for the key of a dapp that may only run functions. */
const FUNCTIONS_ONLY = Symbol("a key without presets");
/** Stands for a key that may only read. */
const READ_ONLY = Symbol("a key that may only read");

/** A request that can't be served, and its expected answer. */
export interface BadInput {
  readonly what: string;
  readonly method?: string;
  readonly path: string;
  /** Default: a valid key; `null` for none. */
  readonly key?: string | null | typeof FUNCTIONS_ONLY | typeof READ_ONLY;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, text and bytes unchanged. */
  readonly body?: unknown;
  readonly status: number;
  readonly code: string;
  /** Must occur in `err`. */
  readonly says: string;
  /** All paths in `details`. */
  readonly paths?: readonly string[];
}

const run = { network: "sepolia", source: "return 1" };
const consumerQuery = (change: Readonly<Record<string, string>>) =>
  `${CONSUMERS}?${new URLSearchParams({ dappId: "dapp_1", network: "sepolia", consumer: CONSUMER, ...change }).toString()}`;
const invalid = { status: 400, code: "invalid_parameter" } as const;
const malformed = { status: 400, code: "malformed_json" } as const;
/** Text whose UTF-8 bytes a header carries: `fetch` sends each of these characters as one byte. */
const utf8 = (text: string) => Buffer.from(text).toString("latin1");
const nestedDeep = `${"[".repeat(5000)}${"]".repeat(5000)}`;

// oxfmt-ignore
/** Everything that a caller can get wrong, with its answer. */
export const BAD_INPUTS: readonly BadInput[] = [
  // Key
  { what: "no key", path: PRESETS, key: null, status: 401, code: "unauthenticated", says: "no API key was sent" },
  { what: "an unknown key", path: PRESETS, key: "tyche_nobody", status: 401, code: "unauthenticated", says: "is not known here" },
  { what: "a scheme without a key", path: PRESETS, key: "Bearer ", status: 401, code: "unauthenticated", says: "no API key was sent" },
  { what: "another scheme", path: PRESETS, key: "Basic dXNlcjpwYXNz", status: 401, code: "unauthenticated", says: "is not known here" },
  { what: "a key named like a prototype's member", path: PRESETS, key: "__proto__", status: 401, code: "unauthenticated", says: "is not known here" },
  { what: "a key that may only read", path: PRESETS, key: READ_ONLY, status: 403, code: "forbidden", says: "may only read (GET)" },
  { what: "a facility the dapp lacks", path: PRESETS, key: FUNCTIONS_ONLY, status: 403, code: "forbidden", says: "facility" },
  { what: "no key at a listing", method: "GET", path: "/api/networks", key: null, status: 401, code: "unauthenticated", says: "no API key was sent" },
  // Paths and methods
  { what: "an unknown path", path: "/api/vrfv3/presets", status: 404, code: "not_found", says: "/api/vrfv3/presets" },
  { what: "another case of a path", path: "/api/vrfv2/Presets", status: 404, code: "not_found", says: "nothing at" },
  { what: "the bare prefix", method: "GET", path: "/api", status: 404, code: "not_found", says: "nothing at" },
  { what: "GET where POST belongs", method: "GET", path: PRESETS, status: 405, code: "method_not_allowed", says: "use OPTIONS, POST" },
  { what: "DELETE where POST belongs", method: "DELETE", path: RUN, status: 405, code: "method_not_allowed", says: "DELETE" },
  { what: "POST where GET belongs", path: "/api/networks", status: 405, code: "method_not_allowed", says: "GET, HEAD, OPTIONS" },
  { what: "PUT on a request", method: "PUT", path: `${REQUESTS}/req_1`, status: 405, code: "method_not_allowed", says: "PUT" },
  { what: "a request that does not exist", method: "GET", path: `${REQUESTS}/req_1`, status: 404, code: "not_found", says: "no such request" },
  { what: "a request id that is no text", method: "GET", path: `${REQUESTS}/%E0%A4%A`, status: 404, code: "not_found", says: "no such request" },
  // Bodies
  { what: "a body cut short", path: PRESETS, body: '{"preset":', ...malformed, says: "line 1, column 11" },
  { what: "a trailing comma", path: PRESETS, body: '{"preset":"range",}', ...malformed, says: "position 18" },
  { what: "single quotes", path: PRESETS, body: "{'preset':'range'}", ...malformed, says: "column 2" },
  { what: "two documents", path: PRESETS, body: "{}{}", ...malformed, says: "the end of the text" },
  { what: "a comment", path: PRESETS, body: "{} // x", ...malformed, says: "position 3" },
  { what: "NaN", path: RANDOM, body: '{"numWords":NaN}', ...malformed, says: "position 12" },
  { what: "a member twice", path: PRESETS, body: '{"preset":"range","preset":"coinflip"}', ...malformed, says: '"preset" appears twice' },
  { what: "half a surrogate pair", path: RUN, body: '{"network":"sepolia","source":"\\ud800"}', ...malformed, says: "surrogate" },
  { what: "bytes that are not UTF-8", path: PRESETS, body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), ...malformed, says: "byte 2 is not valid UTF-8" },
  { what: "UTF-16", path: PRESETS, body: Buffer.from("{}", "utf16le"), ...malformed, says: "position 1" },
  { what: "deep nesting", path: PRESETS, body: nestedDeep, ...malformed, says: "at most 32 levels" },
  { what: "an array as body", path: PRESETS, body: "[]", ...invalid, says: "must be a JSON object, got an array", paths: [""] },
  { what: "null as body", path: PRESETS, body: "null", ...invalid, says: "must be a JSON object, got null", paths: [""] },
  { what: "a string as body", path: RANDOM, body: '"x"', ...invalid, says: 'got "x"', paths: [""] },
  { what: "a number as body", path: RANDOM, body: "7", ...invalid, says: "got 7", paths: [""] },
  { what: "a body over the limit", path: RUN, body: { ...run, source: "x".repeat(300_000) }, status: 413, code: "body_too_large", says: "262144 bytes" },
  { what: "a form", path: PRESETS, headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "preset=range", status: 415, code: "unsupported_media_type", says: "application/x-www-form-urlencoded" },
  { what: "plain text", path: PRESETS, headers: { "Content-Type": "text/plain" }, body: "{}", status: 415, code: "unsupported_media_type", says: "text/plain" },
  { what: "another charset", path: PRESETS, headers: { "Content-Type": "application/json; charset=latin1" }, body: "{}", status: 415, code: "unsupported_media_type", says: "latin1" },
  { what: "a compressed body", path: PRESETS, headers: { "Content-Encoding": "gzip" }, body: gzipSync("{}"), status: 415, code: "unsupported_media_type", says: "gzip" },
  // Shared parameters
  { what: "an unknown network", path: `${PRESETS}?network=mainnet`, ...invalid, says: "polygon_mumbai, sepolia, fuji, fantom_testnet", paths: ["/network"] },
  { what: "a network in another case", path: `${PRESETS}?network=Sepolia`, ...invalid, says: '"Sepolia"', paths: ["/network"] },
  { what: "an empty network", path: `${PRESETS}?network=`, ...invalid, says: 'got ""', paths: ["/network"] },
  { what: "a network named like a prototype's member", path: `${PRESETS}?network=__proto__`, ...invalid, says: "__proto__", paths: ["/network"] },
  { what: "an unknown preset", path: `${PRESETS}?preset=roulette`, ...invalid, says: "coinflip, range, lotto, nDice", paths: ["/preset"] },
  { what: "a preset named like a prototype's member", path: PRESETS, body: { preset: "constructor" }, ...invalid, says: "constructor", paths: ["/preset"] },
  { what: "an unknown preset, parameters of none, and values that none takes", path: PRESETS, body: { preset: "y", sides: "2", min: "a", max: "5" }, ...invalid, says: "preset", paths: ["/preset", "/sides", "/min"] },
  { what: "a misspelt preset", path: `${PRESETS}?preset=coinflp`, ...invalid, says: "did you mean coinflip?", paths: ["/preset"] },
  { what: "a misspelt network", path: `${PRESETS}?network=sepola`, ...invalid, says: "did you mean sepolia?", paths: ["/network"] },
  { what: "a misspelt name of a parameter", path: `${RANDOM}?numWord=2`, ...invalid, says: "did you mean numWords?", paths: ["/numWord"] },
  { what: "unknown network and preset at once", path: `${PRESETS}?network=x&preset=y`, ...invalid, says: "preset", paths: ["/network", "/preset"] },
  { what: "a number as network", path: PRESETS, body: { network: 5 }, ...invalid, says: "got 5", paths: ["/network"] },
  { what: "null as preset", path: PRESETS, body: { preset: null }, ...invalid, says: "null", paths: ["/preset"] },
  { what: "an array as network", path: PRESETS, body: { network: ["sepolia"] }, ...invalid, says: "an array", paths: ["/network"] },
  { what: "query and body that differ", path: `${PRESETS}?network=sepolia`, body: { network: "fuji" }, ...invalid, says: 'is "sepolia" in the query but "fuji" in the body', paths: ["/network"] },
  { what: "a parameter twice in the query", path: `${PRESETS}?network=sepolia&network=fuji`, ...invalid, says: "more than once", paths: ["/network"] },
  { what: "a query that is not UTF-8", path: `${PRESETS}?network=%FF`, ...invalid, says: "percent-encoded UTF-8", paths: ["/network"] },
  // Presets
  { what: "an unknown member", path: PRESETS, body: { preset: "coinflip", sides: "2" }, ...invalid, says: "sides", paths: ["/sides"] },
  { what: "__proto__ as member", path: PRESETS, body: '{"__proto__":{"network":"sepolia"}}', ...invalid, says: "__proto__", paths: ["/__proto__"] },
  { what: "a fraction", path: PRESETS, body: { preset: "range", min: 1.5 }, ...invalid, says: "min", paths: ["/min"] },
  { what: "an exponent", path: PRESETS, body: { preset: "range", max: "1e3" }, ...invalid, says: "max", paths: ["/max"] },
  { what: "an exponent past 2^53 as number", path: PRESETS, body: '{"preset":"range","max":1e21}', ...invalid, says: "max", paths: ["/max"] },
  { what: "min above max", path: PRESETS, body: { preset: "range", min: 5, max: 1 }, ...invalid, says: "min", paths: ["/min"] },
  { what: "no list", path: `${PRESETS}?preset=lotto`, ...invalid, says: "list", paths: ["/list"] },
  { what: "numbers in the list", path: PRESETS, body: { preset: "lotto", list: ["a", 5] }, ...invalid, says: "list.1", paths: ["/list/1"] },
  { what: "numbers past 2^53 in the list", path: PRESETS, body: '{"preset":"lotto","list":["a",99999999999999999999]}', ...invalid, says: "list.1", paths: ["/list/1"] },
  { what: "101 dice", path: PRESETS, body: { preset: "nDice", numDice: "101" }, ...invalid, says: "at most 100", paths: ["/numDice"] },
  { what: "several at once, ours and the preset's", path: `${PRESETS}?network=x`, body: { preset: "range", min: "a", max: "b", more: 1 }, ...invalid, says: "more", paths: ["/network", "/more", "/min", "/max"] },
  { what: "confirmations of a preset below the network's range", path: `${PRESETS}?network=sepolia&preset=coinflip&confirmations=0`, ...invalid, says: "to 200", paths: ["/confirmations"] },
  { what: "confirmations of a preset that are no number", path: PRESETS, body: { preset: "range", confirmations: "few", min: 1.5 }, ...invalid, says: "in decimal", paths: ["/confirmations", "/min"] },
  // Unlinking
  { what: "unlinking what is no address", method: "DELETE", path: "/api/vrfv2/consumers/0x12?network=fuji", ...invalid, says: "40 hex digits", paths: ["/address"] },
  { what: "unlinking with a wrong checksum", method: "DELETE", path: `/api/vrfv2/consumers/${CONSUMER.replace("aA", "Aa")}?network=fuji`, ...invalid, says: "checksum", paths: ["/address"] },
  { what: "unlinking without a network", method: "DELETE", path: `/api/vrfv2/consumers/${CONSUMER}`, ...invalid, says: "network", paths: ["/network"] },
  // Functions
  { what: "no body", path: RUN, ...invalid, says: "source: is required", paths: ["/network", "/source"] },
  { what: "no network", path: RUN, body: { source: "return 1" }, ...invalid, says: "network: is required", paths: ["/network"] },
  { what: "an empty source", path: RUN, body: { ...run, source: "" }, ...invalid, says: "must not be empty", paths: ["/source"] },
  { what: "a source that is no string", path: RUN, body: { ...run, source: 5 }, ...invalid, says: "a string of JavaScript", paths: ["/source"] },
  { what: "a source over the network's limit", path: RUN, body: { ...run, source: "é".repeat(15_361) }, ...invalid, says: "at most 30720 bytes of UTF-8; got 30722", paths: ["/source"] },
  { what: "args that are no array", path: RUN, body: { ...run, args: "x" }, ...invalid, says: "an array of strings", paths: ["/args"] },
  { what: "numbers in args", path: RUN, body: { ...run, args: ["a", 1, null] }, ...invalid, says: "args.1: must be a string", paths: ["/args/1", "/args/2"] },
  { what: "an unknown returnType", path: RUN, body: { ...run, returnType: "bytes" }, ...invalid, says: "string, uint256, int256", paths: ["/returnType"] },
  { what: "secrets by value", path: RUN, body: { ...run, secrets: { API_KEY: "s3cr3t" } }, ...invalid, says: "an array of names of secrets", paths: ["/secrets"] },
  { what: "values of secrets for a request on chain", path: RUN, body: { ...run, secretValues: { API_KEY: "s3cr3t" } }, ...invalid, says: "is unknown", paths: ["/secretValues"] },
  { what: "values of secrets that are no texts by name", path: SIMULATE, body: { ...run, secretValues: { API_KEY: 5, "1ST": "s3cr3t" } }, ...invalid, says: "text of at least one character", paths: ["/secretValues/1ST", "/secretValues/API_KEY"] },
  { what: "a source over the limit in a dry run", path: SIMULATE, body: { source: "x".repeat(30_721) }, ...invalid, says: "30720", paths: ["/source"] },
  { what: "an unknown network in a dry run", path: SIMULATE, body: { ...run, network: "x" }, ...invalid, says: "must be one of", paths: ["/network"] },
  // Random numbers
  { what: "no words", path: `${RANDOM}?numWords=0`, ...invalid, says: "from 1 to 500", paths: ["/numWords"] },
  { what: "501 words", path: RANDOM, body: { numWords: 501 }, ...invalid, says: "got 501", paths: ["/numWords"] },
  { what: "a negative number", path: `${RANDOM}?numWords=-1`, ...invalid, says: "got -1", paths: ["/numWords"] },
  { what: "a hexadecimal number", path: `${RANDOM}?numWords=0x10`, ...invalid, says: "in decimal", paths: ["/numWords"] },
  { what: "a blank before a number", path: `${RANDOM}?numWords=+1`, ...invalid, says: '" 1"', paths: ["/numWords"] },
  { what: "a fraction of a word", path: RANDOM, body: { numWords: 1.5 }, ...invalid, says: "got 1.5", paths: ["/numWords"] },
  { what: "true as number", path: RANDOM, body: { numWords: true }, ...invalid, says: "got true", paths: ["/numWords"] },
  { what: "a number past 2^53", path: RANDOM, body: '{"numWords":9007199254740993}', ...invalid, says: "9007199254740993", paths: ["/numWords"] },
  { what: "a number of a thousand digits", path: RANDOM, body: { numWords: "9".repeat(1000) }, ...invalid, says: "from 1 to 500", paths: ["/numWords"] },
  { what: "confirmations below the network's range", path: `${RANDOM}?network=sepolia&confirmations=0`, ...invalid, says: "to 200", paths: ["/confirmations"] },
  { what: "confirmations above every range", path: `${RANDOM}?confirmations=201`, ...invalid, says: "got 201", paths: ["/confirmations"] },
  { what: "a key hash of the wrong length", path: `${RANDOM}?keyHash=0x12`, ...invalid, says: "64 hex digits", paths: ["/keyHash"] },
  { what: "a key hash that is not registered", path: `${RANDOM}?keyHash=0x${"00".repeat(32)}`, ...invalid, says: "registered: 0xabab", paths: ["/keyHash"] },
  { what: "everything wrong at once", path: `${RANDOM}?network=x&numWords=x&confirmations=x&keyHash=x&y=x`, ...invalid, says: "y", paths: ["/y", "/network", "/numWords", "/confirmations", "/keyHash"] },
  // Consumers
  { what: "no parameters", path: CONSUMERS, ...invalid, says: "is required", paths: ["/network", "/consumer"] },
  { what: "a short address", path: consumerQuery({ consumer: "0x12" }), ...invalid, says: "40 hex digits", paths: ["/consumer"] },
  { what: "an address without 0x", path: consumerQuery({ consumer: CONSUMER.slice(2) }), ...invalid, says: "an address", paths: ["/consumer"] },
  { what: "a wrong checksum", path: consumerQuery({ consumer: CONSUMER.replace("5aA", "5AA") }), ...invalid, says: `expected ${CONSUMER}`, paths: ["/consumer"] },
  { what: "a dapp id with a path in it", path: consumerQuery({ dappId: "../1" }), ...invalid, says: "letters, digits", paths: ["/dappId"] },
  { what: "another's dapp", path: consumerQuery({ dappId: "dapp_2" }), status: 404, code: "not_found", says: "dapp" },
  // Lists and headers
  { what: "a page of 0", method: "GET", path: `${REQUESTS}?limit=0`, ...invalid, says: "from 1 to 100", paths: ["/limit"] },
  { what: "an unknown state", method: "GET", path: `${REQUESTS}?state=done`, ...invalid, says: "received, submitted", paths: ["/state"] },
  { what: "a cursor of its own", method: "GET", path: `${REQUESTS}?cursor=%00`, ...invalid, says: "cursor", paths: ["/cursor"] },
  { what: "an unknown query parameter of a listing", method: "GET", path: "/api/presets?name=range", ...invalid, says: "is unknown; no parameters are taken here", paths: ["/name"] },
  { what: "nothing to verify", method: "GET", path: VERIFY, ...invalid, says: "tx", paths: ["/network", "/tx"] },
  { what: "half a transaction hash", method: "GET", path: `${VERIFY}?network=sepolia&tx=0x12`, ...invalid, says: "64 hex digits", paths: ["/tx"] },
  { what: "a request id that is no hash", method: "GET", path: `${VERIFY}?network=sepolia&tx=0x${"12".repeat(32)}&requestId=7`, ...invalid, says: "64 hex digits", paths: ["/requestId"] },
  { what: "a transaction that does not exist", method: "GET", path: `${VERIFY}?network=sepolia&tx=0x${"12".repeat(32)}`, status: 404, code: "not_found", says: "no transaction" },
  { what: "an empty Idempotency-Key", path: PRESETS, headers: { "Idempotency-Key": "" }, ...invalid, says: "Idempotency-Key", paths: ["/Idempotency-Key"] },
  { what: "an Idempotency-Key with a blank", path: PRESETS, headers: { "Idempotency-Key": "a b" }, ...invalid, says: "without blanks", paths: ["/Idempotency-Key"] },
  { what: "an Idempotency-Key that is too long", path: PRESETS, headers: { "Idempotency-Key": "k".repeat(256) }, ...invalid, says: "255", paths: ["/Idempotency-Key"] },
  { what: "an Idempotency-Key in UTF-8", path: PRESETS, headers: { "Idempotency-Key": utf8("größe") }, ...invalid, says: 'got "größe"', paths: ["/Idempotency-Key"] },
  { what: "an Idempotency-Key in Latin-1", path: PRESETS, headers: { "Idempotency-Key": "größe" }, ...invalid, says: 'got "größe"', paths: ["/Idempotency-Key"] },
  ...["abc", "-1", "1.5", "10s", ""].map((wait): BadInput => (
    { what: `a wait of "${wait}"`, path: PRESETS, headers: { Prefer: `respond-async, wait=${wait}` }, ...invalid, says: `Prefer: wait must be a whole number of seconds, such as wait=10; got "${wait}"`, paths: ["/Prefer"] })),
  { what: "a type that is not ASCII", path: PRESETS, headers: { "Content-Type": utf8("größe") }, body: "{}", status: 415, code: "unsupported_media_type", says: '"größe"' },
];

/** Sends one of these requests unchanged. */
export async function sendBadInput(
  url: string,
  input: BadInput,
  keys: { readonly good: string; readonly functionsOnly: string; readonly readOnly: string },
): Promise<Response> {
  const stands = { [FUNCTIONS_ONLY]: keys.functionsOnly, [READ_ONLY]: keys.readOnly };
  const key = typeof input.key === "symbol" ? stands[input.key] : input.key;
  return await fetch(url + input.path, {
    method: input.method ?? "POST",
    headers: {
      ...(key === null ? {} : { Authorization: key ?? keys.good }),
      ...(input.body === undefined ? {} : { "Content-Type": "application/json" }),
      ...input.headers,
    },
    ...(input.body === undefined ? {} : { body: bytesOf(input.body) }),
  });
}

function bytesOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}
