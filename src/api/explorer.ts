import { Type } from "typebox";
import { REQUEST_STATES } from "../domain/vocabulary.ts";
import { NetworkView } from "./catalogue.ts";
import { decimal, givenLabel, hex, nullable, pageOf, time } from "./common.ts";
import { ShownResult } from "./requests.ts";
import { BeaconView, FunctionResult, PresetResult, RandomResult } from "./results.ts";
import {
  DecodedCall,
  DecodedValue,
  EventView,
  FunctionRequestView,
  FunctionResultView,
  JoinView,
  Party,
  RandomnessView,
  RandomRequestView,
  ReadingsView,
  PresetRunView,
  ReportView,
  SearchHit,
} from "./transaction.ts";

const older = (of: string) =>
  Type.Union([Type.String(), Type.Null()], {
    description: `Give it as \`before\` for the next page of ${of}; null on the last.`,
  });

const further = (of: string) =>
  Type.Optional(Type.Integer({ description: `How many further ${of}; absent: none.` }));

const Searched = Type.Object(
  { from: decimal("First block."), to: decimal("Last block.") },
  { description: "The blocks searched for the page; with an index, all that it covers." },
);

const title = Type.Optional(
  Type.String({
    description:
      "Title of the preset, or what a function's source says first in a comment, or the hosts that it names, or its arguments; absent for random numbers, and while it isn't known here.",
  }),
);

/** One of the service's own requests, as far as it is on chain. */
export const RequestSummary = Type.Object({
  id: Type.String({ description: "Its id, which leads to the page `/r/{id}` once it has a result." }),
  requestId: hex("Its id on the chain."),
  network: Type.String(),
  kind: Type.Enum(["preset", "random", "function"]),
  title,
  label: Type.Optional(Type.String()),
  givenLabel,
  dappId: Type.Optional(
    Type.String({ description: "Id of its dapp, on chain with the label; absent without one." }),
  ),
  at: time("When it was made."),
  state: Type.Enum([...REQUEST_STATES]),
  result: Type.Optional(
    Type.String({
      description: "Its result in one line, at most 200 characters; after an error, the error.",
    }),
  ),
  success: Type.Optional(Type.Boolean({ description: "Absent without a result." })),
  transactionHash: Type.Optional(hex("The newest of its transactions.")),
});

/** How many requests match. */
const Matches = Type.Object({
  count: Type.Integer(),
  isAll: Type.Boolean({ description: "Whether there are no older ones that were not looked through." }),
});

/** A page of the service's own requests. */
export const RequestSummaryPage = Type.Object({
  ...pageOf(RequestSummary).properties,
  matches: Type.Optional(
    Type.Object(Matches.properties, {
      description: "How many requests match, among the newest 1,000 on chain; on the first page only.",
    }),
  ),
});

/** A block in a list. */
export const BlockSummary = Type.Object({
  number: decimal("Number."),
  hash: hex("Hash."),
  at: time("Time of the block."),
  transactionCount: Type.Integer(),
  gasUsed: decimal("Gas used."),
  gasLimit: decimal("Gas limit."),
});

/** Outcome of a mined transaction. */
export const TransactionStatus = Type.Enum(["succeeded", "reverted"]);

/** A transaction in a list. */
export const TransactionSummary = Type.Object({
  hash: hex("Hash."),
  status: nullable(TransactionStatus, "`null` if it was not read."),
  blockNumber: decimal("Number of its block."),
  at: time("Time of its block."),
  from: Party,
  to: nullable(Party, "`null` if it creates a contract."),
  created: nullable(Party, "The contract that it creates."),
  method: Type.String({ description: "Name of the called function, or its selector; empty for a transfer." }),
  valueWei: decimal("Value in wei."),
  feeWei: Type.Optional(decimal("What it cost, in wei; absent if its outcome was not read.")),
  failure: Type.Optional(
    Type.String({
      description:
        "What failed in it although it succeeded itself, such as `callback failed` or `2 × draw failed`; absent if nothing did.",
    }),
  ),
  requests: Type.Optional(
    Type.Object(
      {
        count: Type.Integer(),
        kind: Type.Optional(RequestSummary.properties.kind),
        title,
        result: Type.Optional(
          Type.String({ description: "Result of a single one that it answers, in one line." }),
        ),
      },
      {
        description:
          "The service's own requests that it makes or answers, or whose random words it delivers, with kind and title if they share them; absent without any, and beyond the first 200 of a list.",
      },
    ),
  ),
});

