import type { Command } from "commander";
import type { UsageDay } from "../client/index.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { countOf } from "../lib/countOf.ts";
import type { Terminal } from "./terminal.ts";

interface UsageFlags extends ServiceFlags {
  readonly from?: string;
  readonly to?: string;
  readonly network?: string;
  readonly json?: true;
  readonly csv?: true;
}

/** Adds `tyche usage`. */
export function registerUsage(program: Command, { out, err, colors }: Terminal): void {
  withService(program.command("usage"))
    .description("Shows what a dapp has used and spent, by day (UTC) and network.")
    .option("--from <day>", "first day (default: 29 days before the last one)")
    .option("--to <day>", "last day (default: today)")
    .option("--network <name>", "only that network")
    .option("--json", "print JSON")
    .option("--csv", "print CSV")
    .action(async ({ from, to, network, json, csv, ...flags }: UsageFlags) => {
      const { client } = await connectService(flags);
      const report = await client.usage({
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        ...(network === undefined ? {} : { network }),
      });
      if (json) return out(JSON.stringify(report, null, 2));
      if (csv) {
        const { writeUsageCsv } = await import("../requests/read/usageReport.ts");
        return out(writeUsageCsv({ ...report, items: [...report.items] }).trimEnd());
      }
      if (report.items.length === 0) return err(colors.dim(`no usage from ${report.from} to ${report.to}`));
      const isPaidInCoin = report.items.some(
        ({ coinWei, toppedUpWei }) => coinWei !== "0" || toppedUpWei !== "0",
      );
      const networks = isPaidInCoin ? await client.networks() : [];
      const symbolOf = new Map(networks.map(({ name, coin }) => [name, coin]));
      const { formatEther } = await import("viem");
      for (const day of report.items)
        out(describeDay(day, symbolOf.get(day.network ?? "") ?? "coin", formatEther));
    });
}

function describeDay(day: UsageDay, symbol: string, format: (amount: bigint) => string): string {
  const requests = Object.values(day.requests).reduce((sum, value) => sum + value, 0);
  const counts = [
    countOf(requests, "request"),
    `${day.fulfilled} fulfilled`,
    `${day.failed} failed`,
    `${day.refused} refused`,
    countOf(day.dryRuns, "dry run"),
    countOf(day.words, "word"),
    `${day.gasUsed} gas`,
    `${format(BigInt(day.linkJuels))} LINK`,
    ...(day.coinWei === "0" ? [] : [`${format(BigInt(day.coinWei))} ${symbol}`]),
    ...(day.toppedUpJuels === "0" ? [] : [`topped up with ${format(BigInt(day.toppedUpJuels))} LINK`]),
    ...(day.toppedUpWei === "0" ? [] : [`topped up with ${format(BigInt(day.toppedUpWei))} ${symbol}`]),
  ];
  return `${day.day}  ${(day.network ?? "-").padEnd(14)}  ${counts.join("  ")}`;
}
