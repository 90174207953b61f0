import { decodeFunctionData, parseAbi, type Abi, type Hex } from "viem";
import { CONFIG_SET_TOPIC } from "../../../src/chainlink/nodeConfig.ts";
import {
  functionsCoordinatorAbi,
  functionsRouterAbi,
  presetConsumerAbi,
  vrfCoordinatorAbi,
} from "../../../src/chainlink/contracts/abi.ts";
import type { ChainData } from "../../../src/api/types.ts";

/** A member of a node's answers, with everywhere that it occurs. */
export interface Member {
  /**
   * Method and path, such as `eth_getBlockReceipts *.logs.*.data`, where `*` is any index. A contract's answer is split into its words, and
   * named after the function; a search for logs is named after its event.
   */
  readonly name: string;
  readonly places: readonly Place[];
}

interface Place {
  readonly answer: number;
  readonly path: readonly (string | number)[];
}

const WORD_DIGITS = 64;

/** Lists the members of all answers. */
export function membersOf({ answers }: ChainData): readonly Member[] {
  const found = new Map<string, Place[]>();
  for (const [answer, { method, params, result }] of answers.entries())
    for (const path of leavesOf(expand(method, result))) {
      const members = path.map((step) => (typeof step === "number" && method !== "eth_call" ? "*" : step));
      const name = [labelOf(method, params), members.join(".")].join(" ").trim();
      found.set(name, [...(found.get(name) ?? []), { answer, path }]);
    }
  return [...found].map(([name, places]) => ({ name, places }));
}

/** Digits changed of a value: the first, the middle and the last one; of a value longer than a word, more of them. */
const SAMPLES = 3;
const SAMPLES_OF_LONG = 8;

/** Returns the data with one digit of one member changed, in each of its places, from the first digit to the last. */
export function changesOf(data: ChainData, { places }: Member): readonly ChainData[] {
  return places.flatMap((place) => {
    const { method, result } = data.answers[place.answer]!;
    const value = place.path.reduce((at, step) => (at as never)[step], expand(method, result));
    const samples = String(value).length > 2 + WORD_DIGITS ? SAMPLES_OF_LONG : SAMPLES;
    return Array.from({ length: samples }, (_, sample) => change(data, place, sample / (samples - 1)));
  });
}

/** Returns the data with one digit of every member changed in each of its places. @param share where the digit is, from 0 to 1 */
export function changeAll(data: ChainData, members: readonly Member[], share: number): ChainData {
  const places = members.flatMap((member) => member.places);
  return places.reduce((changed, place) => change(changed, place, share), data);
}

function change(data: ChainData, { answer, path }: Place, share: number): ChainData {
  const { method, result } = data.answers[answer]!;
  const changed = changeAt(expand(method, result), path, share);
  const joined = method === "eth_call" ? `0x${(changed as readonly string[]).join("")}` : changed;
  return { ...data, answers: data.answers.with(answer, { ...data.answers[answer]!, result: joined }) };
}

/** Splits a contract's answer into words. */
function expand(method: string, result: unknown): unknown {
  if (method !== "eth_call") return result;
  return (result as string).slice(2).match(new RegExp(`.{1,${WORD_DIGITS}}`, "g"));
}

function leavesOf(value: unknown): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [[]];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([step, member]) => leavesOf(member).map((path) => [step, ...path]));
}

function changeAt(value: unknown, [step, ...path]: readonly (string | number)[], share: number): unknown {
  if (step === undefined) return changeLeaf(value, share);
  if (Array.isArray(value)) return value.with(step as number, changeAt(value[step as number], path, share));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [step]: changeAt(object[step], path, share) };
}

function changeLeaf(value: unknown, share: number): unknown {
  if (typeof value === "boolean") return !value;
  if (typeof value !== "string") return "0x1";
  const first = value.startsWith("0x") ? 2 : 0;
  if (value.length === first) return `${value}00`;
  const index = first + Math.round(share * (value.length - 1 - first));
  const other = (Number.parseInt(value[index]!, 16) ^ 1).toString(16);
  return `${value.slice(0, index)}${other}${value.slice(index + 1)}`;
}

function labelOf(method: string, [parameter]: readonly unknown[]): string {
  if (method === "eth_call") return `eth_call ${functionOf((parameter as { data: Hex }).data)}`;
  if (method !== "eth_getLogs") return method;
  const [topic] = (parameter as { topics: readonly Hex[] }).topics;
  return `eth_getLogs ${topic === CONFIG_SET_TOPIC ? "ConfigSet" : "of requests"}`;
}

const CALLED: readonly Abi[] = [
  functionsRouterAbi,
  functionsCoordinatorAbi,
  vrfCoordinatorAbi,
  presetConsumerAbi,
  parseAbi([
    "function VRF_COORDINATOR() view returns (address)",
    "function FUNCTIONS_ROUTER() view returns (address)",
    "function DON_ID() view returns (bytes32)",
    "function getConsumer(address, uint64) view returns (bool, uint64, uint64)",
  ]),
];

function functionOf(data: Hex): string {
  for (const abi of CALLED)
    try {
      return decodeFunctionData({ abi, data }).functionName;
    } catch {
      // Another contract's.
    }
  throw new Error(`no contract has the function ${data.slice(0, 10)}`);
}