/** A network as everybody may see it, without a key. */
export const ExplorerNetwork = Type.Object({
  ...Type.Omit(NetworkView, ["nodes"]).properties,
  contracts: Type.Optional(
    Type.Object(NetworkView.properties.contracts.properties, {
      description: "The contracts' addresses; absent until the chain is known.",
    }),
  ),
  head: Type.Optional(
    Type.Object(
      {
        number: decimal("Its number."),
        at: time("Its time."),
        agoMs: Type.Integer({ description: "How long ago the node named it, in milliseconds." }),
      },
      { description: "The newest block that was seen; while the chain can't be read, the last one." },
    ),
  ),
});

/** A chain's newest blocks and transactions. */
export const ChainOverview = Type.Object({
  network: Type.String(),
  title: Type.String(),
  chainId: Type.Integer(),
  headNumber: decimal("Number of the newest block."),
  contracts: Type.Array(Party),
  blocks: Type.Array(BlockSummary, { description: "Newest first." }),
  transactions: Type.Array(TransactionSummary, { description: "Newest first." }),
});

/** A page of a chain's blocks. */
export const BlockListView = Type.Object({
  network: Type.String(),
  headNumber: decimal("Number of the newest block."),
  blocks: Type.Array(BlockSummary, { description: "Newest first." }),
  older: older("blocks"),
});

/** A block with its transactions. */
export const BlockView = Type.Object({
  ...BlockSummary.properties,
  network: Type.String(),
  parentHash: hex("Hash of the parent block."),
  miner: nullable(Party, "Who receives its fees; `null` where the chain names nobody."),
  baseFeeWei: nullable(decimal("Price of a unit of gas that is burnt, in wei."), "`null` without EIP-1559."),
  headNumber: decimal("Number of the newest block."),
  transactions: Type.Array(TransactionSummary),
  requests: Type.Optional(
    Type.Array(RequestSummary, {
      description:
        "Those of the service's own among the first 200 requests that its transactions make or answer, or whose random words they deliver, in their order; absent without a transaction.",
    }),
  ),
  moreRequests: further("requests they make or answer, whosever they are"),
});

/** A page of an address's transactions. */
export const AddressTransactions = Type.Object({
  transactions: Type.Array(TransactionSummary, {
    description:
      "Newest first: those that it sent or received, that created it, or that call others with its address in the arguments.",
  }),
  searched: Searched,
  older: older("transactions"),
  isForgotten: Type.Boolean({
    description: "The node no longer has older data; with an index, it lacks some of it.",
  }),
  isIndexed: Type.Boolean({
    description:
      "Whether the page comes from an index by address; it then includes transactions in which the address emitted a log.",
  }),
});

/** A page of a chain's transactions. */
export const TransactionList = Type.Object({
  network: Type.String(),
  transactions: Type.Array(TransactionSummary, { description: "Newest first." }),
  searched: Searched,
  older: older("transactions"),
});

