import type { ContractView } from "../api/types.ts";
import type { Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { decodeConstructorArguments } from "../chainlink/constructorArguments.ts";
import { getContractBuild, isBuiltFrom, isCodeOf } from "../chainlink/contracts/builtFrom.ts";
import type { ChainArchive } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";

/**
 * Reads a contract of the stack: its source, its interface, and whether the code on the chain is built from them; returns `undefined` for
 * any other address.
 */
export async function readContract(
  address: Hex,
  { network, client, archive }: ExploredChain,
  book: AddressBook,
): Promise<ContractView | undefined> {
  const contract = book.contractAt(address);
  if (contract === undefined) return undefined;
  const { abi, ...build } = getContractBuild(contract);
  const [code, input] = await Promise.all([client.getCode(address), findCreationInput(archive, address)]);
  const isOurs = isBuiltFrom(contract, code);
  const isCreatedBy = input !== undefined && isCodeOf(input, code);
  const { name = contract, ...party } = book.party(address);
  return {
    network,
    ...party,
    name,
    abi,
    build: isOurs ? build : null,
    constructorArguments: isCreatedBy ? decodeConstructorArguments(contract, input) : null,
  };
}

/** Finds the input of the transaction that created a contract: the first one in which its address appears. */
async function findCreationInput(archive: ChainArchive, address: Hex): Promise<Hex | undefined> {
  const known = await archive.findAppearances?.({ address, limit: 1, first: "oldest" });
  const [first] = known?.found ?? [];
  if (first === undefined) return undefined;
  const block = await archive.findBlock(BigInt(first.block));
  if (block?.hash !== first.blockHash) return undefined;
  const { created, input } = block.transactions[first.index]!;
  return created === address.toLowerCase() ? input : undefined;
}
