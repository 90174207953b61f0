import { hexToBytes, keccak256, toHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  MAX_REQUEST_BYTES,
  MalformedRequestError,
  decodeArgs,
  decodeFunctionsRequest,
  encodeArgs,
  encodeFunctionsRequest,
} from "../../src/chainlink/functionsRequest.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { compileSolidity } from "../support/solidity.ts";

const WORD = hexToBytes(keccak256("0x"));

describe("encodeFunctionsRequest", () => {
  const ENCODER = compileSolidity(
    "Encoder",
    `pragma solidity ^0.8.19;
    import {FunctionsRequest} from "@chainlink/contracts/src/v0.8/functions/v1_0_0/libraries/FunctionsRequest.sol";
    contract Encoder {
      using FunctionsRequest for FunctionsRequest.Request;
      function encode(string memory source, string[] memory args, bytes[] memory bytesArgs) external pure returns (bytes memory) {
        FunctionsRequest.Request memory request;
        request.initializeRequestForInlineJavaScript(source);
        if (args.length > 0) request.setArgs(args);
        if (bytesArgs.length > 0) request.setBytesArgs(bytesArgs);
        return request.encodeCBOR();
      }
    }`,
  );
  let chain: TestChain;
  let address: Hex;
  beforeAll(async () => {
    chain = await startTestChain();
    await chain.send(testAccount(0), { data: ENCODER.bytecode });
    address = (
      await chain.viem.getTransactionReceipt({ hash: (await chain.viem.getBlock()).transactions[0]! })
    ).contractAddress!;
  });
  afterAll(() => chain.close());

  /**
   * From `buildRequestCBOR` of functions-toolkit 0.3.2 under Node 20. Under Node 26 it returns only the first byte, and on every version it
   * truncates a long source.
   */
  const TOOLKIT = {
    source: "0xa366736f757263656872657475726e20316c636f64654c616e6775616765006c636f64654c6f636174696f6e00",
    args: "0xa46461726773836161606ec3bc6ec3af636f646520f09f8eb266736f757263656872657475726e20316c636f64654c616e6775616765006c636f64654c6f636174696f6e00",
    bytesArgs:
      "0xa466736f757263656872657475726e20316962797465734172677383404200ff5820c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a4706c636f64654c616e6775616765006c636f64654c6f636174696f6e00",
    both: "0xa5646172677381613166736f757263656872657475726e2031696279746573417267738141016c636f64654c616e6775616765006c636f64654c6f636174696f6e00",
    manyArgs:
      "0xa464617267739818613061316132613361346135613661376138613962313062313162313262313362313462313562313662313762313862313962323062323162323262323366736f7572636561786c636f64654c616e6775616765006c636f64654c6f636174696f6e00",
  } as const;

  test.each([
    ["a source alone", { source: "return 1" }, TOOLKIT.source],
    ["arguments", { source: "return 1", args: ["a", "", "ünïcode 🎲"] }, TOOLKIT.args],
    ["bytes", { source: "return 1", bytesArgs: ["0x", "0x00ff", toHex(WORD)] }, TOOLKIT.bytesArgs],
    ["both", { source: "return 1", args: ["1"], bytesArgs: ["0x01"] }, TOOLKIT.both],
    [
      "24 arguments",
      { source: "x", args: Array.from({ length: 24 }, (_, i) => String(i)) },
      TOOLKIT.manyArgs,
    ],
  ] as const)("gives the toolkit's bytes for %s", (_, request, bytes) => {
    expect(toHex(encodeFunctionsRequest(request))).toBe(bytes);
  });

  test.each([
    ["a source alone", { source: "return 1" }],
    ["empty lists", { source: "return 1", args: [], bytesArgs: [] }],
    [
      "arguments and bytes",
      { source: "return 1", args: ["a", "ünïcode 🎲"], bytesArgs: ["0x", toHex(WORD)] },
    ],
    ["23 and 24 bytes, where the head grows", { source: "x".repeat(23), args: ["y".repeat(24)] }],
    ["255 and 256 bytes", { source: "x".repeat(255), args: ["y".repeat(256)] }],
    ["20,000 bytes", { source: "x".repeat(20_000) }],
  ] as const)("says the same as FunctionsRequest.sol for %s", async (_, request) => {
    const { source, args = [], bytesArgs = [] } = request as Parameters<typeof encodeFunctionsRequest>[0];
    const onChain = await chain.viem.readContract({
      address,
      abi: ENCODER.abi,
      functionName: "encode",
      args: [source, args, bytesArgs],
    });
    const decoded = { source, args, bytesArgs, codeLocation: 0, language: 0 };
    expect(decodeFunctionsRequest(hexToBytes(onChain as Hex))).toEqual(decoded);
    expect(decodeFunctionsRequest(encodeFunctionsRequest(request))).toEqual(decoded);
  });
});

