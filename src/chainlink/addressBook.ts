import type { DecodedCall, DecodedValue, Party } from "../api/types.ts";
import {
  getAddress,
  toEventSelector,
  toFunctionSelector,
  zeroAddress,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  type Hex,
} from "viem";
import { decodeBoundedCall, decodeBoundedLog } from "../evm/boundedAbi.ts";
import type { EncodedLog } from "./events.ts";
import type { StackAddresses } from "./stackPlan.ts";
import { sampleConsumerAbi } from "./contracts/abi.ts";
import { loadArtifacts } from "./contracts/artifacts.ts";
import type { ContractName } from "./contracts/compilerInput.ts";
import { unpackBytes } from "./unpackBytes.ts";
import { VRF_CONTRACTS } from "./vrfPlan.ts";

type Role = Exclude<keyof StackAddresses, "vrfVersion">;

/** The contract at each address of the stack, and its label; those of VRF are for version 2. */
const STACK: Readonly<
  Record<Role, { readonly label: string; readonly contract: ContractName; readonly about: string }>
> = {
  link: { label: "LINK token", contract: "LinkToken", about: "The token that pays the oracle." },
  nativePriceFeed: {
    label: "LINK price in coin",
    contract: "FixedPriceFeed",
    about: "Says what LINK costs in the coin that pays for gas.",
  },
  usdPriceFeed: {
    label: "LINK price in USD",
    contract: "FixedPriceFeed",
    about: "Says what LINK costs in dollars.",
  },
  blockhashStore: {
    label: "BlockhashStore",
    contract: "BlockhashStore",
    about: "Keeps hashes of old blocks, for proofs that come late.",
  },
  vrfCoordinator: {
    label: "VRFCoordinatorV2",
    contract: "VRFCoordinatorV2",
    about: "Takes requests for random words, and checks the proof of each before it delivers them.",
  },
  batchVrfCoordinator: {
    label: "BatchVRFCoordinatorV2",
    contract: "BatchVRFCoordinatorV2",
    about: "Passes several proofs on to the coordinator in one transaction.",
  },
  functionsRouter: {
    label: "FunctionsRouter",
    contract: "FunctionsRouter",
    about: "Takes requests to run functions, pays for them from subscriptions, and delivers the results.",
  },
  functionsCoordinator: {
    label: "FunctionsCoordinator",
    contract: "FunctionsCoordinator",
    about: "Takes the results of functions that enough oracle nodes have signed.",
  },
  subscriptionOwner: {
    label: "SubscriptionOwner",
    contract: "SubscriptionOwner",
    about: "Owns the subscriptions that pay for the requests of this service's dapps.",
  },
  presetConsumer: {
    label: "PresetConsumer",
    contract: "PresetConsumer",
    about: "Makes the requests of this service, and receives their results.",
  },
};

// Plain data, fit for JSON.

/** A log decoded with the interface of the contract that emitted it. */
export interface DecodedEvent {
  readonly event: string;
  readonly fields: readonly DecodedValue[];
}

/** Names of a chain's addresses, and the interfaces that decode its calls and logs. */
export interface AddressBook {
  /** The contracts of the stack. */
  readonly contracts: readonly Party[];
  party(address: Hex): Party;
  /** Says what the party at an address does here; `undefined` for an unknown one. */
  aboutOf(address: Hex): string | undefined;
  /** Adds their names to known addresses among decoded values. */
  nameAddresses(values: readonly DecodedValue[]): DecodedValue[];
  /** Returns the contract at an address of the stack; `undefined` for any other address. */
  contractAt(address: Hex): ContractName | undefined;
  /** Returns the contracts and accounts whose names contain a text, ignoring case. */
  findByName(text: string): Party[];
  /** Decodes a call; `null` if no known interface has the function, or the data doesn't match its declaration. */
  decodeCall(to: Hex | null, input: Hex): DecodedCall | null;
  /** Returns the name of the called function: `0x` and 8 digits if unknown, `new contract` for a creation, empty without a selector. */
  methodOf(to: Hex | null, input: Hex): string;
  /** Decodes a log; `undefined` if no known interface has the event, or the log doesn't match its declaration. */
  decodeEvent(contract: Hex, log: EncodedLog): DecodedEvent | undefined;
}

