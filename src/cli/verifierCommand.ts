import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";

const EXAMPLES = `
Examples:
  $ tyche verifier build
  $ tyche verifier build --out /var/www/verifier.html

The file needs no server: open it in a browser. A node that refuses pages of files (CORS) can be asked from a page that is served, or the
save chain data with tyche verify --save FILE and open it in the page.`;

/** Adds `tyche verifier build`; `build` returns the page's HTML. */
export function registerVerifier(
  program: Command,
  { out }: Terminal,
  { build }: { readonly build: () => Promise<string> },
): void {
  program
    .command("verifier")
    .description("Builds the page that verifies results in a browser.")
    .command("build")
    .description("Writes the page as one self-contained HTML file.")
    .option("--out <file>", "file to write", "verifier.html")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: { readonly out: string }) => {
      await writeFile(flags.out, await build());
      out(flags.out);
    });
}
