import type { Command } from "commander";
import type {
  JsonSchemaType,
  jsonSchemaValidator,
  McpServer,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { ApiError, createExplorer, TycheClientError, type Hex, type TycheClient } from "../client/index.ts";
import { didYouMean } from "../lib/didYouMean.ts";
import { messageOf, TycheError } from "../lib/errors.ts";
import type { compileSchema } from "../lib/schemaCheck.ts";
import { version } from "../lib/version.ts";
import { BEACONS, RETURN_TYPES } from "../domain/vocabulary.ts";
import {
  connectService,
  serviceUrl,
  withService,
  type AnyPresets,
  type ServiceFlags,
} from "./connectService.ts";
import { dataDirOfEnvironment } from "./environment.ts";
import { parseRpcUrl } from "./parseRpcUrl.ts";

interface McpFlags extends ServiceFlags {
  readonly readOnly?: true;
  readonly rpcUrl?: string;
}

const HELP = `
A program that works with agents starts this command and speaks the Model Context Protocol with it over standard input and output. It
offers each preset, random numbers, functions, dry runs, requests with the reason why they wait, the explorer, and verify, which reads
a node of the chain and does not ask the service.

Example, for a program that reads mcpServers:
  {"mcpServers": {"tyche": {"command": "npx", "args": ["--no", "--", "tyche", "mcp"], "env": {"TYCHE_API_KEY": "…"}}}}

With --read-only no key is used, and nothing is drawn, run or paid for.`;

/** Adds `tyche mcp`. */
export function registerMcp(program: Command): void {
  withService(program.command("mcp"))
    .summary("Serves the API to agents (Model Context Protocol).")
    .description("Serves the API to agents by the Model Context Protocol, over standard input and output.")
    .option("--read-only", "use no key, and offer only what anyone may read")
    .option("--rpc-url <url>", "node that verify asks (default: the one in the data directory)", parseRpcUrl)
    .addHelpText("after", HELP)
    .action(async (flags: McpFlags) => {
      const sdk = await import("@modelcontextprotocol/server");
      const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
      const { compileSchema } = await import("../lib/schemaCheck.ts");
      const validator = createValidator(compileSchema);
      const tools = flags.readOnly
        ? readingTools(flags)
        : [...(await dappTools((await connectService(flags)).client)), ...readingTools(flags)];
      const server = new sdk.McpServer(
        { name: "tyche", title: "Tyche", version },
        { instructions: INSTRUCTIONS },
      );
      for (const tool of tools) addTool(server, tool, (schema) => sdk.fromJsonSchema(schema, validator));
      await server.connect(new StdioServerTransport());
    });
}

const INSTRUCTIONS =
  "Random numbers that are verifiable: a proof checked on chain. Every result has `shareUrl`, a page that shows the draw and verifies it, and " +
  "`value`, the result itself. Show the user the shareUrl of a draw. A draw can't be undone: don't draw again because a result is unwelcome.";

/** A tool: its arguments as JSON Schema, and what it does. */
interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly annotations: ToolAnnotations;
  readonly run: (given: never, signal: AbortSignal) => Promise<unknown>;
}