/**
 * Creates the address book of one chain. An address of the stack is decoded with its own contract's interface. Any other
 * contract is decoded with the interface of one of ours, or of the sample consumer, that declares the function or event, so that a caller's
 * own consumer contract is readable as far as it shares them.
 *
 * @param accounts names of further addresses.
 */
export function createAddressBook(
  stack: StackAddresses,
  accounts: Readonly<Record<Hex, string>>,
): AddressBook {
  const interfaces = readInterfaces();
  const abouts = new Map(
    Object.keys(accounts).map((address) => [
      address.toLowerCase(),
      "An account of this service or its oracle.",
    ]),
  );
  const names = new Map(Object.entries(accounts).map(([address, name]) => [address.toLowerCase(), name]));
  const contractOf = new Map<string, ContractName>();
  const ofVersion: Partial<Record<string, ContractName>> = VRF_CONTRACTS[stack.vrfVersion ?? "v2"];
  const roles = Object.keys(STACK).filter((key) => stack[key as Role] !== zeroAddress) as Role[];
  for (const key of roles) {
    const { label, contract, about } = STACK[key];
    const address = stack[key].toLowerCase();
    const own = ofVersion[key];
    names.set(address, own ?? label);
    abouts.set(address, about);
    contractOf.set(address, own ?? contract);
  }

  const party = (address: Hex): Party => {
    const name = names.get(address.toLowerCase());
    return { address: getAddress(address.toLowerCase()), ...(name === undefined ? {} : { name }) };
  };
  const nameAddresses = (values: readonly DecodedValue[]): DecodedValue[] =>
    values.map((one) => {
      if (typeof one.value !== "string") return { ...one, value: nameAddresses(one.value) };
      const knownAs = one.type === "address" ? names.get(one.value.toLowerCase()) : undefined;
      return knownAs === undefined ? one : { ...one, knownAs };
    });
  const describe = (contract: Hex, values: readonly DecodedValue[]): DecodedValue[] => {
    const known = contractOf.get(contract.toLowerCase());
    const described = nameAddresses(markJuels(values, known === "LinkToken"));
    // Others may call anything so.
    return known === undefined ? described : unpackBytes(described);
  };
  const find = <Item>(tables: Tables<Item>, address: Hex, selector: Hex): Item | undefined => {
    const own = contractOf.get(address.toLowerCase());
    const found = own === undefined ? undefined : tables.get(own)?.get(selector);
    return found ?? tables.get("any")?.get(selector);
  };
  const findFunction = (to: Hex | null, input: Hex): AbiFunction | undefined =>
    to === null || input.length < 10 ? undefined : find(interfaces.functions, to, input.slice(0, 10) as Hex);

  return {
    contracts: roles.map((key) => party(stack[key])),
    party,
    aboutOf: (address) => abouts.get(address.toLowerCase()),
    nameAddresses,
    contractAt: (address) => contractOf.get(address.toLowerCase()),
    findByName(text) {
      const wanted = text.toLowerCase();
      return [...names].flatMap(([address, name]) =>
        name.toLowerCase().includes(wanted) ? [party(address as Hex)] : [],
      );
    },
    decodeCall(to, input) {
      const item = findFunction(to, input);
      if (item === undefined) return null;
      try {
        const { args } = decodeBoundedCall({ abi: [item], data: input });
        return {
          function: item.name,
          arguments: describe(
            to!,
            item.inputs.map((input_, i) => readValue(input_, args[i])),
          ),
        };
      } catch {
        return null;
      }
    },
    methodOf(to, input) {
      if (to === null) return "new contract";
      if (input.length < 10) return "";
      return findFunction(to, input)?.name ?? input.slice(0, 10);
    },
    decodeEvent(contract, { topics, data }) {
      const [topic] = topics;
      const item = topic === undefined ? undefined : find(interfaces.events, contract, topic);
      if (item === undefined) return undefined;
      try {
        const { args } = decodeBoundedLog({
          abi: [item],
          topics: topics as [Hex, ...Hex[]],
          data,
          strict: true,
        });
        return {
          event: item.name,
          fields: describe(
            contract,
            item.inputs.map((input, i) => readValue(input, pick(args, input.name, i))),
          ),
        };
      } catch {
        return undefined;
      }
    },
  };
}