/** An address: its balance, and a page of its transactions. */
export const AddressView = Type.Object({
  ...Party.properties,
  network: Type.String(),
  balanceWei: decimal("Its balance, in wei."),
  linkJuels: Type.Optional(decimal("How much LINK it holds, in juels (1e-18 LINK); absent if unknown.")),
  nonce: Type.Integer(),
  codeBytes: Type.Integer({
    description: "Size of its code; 0 for an account, 23 for one that delegates to a contract.",
  }),
  delegatesTo: nullable(
    Party,
    "Contract whose code the account runs as its own (EIP-7702); `null` for contracts and for all other accounts.",
  ),
  hasSource: Type.Boolean({ description: "Whether it is a contract whose source is known here." }),
  about: Type.Optional(Type.String({ description: "What it does here, in a sentence; absent if unknown." })),
  createdIn: Type.Optional(
    hex("The transaction that created the contract; absent if that is not in the index by address."),
  ),
  createdBy: Type.Optional({
    ...Party,
    description: "Who sent that transaction; of what holds a preset's source, the contract that created it.",
  }),
  storedSource: Type.Optional(
    Type.Object(
      {
        sourceId: Type.Integer({ description: "Its id in PresetConsumer." }),
        preset: Type.Optional(
          Type.Object(
            { name: Type.String(), title: Type.String() },
            { description: "The preset whose source it is; absent if none here has it." },
          ),
        ),
      },
      { description: "The source of a preset that the contract holds as its code; absent if it holds none." },
    ),
  ),
  linkedIn: Type.Optional(
    hex("The transaction that linked the contract as a consumer of a dapp here; absent if none did."),
  ),
  contractsCreated: Type.Array(
    Type.Object({ ...Party.properties, codeBytes: Type.Integer({ description: "Size of its code." }) }),
    {
      description:
        "Contracts that a contract created (CREATE) and that have code, the newest first: of the last 25 numbers that its nonce counts, on the first page only.",
    },
  ),
  events: Type.Array(
    Type.Object({
      transactionHash: hex("Its transaction, which has all of it."),
      ...Type.Pick(EventView, ["logIndex", "event", "topics"]).properties,
      fields: Type.Array(DecodedValue, {
        description:
          "Values are cut to 100 characters and lists to 8 entries; `…` takes the place of the rest.",
      }),
      data: Type.Optional(hex("Its data where no known interface declares it: at most the first 256 bytes.")),
    }),
    { description: "What it emitted in the page's transactions, the first 100." },
  ),
  moreEvents: further("events in them"),
  requests: Type.Array(RequestSummary, {
    description:
      "Those of the service's own among the first 200 requests that the page's transactions make or answer, or whose random words they deliver.",
  }),
  moreRequests: further("requests they make or answer, whosever they are"),
  ...AddressTransactions.properties,
});

/** A page of the LINK that an address sent and received. */
export const TransferList = Type.Object({
  network: Type.String(),
  transfers: Type.Array(
    Type.Object({
      transactionHash: hex("Its transaction."),
      blockNumber: decimal("Number of its block."),
      from: Party,
      to: Party,
      juels: decimal("Amount in juels (1e-18 LINK)."),
    }),
    { description: "Newest first; of the token itself, all that was moved." },
  ),
  transactions: Type.Array(TransactionSummary, {
    description: "Their transactions, as far as the node has them.",
  }),
  searched: Searched,
  older: older("transfers"),
});

/** A request that a contract made itself on a subscription, and its outcome. */
export const ContractRequestView = Type.Object({
  kind: Type.Enum(["random", "function"]),
  requestId: hex("Request id on the chain."),
  title: Type.Optional(
    Type.String({
      description: "A function: what its source or its arguments say it is; absent if they say nothing.",
    }),
  ),
  consumer: Party,
  at: Type.Optional(time("Time of its block; absent if the node no longer has the block.")),
  blockNumber: decimal("Number of its block."),
  transactionHash: hex("The transaction that made the request."),
  state: Type.Enum(["waiting", "fulfilled", "failed"]),
  waitsFor: Type.Optional(Type.String({ description: "What a pending request is waiting for, if known." })),
  answeredBy: Type.Optional(hex("The transaction that ended it.")),
  error: Type.Optional(Type.String({ description: "Why it failed." })),
  numWords: Type.Optional(Type.Integer({ description: "Number of random numbers delivered." })),
  words: Type.Optional(Type.Array(decimal("A random number."), { description: "The first ten." })),
  response: Type.Optional(hex("Result of a function.")),
  readings: Type.Optional(ReadingsView),
});

