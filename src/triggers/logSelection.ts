import type { Checked } from "../api/parameters/requestSchemas.ts";
import { encodeEventTopics, getAddress, parseAbiItem, type AbiEvent, type Hex } from "viem";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { decodeBoundedLog } from "../evm/boundedAbi.ts";
import { describeValue } from "../lib/describeValue.ts";
import { messageOf } from "../lib/errors.ts";
import { InvalidParameterError, parseAll } from "../lib/invalidParameter.ts";

/** Which logs a trigger wants. */
export interface LogSelection {
  /** Lower case. */
  readonly addresses: readonly Hex[];
  /** Human-readable ABI of the event; `null` if topics select. */
  readonly event: string | null;
  /** What its owner wants of the event's indexed arguments. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Wanted values by position; `null` is any. */
  readonly topics: readonly (readonly Hex[] | null)[];
}

/** What its owner gives of a {@link LogSelection}. */
export type GivenSelection = Pick<Checked<"createTrigger">, "addresses" | "event" | "topics" | "filters">;

/** Longer values, which no request could take, are not kept. */
export const MAX_VALUE_CHARACTERS = 65_536;

const EXAMPLE = "event Rolled(address indexed by, uint256 value)";

/** Names, besides the event's own, of values that each log has. */
export const LOG_VALUES = [
  "$address",
  "$transactionHash",
  "$logIndex",
  "$blockNumber",
  "$blockHash",
  "$data",
  "$topics",
] as const;

/** Parses which logs are wanted. Throws `invalid_parameter`. */
export function parseSelection({ topics, filters = {}, ...given }: GivenSelection): LogSelection {
  const addresses = [...new Set(given.addresses.map((one) => one.toLowerCase() as Hex))];
  // As it stands in a contract, over several lines and with a semicolon.
  const event = given.event?.trim().replace(/\s*;$/, "").replaceAll(/\s+/g, " ");
  if ((event === undefined) === (topics === undefined))
    throw refuse("/event", `give either event, such as ${EXAMPLE}, or topics`);
  if (event === undefined) {
    if (Object.keys(filters).length > 0)
      throw refuse("/filters", "needs event; with topics, give the values there");
    const wanted = topics!.map((one) =>
      one === null ? null : [one].flat().map((hex) => hex.toLowerCase() as Hex),
    );
    return { addresses, event: null, filters, topics: wanted };
  }
  return { addresses, event, filters, topics: encodeFilters(parseEvent(event), filters) };
}

/** Returns the names of the values of the logs that are wanted. */
export function namesOf({ event }: Pick<LogSelection, "event">): readonly string[] {
  const inputs = event === null ? [] : parseEvent(event).inputs;
  return [...inputs.flatMap(({ name }) => (name ? [name] : [])), ...LOG_VALUES];
}

/** Whether a log is wanted. */
export function isSelected({ addresses, topics }: LogSelection, log: RawLog): boolean {
  if (!addresses.includes(log.address.toLowerCase() as Hex) || log.topics.length < topics.length)
    return false;
  return topics.every((wanted, i) => wanted === null || wanted.includes(log.topics[i]!));
}

/**
 * Returns the values of a log by name, as text: integers in decimal, addresses with their checksum, bytes as hex, lists as JSON. Of a log
 * that is not encoded as its event says, only those that every log has; without those of more than 65,536 characters.
 */
export function readValues({ event }: LogSelection, log: RawLog): Record<string, string> {
  const values: Record<string, string> = {
    $address: getAddress(log.address),
    $transactionHash: log.transactionHash,
    $logIndex: String(log.logIndex),
    $blockNumber: String(log.blockNumber),
    $blockHash: log.blockHash,
    $data: log.data,
    $topics: JSON.stringify(log.topics),
  };
  try {
    const abi = event === null ? [] : [parseEvent(event)];
    const { args } = decodeBoundedLog({ abi, data: log.data, topics: log.topics as [Hex, ...Hex[]] });
    for (const [name, value] of Object.entries(args)) values[name] = toText(value);
  } catch {
    // Whatever refers to them is refused.
  }
  return Object.fromEntries(Object.entries(values).filter(([, text]) => text.length <= MAX_VALUE_CHARACTERS));
}

function parseEvent(text: string): AbiEvent {
  if (!text.startsWith("event "))
    throw refuse("/event", `must begin with the word event, such as ${EXAMPLE}; got ${describeValue(text)}`);
  try {
    return parseAbiItem(text as string & {}) as AbiEvent;
  } catch (error) {
    const why = messageOf(error).split("\n")[0]!.replace(/\.$/, "");
    throw refuse("/event", `can't be read: ${why}; expected one such as ${EXAMPLE}`);
  }
}

/** Encodes wanted arguments as topics. */
function encodeFilters(event: AbiEvent, filters: LogSelection["filters"]): LogSelection["topics"] {
  const indexed = event.inputs.filter((input) => input.indexed);
  const parse = (name: string, wanted: unknown): unknown => {
    const input = indexed.find((one) => one.name === name);
    const path = `/filters/${name}`;
    if (input === undefined) {
      const names = indexed.map((one) => one.name).join(", ");
      throw refuse(path, `is not an indexed argument of the event; those are ${names || "none"}`);
    }
    const values = [wanted].flat();
    if (values.length === 0 || values.length > 10) throw refuse(path, "takes 1 to 10 values");
    return values.map((value) => toAbiValue(input.type, value, path));
  };
  const args = parseAll<Record<string, unknown>>(
    Object.fromEntries(Object.entries(filters).map(([name, wanted]) => [name, () => parse(name, wanted)])),
  );
  try {
    const encoded = encodeEventTopics({ abi: [event], args });
    const topics = encoded.map((topic) => (topic === null ? null : [topic].flat()));
    while (topics.at(-1) === null) topics.pop();
    return topics;
  } catch (error) {
    throw refuse("/filters", `can't be encoded: ${messageOf(error).split("\n")[0]}`);
  }
}

/** Converts a filter's value to what the encoder takes. */
function toAbiValue(type: string, value: unknown, path: string): unknown {
  const text = String(value);
  if (/^u?int\d*$/.test(type)) {
    if ((typeof value === "string" || Number.isSafeInteger(value)) && /^-?\d{1,78}$/.test(text))
      return BigInt(text);
    throw refuse(path, `must be an integer in decimal digits, for ${type}`);
  }
  if (type === "bool") {
    if (text === "true" || text === "false") return text === "true";
    throw refuse(path, "must be true or false");
  }
  if (type === "address" && /^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase();
  if (type === "string" && typeof value === "string") return value;
  if (/^bytes\d*$/.test(type) && /^0x([0-9a-fA-F]{2})*$/.test(text)) return text;
  throw refuse(path, `must be a value of type ${type}`);
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return String(value);
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === "bigint" ? String(inner) : inner,
  );
}

function refuse(path: string, message: string): InvalidParameterError {
  return new InvalidParameterError([{ path, message }]);
}