/** Names of amounts of LINK in the contracts' events and arguments. */
const LINK_AMOUNT = /Juels$|^cost(?!Wei)|^amountLink$|^(?:old|new)Balance$|^payment$/;

/** Marks the amounts of LINK: those that are called so and, of the token's own functions and events, all. */
function markJuels(values: readonly DecodedValue[], isToken: boolean): readonly DecodedValue[] {
  const isPaidInCoin = values.some(({ name, value }) => name === "nativePayment" && value === "true");
  return values.map((one) => {
    const { name, type, value } = one;
    if (typeof value !== "string") return { ...one, value: markJuels(value, isToken) };
    const isAmount = isToken || (LINK_AMOUNT.test(name) && !(isPaidInCoin && name === "payment"));
    return isAmount && /^uint(?:96|256)$/.test(type) ? { ...one, isJuels: true } : one;
  });
}

/** By contract name, then by selector or topic; `any` holds those of all contracts. */
type Tables<Item> = ReadonlyMap<string, ReadonlyMap<Hex, Item>>;

function readInterfaces() {
  const anyFunction = new Map<Hex, AbiFunction>();
  const anyEvent = new Map<Hex, AbiEvent>();
  const functions = new Map([["any", anyFunction]]);
  const events = new Map([["any", anyEvent]]);
  for (const item of sampleConsumerAbi) {
    if (item.type === "function") anyFunction.set(toFunctionSelector(item), item);
    else anyEvent.set(toEventSelector(item), item);
  }
  for (const [name, { abi }] of Object.entries(loadArtifacts())) {
    const ownFunctions = new Map(
      abi.filter((item) => item.type === "function").map((item) => [toFunctionSelector(item), item] as const),
    );
    const ownEvents = new Map(
      abi.filter((item) => item.type === "event").map((item) => [toEventSelector(item), item] as const),
    );
    functions.set(name, ownFunctions);
    events.set(name, ownEvents);
    for (const [selector, item] of ownFunctions) anyFunction.set(selector, item);
    for (const [selector, item] of ownEvents) anyEvent.set(selector, item);
  }
  return { functions, events };
}

/** viem returns arguments as an object if all of them have names, otherwise as an array. */
function pick(args: unknown, name: string | undefined, index: number): unknown {
  if (Array.isArray(args)) return args[index];
  return (args as Record<string, unknown>)[name ?? index];
}

/** Describes a decoded value by its declaration. */
export function readValue(parameter: AbiParameter, value: unknown): DecodedValue {
  const { name = "", type } = parameter;
  if (Array.isArray(value) && type.endsWith("]")) {
    const inner = { ...parameter, name: "", type: type.slice(0, type.lastIndexOf("[")) };
    return { name, type, value: value.map((item) => readValue(inner, item)) };
  }
  if (type === "tuple" && "components" in parameter) {
    return {
      name,
      type: structOf(parameter),
      value: parameter.components.map((component, i) => readValue(component, pick(value, component.name, i))),
    };
  }
  return { name, type, value: typeof value === "string" ? value : String(value) };
}

/** Returns the name of a struct, such as `VRF.Proof`; `struct` if the compiler doesn't give it. */
function structOf({ internalType }: AbiParameter): string {
  return typeof internalType === "string" ? internalType.replace(/^struct /, "") : "struct";
}
