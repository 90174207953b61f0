import type { Command } from "commander";
import type { TycheClient } from "../client/index.ts";
import { connectService, type AnyPresets, type ServiceFlags } from "./connectService.ts";
import { nextPage } from "./nextPage.ts";
import { wholeNumber } from "./parseNumber.ts";
import type { Terminal } from "./terminal.ts";

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

interface PageFlags extends ServiceFlags {
  readonly json?: true;
  readonly limit: number;
  readonly cursor?: string;
}

/** Lets a command with `--json` list things page by page: all of them, or those that belong to its `<id>`. */
export function listPages<Item>(
  command: Command,
  { out, err, colors }: Terminal,
  list: {
    readonly read: (
      client: TycheClient<AnyPresets>,
      page: { readonly limit: number; readonly cursor?: string },
      /** Options of the command that take text. */
      flags: Readonly<Record<string, string | undefined>>,
      /** The command's argument, if it has one. */
      id: string,
    ) => Promise<Page<Item>>;
    readonly describe: (item: Item) => string;
    /** Names of the columns, above the items. */
    readonly head?: string;
    /** Said of an empty first page. */
    readonly none: string;
  },
): void {
  command
    .option("--limit <number>", "most to list: 1 to 100", wholeNumber(1, 100), 20)
    .option("--cursor <cursor>", "cursor printed with the previous page")
    .action(async (...given: readonly unknown[]) => {
      const its = given.at(-1) as Command;
      const { limit, cursor, json, ...service } = its.opts<PageFlags>();
      const { client } = await connectService(service);
      const which = { limit, ...(cursor === undefined ? {} : { cursor }) };
      const page = await list.read(client, which, its.opts(), its.args[0] ?? "");
      if (json) return out(JSON.stringify(page, null, 2));
      if (page.items.length === 0) return err(list.none);
      if (list.head !== undefined) out(colors.dim(list.head));
      for (const item of page.items) out(list.describe(item));
      if (page.nextCursor !== null)
        err(colors.dim(`more: ${nextPage(its, { flag: "--cursor", value: page.nextCursor })}`));
    });
}