describe("decodeArgs", () => {
  test.each([[[]], [["1", '["a","b"]', "ünïcode 🎲", ""]], [Array.from({ length: 24 }, String)]])(
    "gives back what was encoded: %j",
    (args) => {
      expect(decodeArgs(encodeArgs(args))).toEqual(args);
    },
  );

  test.each([
    ["a list of numbers", "8101"],
    ["a text", "6131"],
    ["a list that ends early", "826131"],
    ["bytes after the list", "81613100"],
    ["a length beyond memory", "9b7fffffffffffffff"],
  ])("refuses %s", (_, hex) => {
    expect(() => decodeArgs(Buffer.from(hex, "hex"))).toThrow(MalformedRequestError);
  });
});

describe("decodeFunctionsRequest", () => {
  test("takes secrets", () => {
    // From `buildRequestCBOR` of functions-toolkit 0.3.2 under Node 20.
    const request =
      "0xa7646172677381616166736f757263656872657475726e2031677365637265747342abcd69627974657341726773814201026c636f64654c616e6775616765006c636f64654c6f636174696f6e006f736563726574734c6f636174696f6e02";
    expect(decodeFunctionsRequest(hexToBytes(request))).toEqual({
      source: "return 1",
      args: ["a"],
      bytesArgs: ["0x0102"],
      codeLocation: 0,
      language: 0,
      secretsLocation: 2,
      secrets: "0xabcd",
    });
  });

  test.each([
    ["nothing", ""],
    ["no source", "64617267739f6131ff"],
    ["a source that is a number", "66736f7572636501"],
    ["arguments that are no list", "66736f7572636561786461726773616e"],
    ["arguments that are numbers", "66736f75726365617864617267738101"],
    ["bytes that are texts", "66736f75726365617869627974657341726773816131"],
    ["a list", "81".repeat(3) + "01"],
    ["a text that ends early", "66736f7572636578ff61"],
    ["10,000 nested lists", "66736f75726365" + "81".repeat(10_000) + "01"],
    ["a length beyond memory", "66736f757263657b7fffffffffffffff"],
    ["a code location that is a text", "66736f7572636561786c636f64654c6f636174696f6e6130"],
  ])("refuses %s", (_, hex) => {
    expect(() => decodeFunctionsRequest(Buffer.from(hex, "hex"))).toThrow(MalformedRequestError);
  });

  test("refuses more than 30,720 bytes", () => {
    const overhead = encodeFunctionsRequest({ source: "x".repeat(30_000) }).length - 30_000;
    const longest = encodeFunctionsRequest({ source: "x".repeat(MAX_REQUEST_BYTES - overhead) });
    expect(decodeFunctionsRequest(longest).source.length).toBe(MAX_REQUEST_BYTES - overhead);
    expect(() => decodeFunctionsRequest(Buffer.concat([longest, longest]))).toThrow(
      /61440 bytes of at most 30720/,
    );
  });
});