/** A page of requests that contracts made. */
export const ContractRequestList = Type.Object({
  network: Type.String(),
  consumer: Type.Optional(hex("The contract that made them; absent if the list is of several contracts.")),
  items: Type.Array(ContractRequestView, { description: "Newest first." }),
  searched: nullable(
    Searched,
    "The blocks that were searched for the page; `null` while the dapp has no subscriptions there yet.",
  ),
  older: older("requests"),
});

/** A contract: its code and, if it is known here, its source. */
export const ContractView = Type.Object({
  network: Type.String(),
  address: hex("Checksummed address."),
  name: Type.Optional(Type.String({ description: "Absent if its source isn't known here." })),
  code: hex("Its code on the chain."),
  abi: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description: "Its interface, as solc outputs it; empty if it isn't known.",
  }),
  build: Type.Union(
    [
      Type.Object({
        compiler: Type.String({ description: "Version of solc." }),
        optimizerRuns: Type.Integer(),
        evmVersion: Type.String(),
        sources: Type.Array(Type.Object({ path: Type.String(), content: Type.String() }), {
          description: "Its own source first, then its imports.",
        }),
      }),
      Type.Null(),
    ],
    { description: "`null` if no source is known whose compiler's output is the code on chain." },
  ),
  constructorArguments: nullable(
    Type.Array(DecodedValue),
    "`null` if the transaction that created it isn't known, or its input is not the creation code of the code on chain.",
  ),
});

/** A transaction with everything that could be decoded from it. */
export const TransactionView = Type.Object({
  network: Type.String(),
  hash: hex("Hash."),
  status: Type.Enum(["pending", "succeeded", "reverted"]),
  revertReason: Type.Optional(Type.String()),
  block: nullable(
    Type.Object({
      number: decimal("Number."),
      hash: hex("Hash."),
      at: time("Time."),
      confirmations: decimal("Number of blocks from it to the newest, both included."),
    }),
  ),
  index: nullable(Type.Integer(), "Index in the block."),
  from: Party,
  to: nullable(Party),
  created: nullable(Party, "The contract that it created."),
  nonce: Type.Integer(),
  valueWei: decimal("Value in wei."),
  gasLimit: decimal("Gas limit."),
  gasUsed: nullable(decimal("Gas used.")),
  gasPriceWei: decimal("Price of a unit of gas in wei."),
  input: hex("Calldata."),
  call: nullable(DecodedCall, "The decoded call, where the interface is known."),
  randomRequests: Type.Array(RandomRequestView, { description: "Requests for random words that it made." }),
  randomness: Type.Array(RandomnessView, {
    description: "VRF proofs in it, each with its words and their outcome.",
  }),
  joins: Type.Array(JoinView, { description: "Joined words of several proving keys." }),
  presets: Type.Array(PresetRunView, {
    description: "Presets that it requested or answered, or whose random words it delivered.",
  }),
  functionRequests: Type.Array(FunctionRequestView, {
    description: "Requests to run a function that it made.",
  }),
  functionResults: Type.Array(FunctionResultView, { description: "Function results in it." }),
  requests: Type.Optional(
    Type.Array(RequestSummary, {
      description: "Those of the service's own requests that it makes or answers; absent without any.",
    }),
  ),
  reports: Type.Array(ReportView, { description: "The oracle network's signed reports in it." }),
  events: Type.Array(EventView, {
    description: "Its logs, decoded where the interface is known: the first 1,000.",
  }),
  moreEvents: further("logs it has"),
});

