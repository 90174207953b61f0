import { Command } from "commander";
import pc from "picocolors";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Terminal } from "../../src/cli/terminal.ts";
import examples from "../../src/http/examples.json" with { type: "json" };
import { registerUsage } from "../../src/cli/usageCommand.ts";

const [network] = examples.listNetworks.answer.items;
const DAY = {
  day: "2026-11-24",
  network: "fantom_testnet",
  requests: { preset: 2, function: 0, random: 0, consumer: 0, unlink: 0 },
  fulfilled: 2,
  failed: 0,
  refused: 0,
  dryRuns: 0,
  words: 2,
  gasUsed: "400000",
  linkJuels: "0",
  coinWei: "3000000000000000",
  toppedUpJuels: "0",
  toppedUpWei: "0",
};

beforeEach(() => void vi.stubEnv("TYCHE_API_KEY", "tyche_key"));

/** Runs `tyche usage` on this day's usage; returns what it prints, and the paths that it asked for. */
async function run(day: typeof DAY) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url!);
    const data = request.url!.startsWith("/api/networks")
      ? { items: [{ ...network, name: "fantom_testnet", coin: "FTM" }] }
      : { from: DAY.day, to: DAY.day, items: [day] };
    response.end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  const terminal: Terminal = { out: write, err: write, isTerminal: false, colors: pc.createColors(false) };
  const program = new Command();
  registerUsage(program, terminal);
  const { port } = server.address() as AddressInfo;
  await program.parseAsync(["usage", "--url", `http://127.0.0.1:${port}`], { from: "user" });
  return { output: lines.join("\n"), paths };
}

test("what is paid in coin has the symbol that the service publishes", async () => {
  const { output } = await run(DAY);
  expect(output).toMatch(/^2026-11-24 {2}fantom_testnet {2}2 requests .* 0 LINK {2}0\.003 FTM$/);
});

test("of a network that the service no longer has, it is coin", async () => {
  expect((await run({ ...DAY, network: "gone" })).output).toMatch(/0\.003 coin$/);
});

test("what the subscriptions were topped up with is told", async () => {
  const { output } = await run({ ...DAY, toppedUpJuels: "20000000000000000000", toppedUpWei: "1000" });
  expect(output).toMatch(/topped up with 20 LINK {2}topped up with 0\.000000000000001 FTM$/);
});

test("without coin, the networks are not asked for", async () => {
  const { output, paths } = await run({ ...DAY, coinWei: "0", linkJuels: "7000000000000000" });
  expect(output).toMatch(/0\.007 LINK$/);
  expect(paths).toEqual(["/api/usage"]);
});
