/** Stands in for a service that bundles; prints the bundler's process group once the taken-over bundler has started a program. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Confinement } from "../../../sandbox/host/child/confine.ts";
import { forkBundler } from "../../../sandbox/host/net/modules/forkBundler.ts";

const [confinement, user] = process.argv.slice(2) as [string, string];
const entry = fileURLToPath(new URL("outlivingEntry.ts", import.meta.url));
const child = forkBundler(entry, JSON.parse(confinement) as Confinement, [dirname(entry)], user);
child.send("go");
child.once("message", () => console.log(child.pid));
