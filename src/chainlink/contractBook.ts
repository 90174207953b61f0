import type { Hex } from "viem";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { findEvent, type ChainEvent } from "./events.ts";

/** Addresses of the contracts that a request goes through, lower case. */
export interface OracleContracts {
  readonly vrfCoordinator: Hex;
  readonly functionsRouter: Hex;
  readonly functionsCoordinator: Hex;
  readonly presetConsumer: Hex;
}
export type ContractRole = keyof OracleContracts;

/** Picks the contracts that the checks rely on from all those of a chain. */
export function verifiedContractsOf(contracts: OracleContracts): OracleContracts {
  const { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer } = contracts;
  return { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer };
}

/** The contract that emits each event. */
const EMITTERS = {
  RandomWordsRequested: "vrfCoordinator",
  RandomWordsFulfilled: "vrfCoordinator",
  RequestStart: "functionsRouter",
  RequestProcessed: "functionsRouter",
  RequestNotProcessed: "functionsRouter",
  RequestTimedOut: "functionsRouter",
  OracleRequest: "functionsCoordinator",
  OracleResponse: "functionsCoordinator",
  Accepted: "presetConsumer",
  BatchRequested: "presetConsumer",
  Joining: "presetConsumer",
  WordsJoined: "presetConsumer",
  BatchReported: "presetConsumer",
} as const satisfies Partial<Record<ChainEvent["name"], ContractRole>>;

/** An event of one of the contracts, with its log. */
export type OracleEvent = Extract<ChainEvent, { readonly name: keyof typeof EMITTERS }> & {
  readonly log: RawLog;
};
export type OracleEventOf<Name extends OracleEvent["name"]> = Extract<OracleEvent, { readonly name: Name }>;

/** A contract that emitted an event of the contract that was given for a role. */
export interface OtherContract {
  readonly role: ContractRole;
  readonly address: Hex;
}

/** Keeps only logs that these contracts emitted. */
export interface ContractBook {
  /** Returns the contracts' events among the logs, in order; events of the same names from other addresses are left out. */
  eventsOf(logs: readonly RawLog[]): OracleEvent[];
  /** Returns the other addresses among the logs that emitted events of the contracts that were given. */
  othersIn(logs: readonly RawLog[]): OtherContract[];
  /** Returns the address of a contract; throws if it isn't known yet. */
  get(role: ContractRole): Hex;
  /** Takes an address that another contract names, unless one is known. Returns the known one. */
  learn(role: ContractRole, address: Hex): Hex;
  known(): Partial<OracleContracts>;
  isGiven(role: ContractRole): boolean;
}

/**
 * Creates the book of contracts. A contract that isn't given is taken to be the emitter of the first of its events: the
 * checks then concern contracts that the reader still has to compare with the published ones.
 */
export function createContractBook(given: Partial<OracleContracts> = {}): ContractBook {
  const addresses = new Map<ContractRole, Hex>();
  for (const [role, address] of Object.entries(given)) {
    if (address !== undefined) addresses.set(role as ContractRole, address.toLowerCase() as Hex);
  }
  const fixed = new Set(addresses.keys());
  return {
    eventsOf(logs) {
      return logs.flatMap((log): OracleEvent[] => {
        // A stranger's contract can log anything in the same transaction.
        const event = findEvent(log);
        if (event === undefined || !isOracleEvent(event)) return [];
        const role = EMITTERS[event.name];
        const known = addresses.get(role);
        if (known === undefined) addresses.set(role, log.address);
        return known === undefined || known === log.address ? [{ ...event, log }] : [];
      });
    },
    othersIn(logs) {
      const others = logs.flatMap((log) => {
        const event = findEvent(log);
        const role = event !== undefined && isOracleEvent(event) ? EMITTERS[event.name] : undefined;
        if (role === undefined || !fixed.has(role) || addresses.get(role) === log.address) return [];
        return [[`${role} ${log.address}`, { role, address: log.address }] as const];
      });
      return [...new Map(others).values()];
    },
    get(role) {
      const address = addresses.get(role);
      if (address === undefined) throw new Error(`no event of the ${role} was seen`);
      return address;
    },
    learn(role, address) {
      const known = addresses.get(role) ?? (address.toLowerCase() as Hex);
      addresses.set(role, known);
      return known;
    },
    known: () => Object.fromEntries(addresses),
    isGiven: (role) => fixed.has(role),
  };
}

function isOracleEvent(event: ChainEvent): event is Extract<ChainEvent, { name: keyof typeof EMITTERS }> {
  return Object.hasOwn(EMITTERS, event.name);
}
