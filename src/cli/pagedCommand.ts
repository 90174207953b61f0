import { type Command, InvalidArgumentError } from "commander";
import type { TycheClient } from "../client/index.ts";
import { connectService, type AnyPresets, type ServiceFlags } from "./connectService.ts";
import { nextPage } from "./nextPage.ts";
import type { Terminal } from "./terminal.ts";

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Lets a command with `<id>` and `--json` list what belongs to one thing, page by page. */
export function listPages<Item>(
  command: Command,
  { out, err, colors }: Terminal,
  list: {
    readonly read: (
      client: TycheClient<AnyPresets>,
      id: string,
      page: { readonly limit: number; readonly cursor?: string },
      /** Options of the command that take text. */
      flags: Readonly<Record<string, string | undefined>>,
    ) => Promise<Page<Item>>;
    readonly describe: (item: Item) => string;
    /** Names of the columns, above the items. */
    readonly head?: string;
    /** Said of an empty first page. */
    readonly none: string;
  },
): void {
  interface Flags extends ServiceFlags {
    readonly json?: true;
    readonly limit: number;
    readonly cursor?: string;
  }
  command
    .option("--limit <number>", "most to list: 1 to 100", parseLimit, 20)
    .option("--cursor <cursor>", "cursor printed with the previous page")
    .action(async (id: string, flags: Flags, its: Command) => {
      const { limit, cursor } = flags;
      const { client } = await connectService(flags);
      const which = { limit, ...(cursor === undefined ? {} : { cursor }) };
      const page = await list.read(client, id, which, its.opts());
      if (flags.json) return out(JSON.stringify(page, null, 2));
      if (page.items.length === 0) return err(list.none);
      if (list.head !== undefined) out(colors.dim(list.head));
      for (const item of page.items) out(list.describe(item));
      if (page.nextCursor !== null)
        err(colors.dim(`more: ${nextPage(its, { flag: "--cursor", value: page.nextCursor })}`));
    });
}

/** Parses how many entries of a list to show. Throws commander's own error for anything else. */
export function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 100) throw new InvalidArgumentError("It must be a whole number from 1 to 100.");
  return limit;
}
