import type { Draft } from "./draft.ts";

/** A draft to start from. */
export interface Example {
  readonly title: string;
  readonly draft: Omit<Draft, "network">;
}

/** From the first, which needs no network, to sources that query several hosts. */
export const EXAMPLES: readonly Example[] = [
  {
    title: "Twice a number",
    draft: {
      args: ["21"],
      returnType: "uint256",
      source: `// The body of an async function. \`args\` are the arguments; the result is bytes.
const number = BigInt(args[0]);
console.log("twice", number);
return Functions.encodeUint256(number * 2n);
`,
    },
  },
  {
    title: "HTTP GET: a price",
    draft: {
      args: ["ETH-USD"],
      returnType: "uint256",
      source: `// The price of a pair in cents.
const [pair] = args;
const response = await Functions.makeHttpRequest({
  url: \`https://api.coinbase.com/v2/prices/\${pair}/spot\`,
});
if (response.error) throw new Error(response.message ?? "no answer");
return Functions.encodeUint256(Math.round(Number(response.data.data.amount) * 100));
`,
    },
  },
  {
    title: "HTTP POST: JSON",
    draft: {
      args: ["hello"],
      returnType: "string",
      source: `// Posts JSON, and returns what the server says that it received.
const response = await Functions.makeHttpRequest({
  url: "https://httpbin.org/post",
  method: "POST",
  headers: { "Content-Type": "application/json" },
  data: { message: args[0] },
});
if (response.error) throw new Error(response.message ?? "no answer");
return Functions.encodeString(response.data.json.message);
`,
    },
  },
  {
    title: "GraphQL: a country",
    draft: {
      args: ["CH"],
      returnType: "string",
      source: `// Variables keep arguments out of the query's text.
const response = await Functions.makeHttpRequest({
  url: "https://countries.trevorblades.com/graphql",
  method: "POST",
  headers: { "Content-Type": "application/json" },
  data: {
    query: "query ($code: ID!) { country(code: $code) { name capital currency } }",
    variables: { code: args[0] },
  },
});
if (response.error) throw new Error(response.message ?? "no answer");
const { country } = response.data.data;
return Functions.encodeString(\`\${country.name}: \${country.capital}, \${country.currency}\`);
`,
    },
  },
  {
    title: "HTTP with an API key",
    draft: {
      args: [],
      returnType: "string",
      secrets: ["API_KEY"],
      source: `// First set the secret API_KEY on the dapp's page, with the host httpbin.org. That server takes any key: make one up.
const response = await Functions.makeHttpRequest({
  url: "https://httpbin.org/bearer",
  headers: { Authorization: \`Bearer \${secrets.API_KEY}\` },
});
if (response.error) throw new Error(response.message ?? "no answer");
return Functions.encodeString(response.data.authenticated ? "let in" : "kept out");
`,
    },
  },
  {
    title: "import ethers: ABI encoding",
    draft: {
      args: ["7", "seven"],
      returnType: "string",
      source: `// Needs a service that was started with TYCHE_ALLOW_MODULES=npm:ethers@6
const { AbiCoder, getBytes } = await import("npm:ethers@6.17.0");
const encoded = AbiCoder.defaultAbiCoder().encode(["uint256", "string"], [args[0], args[1]]);
// A contract reads it with abi.decode(result, (uint256, string)).
return getBytes(encoded);
`,
    },
  },
  {
    title: "Several sources: the median price",
    draft: {
      args: ["ETH"],
      returnType: "uint256",
      source: `// One source that fails or lies does not decide: the median of those that answer, in cents.
const [coin] = args;
const sources = [
  { url: \`https://api.coinbase.com/v2/prices/\${coin}-USD/spot\`, read: (data) => data.data.amount },
  { url: \`https://api.gemini.com/v1/pubticker/\${coin.toLowerCase()}usd\`, read: (data) => data.last },
  { url: \`https://www.bitstamp.net/api/v2/ticker/\${coin.toLowerCase()}usd/\`, read: (data) => data.last },
];
const prices = [];
await Promise.all(
  sources.map(async ({ url, read }) => {
    const response = await Functions.makeHttpRequest({ url, timeout: 5000 });
    if (response.error) console.log(new URL(url).host, "failed:", response.message);
    else prices.push(Number(read(response.data)));
  }),
);
if (prices.length < 2) throw new Error(\`only \${prices.length} of \${sources.length} sources answered\`);
prices.sort((a, b) => a - b);
const middle = prices.length >> 1;
const median = prices.length % 2 ? prices[middle] : (prices[middle - 1] + prices[middle]) / 2;
return Functions.encodeUint256(Math.round(median * 100));
`,
    },
  },
];
