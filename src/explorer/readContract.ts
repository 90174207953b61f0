import type { Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { getContractBuild, isBuiltFrom } from "../chainlink/contracts/builtFrom.ts";
import type { ExploredChain } from "./exploredChain.ts";
import type { ContractView } from "./listViews.ts";

/** Reads a contract of the stack: its source, its interface, and whether the code on the chain is built from them; `undefined` for any other address. */
export async function readContract(
  address: Hex,
  { network, client }: ExploredChain,
  book: AddressBook,
): Promise<ContractView | undefined> {
  const contract = book.contractAt(address);
  if (contract === undefined) return undefined;
  const { abi, ...build } = getContractBuild(contract);
  const isOurs = isBuiltFrom(contract, await client.getCode(address));
  const { name = contract, ...party } = book.party(address);
  return { network, ...party, name, abi, build: isOurs ? build : null };
}
