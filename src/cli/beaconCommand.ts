import type { Command } from "commander";
import { createExplorer } from "../client/index.ts";
import { serviceUrl, withUrl } from "./connectService.ts";
import { QUICKNET_HASH } from "../domain/vocabulary.ts";
import type { Terminal } from "./terminal.ts";

const NOTE = `
Needs no key; with one in TYCHE_API_KEY, signatures that others send don't use up yours. The service checks the signature, and takes it if requests wait for the round and no relay had it a minute after its time.`;

/** Adds `tyche beacon`. */
export function registerBeacon(program: Command, { out }: Terminal): void {
  withUrl(program.command("beacon"))
    .description("Hands in a round of drand that no relay has and that requests wait for (beacon_late).")
    .argument("<round>", "number of the round")
    .argument("<signature>", "its signature, 48 bytes of hex")
    .option("--chain <hash>", "hash of the round's chain (default: that of drand's quicknet)")
    .addHelpText("after", NOTE)
    .action(async (round: string, signature: string, flags: BeaconFlags) => {
      const apiKey = process.env["TYCHE_API_KEY"] ?? "";
      const explorer = createExplorer({ baseUrl: serviceUrl(flags), apiKey, retries: 0 });
      await explorer.handInRound({ round, chainHash: flags.chain ?? QUICKNET_HASH }, signature);
      out(`round ${round} is taken: the requests that wait for it are answered`);
    });
}

interface BeaconFlags {
  readonly chain?: string;
  readonly url?: string;
}