const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const CREATES: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
const NETWORK = { type: "string", description: "A network's name, as the tool networks lists them." };
const HASH = { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" };

/** Gives a tool to the server. A failed call is a result for the agent to read, with the members of the API's error. */
function addTool(
  server: McpServer,
  { name, title, description, properties, required = [], annotations, run }: Tool,
  toInputSchema: (schema: JsonSchemaType) => StandardSchemaWithJSON,
): void {
  const schema = { type: "object", properties, required, additionalProperties: false };
  const inputSchema = toInputSchema(schema as JsonSchemaType);
  server.registerTool(name, { title, description, annotations, inputSchema }, async (given, { mcpReq }) => {
    try {
      return toContent(await run(given as never, mcpReq.signal));
    } catch (error) {
      return { ...toContent(describe(error)), isError: true };
    }
  });
}

/** Creates a validator that says what is wrong with arguments as the API does. */
function createValidator(compile: typeof compileSchema): jsonSchemaValidator {
  const describeUnknown = (name: string, known: readonly string[]): string =>
    `is no argument; there ${known.length === 0 ? "are none" : `is ${known.join(", ")}`}${didYouMean(name, known)}`;
  return {
    // The interface's type parameter is what the schema describes.
    getValidator: ((schema: JsonSchemaType) => {
      const check = compile(schema, { describeUnknown });
      return (input: unknown) => {
        const violations = check(input).map(({ path, message }) => `${path} ${message}`);
        return violations.length === 0
          ? { valid: true as const, data: input, errorMessage: undefined }
          : { valid: false as const, data: undefined, errorMessage: violations.join("; ") };
      };
    }) as jsonSchemaValidator["getValidator"],
  };
}

function toContent(value: unknown) {
  return { content: [{ type: "text" as const, text: JSON.stringify(value) }] };
}

function describe(error: unknown): object {
  const message = messageOf(error);
  if (error instanceof ApiError) {
    const { code, details, id, retryAfterMs } = error;
    return { code, message, details, id, retryAfterMs };
  }
  const isKnown = error instanceof TycheClientError || error instanceof TycheError;
  return { code: isKnown ? error.code : "failed", message };
}

const beacon = (use: string) => ({
  enum: BEACONS,
  description: `A future round of drand ${use}; the answer takes some seconds more.`,
});

/** The tools that act for a dapp. */
async function dappTools(client: TycheClient<AnyPresets>): Promise<readonly Tool[]> {
  const presets = await client.presets();
  return [
    ...presets.map(({ name, description, parameters }): Tool => ({
      name: `preset_${name}`,
      title: name,
      description: `${description} The result follows from a random word that is proven on chain.`,
      properties: {
        params: parameters,
        network: NETWORK,
        confirmations: CONFIRMATIONS,
        beacon: beacon("that the result also follows from, so that nobody can have chosen it"),
        ...LABEL,
      },
      required: (parameters["required"] as readonly string[] | undefined)?.length ? ["params"] : [],
      annotations: CREATES,
      run: ({ params = {}, ...options }: { params?: Record<string, unknown> }, signal) =>
        client.preset(name, params, { ...options, signal }),
    })),
    {
      name: "random_numbers",
      title: "Random numbers",
      description: "Random 256-bit words, proven on chain, as decimal texts.",
      properties: {
        numWords: { type: "integer", minimum: 1, maximum: 500 },
        network: NETWORK,
        confirmations: CONFIRMATIONS,
        ...LABEL,
      },
      annotations: CREATES,
      run: (given: object, signal) => client.random(given, { signal }),
    },
    {
      name: "run_function",
      title: "Run a function",
      description: `Runs JavaScript on the oracle network and delivers its result on chain, signed by the nodes. ${SOURCE_HINT}`,
      properties: {
        ...FUNCTION,
        network: NETWORK,
        beacon: beacon("whose word the source gets as the last of bytesArgs"),
        ...LABEL,
      },
      required: ["source"],
      annotations: CREATES,
      run: (given: { source: string }, signal) => client.runFunction(given, { signal }),
    },
    {
      name: "simulate",
      title: "Dry run",
      description: `Runs JavaScript as the oracle's nodes would, in a sandbox; nothing goes on chain. ${SOURCE_HINT}`,
      properties: { ...FUNCTION, network: NETWORK },
      required: ["source"],
      annotations: { ...READS, openWorldHint: true },
      run: (given: { source: string }, signal) => client.simulate(given, { signal }),
    },
    {
      name: "request",
      title: "One request",
      description: "A request by its id: its states, its result, and, while it waits, why.",
      properties: { id: { type: "string" } },
      required: ["id"],
      annotations: READS,
      run: ({ id }: { id: string }, signal) => client.request(id, { signal }),
    },
    {
      name: "requests",
      title: "Requests",
      description: "The dapp's requests, newest first.",
      properties: {
        limit: { type: "integer", minimum: 1, maximum: 100 },
        cursor: { type: "string", description: "nextCursor of the page before." },
        network: NETWORK,
      },
      annotations: READS,
      run: (given: object, signal) => client.requests(given, { signal }),
    },
  ];
}

const CONFIRMATIONS = {
  type: "integer",
  minimum: 1,
  description: "Blocks that must hold the request before it is answered. Default: the network's minimum.",
};
const LABEL = {
  label: {
    type: "string",
    description: "What the request is for, on chain for all to see; 1 to 100 characters.",
  },
  once: {
    type: "boolean",
    description: "Whether it must be the only request with this label: a second one is refused.",
  },
};
const SOURCE_HINT =
  "The source is the body of an async function with `args` (texts) and Functions.makeHttpRequest; it returns bytes, such as Functions.encodeString(…) or Functions.encodeUint256(…).";
const FUNCTION = {
  source: { type: "string" },
  args: { type: "array", items: { type: "string" } },
  returnType: { enum: RETURN_TYPES },
  secrets: {
    type: "array",
    items: { type: "string" },
    description:
      "Names of the dapp's secrets on the network, which the source reads as `secrets.NAME`. Name them only for a source that may have them.",
  },
};

/** The tools that need no key. */
function readingTools(flags: McpFlags): readonly Tool[] {
  const explorer = createExplorer({ baseUrl: serviceUrl(flags) });
  return [
    {
      name: "networks",
      title: "Networks",
      description: "The networks that the service serves, with their contracts.",
      properties: {},
      annotations: READS,
      run: (_: object, signal) => explorer.networks({ signal }),
    },
    {
      name: "transaction",
      title: "Transaction",
      description: "A transaction with the requests, words and results in it.",
      properties: { network: NETWORK, hash: HASH },
      required: ["network", "hash"],
      annotations: READS,
      run: ({ network, hash }: { network: string; hash: string }, signal) =>
        explorer.transaction(network, hash, { signal }),
    },
    {
      name: "search",
      title: "Search",
      description:
        "Finds what a transaction's hash, a request's id or label, an address or a block's number stands for. `older` names networks on which a label can be looked for in older blocks, with `network` and `before`.",
      properties: { query: { type: "string" }, network: NETWORK, before: { type: "string" } },
      required: ["query"],
      annotations: READS,
      run: ({ query, network, before }: { query: string; network?: string; before?: string }, signal) =>
        explorer.search(query, network, { signal, before }),
    },
    {
      name: "verify",
      title: "Verify",
      description:
        "Verifies the results of a transaction from chain data alone, computed on this machine: `verdict` says whether they are valid, `steps` what was compared, `trust` what no check can show.",
      properties: { network: NETWORK, tx: HASH, requestId: HASH },
      required: ["network", "tx"],
      annotations: READS,
      async run({ tx, ...given }: { network: string; tx: Hex; requestId?: Hex }) {
        const { verifyWithTool } = await import("../app/tools/verifyTool.ts");
        return await verifyWithTool({
          ...given,
          which: tx,
          dataDir: dataDirOfEnvironment(),
          ...(flags.rpcUrl === undefined ? {} : { rpcUrl: flags.rpcUrl }),
        });
      },
    },
  ];
}
