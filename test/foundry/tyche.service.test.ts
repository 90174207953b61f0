import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test, vi } from "vitest";
import { runCli } from "../cli/runCli.ts";
import { makeReaderFolder, readerEnvironment } from "../project/support/readerFolder.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";

const PROJECT = {
  "foundry.toml": `
[profile.default]
ffi = true
remappings = ["tyche/=node_modules/tyche/foundry/"]`,
  "test/Failures.t.sol": `
pragma solidity ^0.8.19;
import {Dice} from "../src/Dice.sol";
import {Sum} from "../src/Sum.sol";
import {Tyche, connectTyche} from "tyche/Tyche.sol";

contract FailuresTest {
  Tyche private tyche;

  function setUp() external {
    tyche = connectTyche("sepolia");
  }

  function test_notLinked() external {
    Dice dice = Dice(tyche.deploy(type(Dice).creationCode));
    tyche.send(address(dice), abi.encodeCall(Dice.roll, ()));
  }

  function test_notLinkedForFunctions() external {
    Sum sum = Sum(tyche.deploy(type(Sum).creationCode));
    tyche.send(address(sum), abi.encodeCall(Sum.ask, (new string[](0))));
  }

  function test_noRequest() external {
    tyche.words(tyche.sendValue(address(0xb0b), "", 1 ether));
  }

  function test_functionThrows() external {
    Sum sum = Sum(tyche.deploy(type(Sum).creationCode));
    tyche.link(address(sum));
    string[] memory args = new string[](1);
    args[0] = "x";
    tyche.functionResult(tyche.send(address(sum), abi.encodeCall(Sum.ask, (args))));
  }

  function test_noNetwork() external {
    connectTyche("nowhere");
  }
}`,
  "test/Many.t.sol": `
pragma solidity ^0.8.19;
import {Dice} from "../src/Dice.sol";
import {Tyche, connectTyche} from "tyche/Tyche.sol";

contract Sender {
  address public deployer = msg.sender;
}

contract ManyTest {
  Tyche private tyche;

  function setUp() external {
    tyche = connectTyche("sepolia");
  }

  function test_1() external {
    deploy();
  }

  function test_2() external {
    deploy();
  }

  function test_3() external {
    deploy();
  }

  function test_otherSender() external {
    tyche.sender = 0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f;
    Sender sender = Sender(tyche.deploy(type(Sender).creationCode));
    require(sender.deployer() == tyche.sender, "another deployer");
  }

  function deploy() private {
    for (uint256 i = 0; i < 3; ++i) Dice(tyche.deploy(type(Dice).creationCode)).resultOf(0);
  }
}`,
};

let tyche: SharedDapp;
const folder = makeReaderFolder();
shared.beforeAll(async ({ service }) => {
  tyche = await joinService(service);
  for (const [name, text] of Object.entries(PROJECT)) write(name, text);
  for (const [name, ...options] of [["Dice.sol"], ["Sum.sol", "--functions"]] as const) {
    const args = ["dapp", "contract", tyche.dappId, "--network", "sepolia", ...options];
    // The subscriptions appear a moment after the dapp.
    const source = await vi.waitUntil(
      async () => (await runCli(args, "", { TYCHE_DATA_DIR: tyche.dataDir })).stdout,
      { timeout: 60_000 },
    );
    write(`src/${name}`, source);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): void {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Runs the tests of a contract; returns why each failed, `null` where it passed. */
async function runForge(contract: string): Promise<Readonly<Record<string, string | null>>> {
  const env = {
    ...readerEnvironment(folder),
    TYCHE_URL: tyche.url,
    TYCHE_API_KEY: tyche.apiKey,
    TYCHE_DATA_DIR: tyche.dataDir,
  };
  const args = ["test", "--json", "--allow-failure", "--match-contract", contract];
  const { stdout } = await promisify(execFile)(path.join(folder, "bin/forge"), args, { cwd: folder, env });
  const [suite] = Object.values(JSON.parse(stdout) as Record<string, Suite>);
  return Object.fromEntries(
    Object.entries(suite!.test_results).map(([name, { status, reason }]) => [
      name,
      status === "Success" ? null : reason,
    ]),
  );
}

interface Suite {
  readonly test_results: Record<string, { readonly status: string; readonly reason: string | null }>;
}

test("what fails on the chain or in the service fails the test, with the reason", async () => {
  expect(await runForge("FailuresTest")).toEqual({
    "test_notLinked()": "Tyche: the contract is not linked: tyche.link(address)",
    "test_notLinkedForFunctions()": "Tyche: the contract is not linked: tyche.link(address)",
    "test_noRequest()": expect.stringContaining("no linked contract requested random words in 0x"),
    "test_functionThrows()": expect.stringContaining("Cannot convert x to a BigInt"),
    "test_noNetwork()": "Tyche: the service has no embedded network nowhere",
  });
});

test("tests that run at once get each a contract of its own", async () => {
  expect(await runForge("ManyTest")).toEqual({
    "test_1()": null,
    "test_2()": null,
    "test_3()": null,
    "test_otherSender()": null,
  });
});
