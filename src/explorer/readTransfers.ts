import { pad, type Hex } from "viem";
import type { TransferList } from "../api/types.ts";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { findTransfer, TRANSFER } from "../chainlink/linkTransfer.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { type ListCursor, type Listed, summarizeTransactions } from "./lists.ts";
import { readLogPage } from "./readLogPage.ts";

/**
 * Reads a page of the LINK that an address sent and received, newest first from a cursor on, with the transactions; of the token itself, of all
 * that was moved. Searches a bounded number of blocks.
 */
export async function readTransfers(
  address: Hex,
  chain: ExploredChain,
  book: AddressBook,
  before?: ListCursor,
): Promise<Listed<TransferList>> {
  const { archive, contracts, network } = chain;
  const { link } = contracts;
  const isToken = address.toLowerCase() === link.toLowerCase();
  const { logs, searched, older } = await readLogPage(chain, before, {
    isDense: isToken,
    async find(range) {
      const find = (...topics: (Hex | null)[]) =>
        archive.findLogs({ address: link, topics: [TRANSFER, ...topics], ...range });
      if (isToken) return await find();
      const party = pad(address);
      const [sent, received] = await Promise.all([find(party), find(null, party)]);
      // What it sent to itself was found already.
      return [...sent, ...received.filter(({ topics: [, from] }) => from !== party.toLowerCase())];
    },
  });
  const blocks = await Promise.all(
    [...new Set(logs.map(({ blockNumber }) => blockNumber))].map((number) => archive.findBlock(number)),
  );
  const hashes = new Set(logs.map(({ transactionHash }) => transactionHash));
  const placed = blocks.flatMap((block) =>
    block === undefined
      ? []
      : block.transactions
          .filter(({ hash }) => hashes.has(hash))
          .map((transaction) => ({ block, transaction })),
  );
  return {
    network,
    transfers: logs.flatMap((log) => {
      const { blockNumber } = log;
      const found = findTransfer(log, link);
      if (found === undefined) return [];
      const { from, to, ...rest } = found;
      return { ...rest, blockNumber: blockNumber.toString(), from: book.party(from), to: book.party(to) };
    }),
    transactions: await summarizeTransactions(chain, book, placed),
    searched,
    older,
  };
}
