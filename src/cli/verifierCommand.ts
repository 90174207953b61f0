import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";

const NOTE = `
The file needs no server: open it in a browser. If a node refuses pages opened from a file (CORS), serve the page, or save the chain data
with \`tyche verify --save FILE\` and open it there.`;

/** Adds `tyche verifier build`. */
export function registerVerifier(program: Command, { out }: Terminal): void {
  program
    .command("verifier")
    .description("Builds the page that verifies results in a browser.")
    .command("build")
    .description("Writes the page as one self-contained HTML file.")
    .option("--out <file>", "file to write", "verifier.html")
    .addHelpText("after", NOTE)
    .action(async (flags: { readonly out: string }) => {
      const { getVerifierPage } = await import("../app/verifierPage.ts");
      await writeFile(flags.out, (await getVerifierPage()).html);
      out(flags.out);
    });
}