/** What a search found. */
export const SearchResult = Type.Object({
  query: Type.String(),
  takenFor: Type.Array(Type.String(), { description: "What the text was searched as." }),
  hits: Type.Array(SearchHit, { description: "The hits: `network`, `kind` and an identifier." }),
  paths: Type.Array(Type.String(), {
    description:
      "Pages of the application, in the order of the hits; then those without a hit: a shared result, presets and networks of that name.",
  }),
  silent: Type.Array(Type.String(), { description: "Networks that could not be searched." }),
  older: Type.Array(
    Type.Object({
      network: Type.String(),
      before: Type.String({ description: "Where to go on: a block, or a log of one." }),
    }),
    {
      description:
        "Networks where older requests may have the label: search again with `network` and `before`.",
    },
  ),
  matches: Type.Optional(
    Type.Object(Matches.properties, {
      description:
        "How many requests have the text in their label, title or result, among the newest 1,000 on chain; absent if they were not looked through.",
    }),
  ),
  reason: Type.Optional(Type.String({ description: "Why nothing was found." })),
});

/** What is on chain of a request, and so for everyone. */
const OPEN = {
  preset: Type.Optional(Type.String({ description: "Name of the preset; absent for others." })),
  title,
  params: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "A preset's parameters, whose values are on chain; absent once they were deleted here.",
    }),
  ),
  args: Type.Optional(
    Type.Array(Type.String(), {
      description: "A function's arguments, which are on chain; absent once they were deleted here.",
    }),
  ),
  parameterTitles: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "What the preset calls its parameters, by name, as far as it says it.",
    }),
  ),
  givenLabel,
  dappId: Type.Optional(
    Type.String({ description: "Id of the dapp, on chain with the label; absent without one." }),
  ),
  dappName: Type.Optional(
    Type.String({
      description:
        "What that dapp calls itself, or its operator: nothing proves it. Absent without a label, of a dapp that was deleted, and of one with the name of the first, `default`.",
    }),
  ),
  requestedIn: Type.Optional(hex("The transaction with the request, if still known.")),
};

/** A result as anyone who knows its id may see it. */
export const SharedResult = Type.Object({
  id: Type.String(),
  network: Type.String(),
  updatedAt: time("When the result was stored."),
  ...OPEN,
  outcome: Type.Union([PresetResult, FunctionResult, RandomResult]),
  shown: Type.Optional(ShownResult),
});

/** A request without a result, as anyone who knows its id may see it: nothing that is neither on chain nor in that id. */
export const SharedRequest = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(["waiting", "failed"], {
      description: "`waiting`: it has no result yet; ask again. `failed`: it will have none.",
    }),
    why: Type.String({ description: "What it waits for, or that it failed." }),
    createdAt: time("When it was made, which its id tells, too."),
    shareUrl: Type.String({ description: "Public page of its result." }),
    beacon: Type.Optional(BeaconView),
    kind: Type.Optional(Type.Enum(["preset", "random", "function"])),
    network: Type.Optional(Type.String()),
    requestId: Type.Optional(hex("Its id on the chain.")),
    label: Type.Optional(Type.String()),
    ...OPEN,
  },
  { description: "What is known of a request without a result; all after `beacon` once it is on chain." },
);

/** A result or, while there is none, its request. */
export const Shared = Type.Union([SharedResult, SharedRequest], {
  description: "A result, with `outcome`; without one, the request, with `state`.",
});

/** What a node answered: enough to check a result again without it. */
export const ChainData = Type.Object({
  format: Type.Literal("tyche-chain-data/1"),
  answers: Type.Array(
    Type.Object({
      method: Type.String({ description: "JSON-RPC method." }),
      params: Type.Array(Type.Unknown()),
      result: Type.Optional(Type.Unknown({ description: "Absent if the node answered with an error." })),
      error: Type.Optional(
        Type.Object({ message: Type.String(), data: Type.Optional(hex("What a call reverted with.")) }),
      ),
    }),
  ),
});
