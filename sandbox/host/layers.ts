import { existsSync, readFileSync } from "node:fs";
import { findKernel } from "../build/buildKernel.ts";
import { AUDIT_ARCHITECTURES } from "./child/kernel/systemCalls.ts";
import { SandboxError, SandboxOptionError } from "./sandboxError.ts";

/** Layers whose absence the operator may accept, by name. */
export const ACCEPTABLE_LAYERS = ["system-calls", "user"] as const;

/** A layer of containment that this machine lacks. */
export interface MissingLayer {
  /** Name by which the operator accepts the absence. */
  readonly name: (typeof ACCEPTABLE_LAYERS)[number];
  /** What is missing and why, what follows from that, and how to get it. */
  readonly text: string;
}

const CONSEQUENCE_OF_NO_FILTER =
  "Native code that a source smuggles in through a defect of V8 could read the service's files and keys, open connections and start programs.";

/**
 * Finds the layers that children can't have here, without starting one: it reads a few files, and builds the kernel addon if there is none.
 * @param options.isRoot Whether the service runs as root on Linux.
 */
export function findMissingLayers(options: { readonly isRoot: boolean }): readonly MissingLayer[] {
  const missing: MissingLayer[] = [];
  const obstacle = findFilterObstacle();
  if (obstacle !== null)
    missing.push({
      name: "system-calls",
      text: `${obstacle} ${CONSEQUENCE_OF_NO_FILTER} Run Tyche on Linux (x64, arm64) with seccomp, in a VM or container for example.`,
    });
  if (options.isRoot && !mayChangeUser())
    missing.push({
      name: "user",
      text: "Tyche runs as root, but may not change to another user (CAP_SETUID, CAP_SETGID). Sandbox processes would run as root. Start Tyche as an ordinary user, or give it these capabilities.",
    });
  return missing;
}

/** Says what prevents a system call filter; null if nothing visible from outside does. */
function findFilterObstacle(): string | null {
  if (process.platform !== "linux") return `There is no filter of system calls on ${process.platform}.`;
  if (!(process.arch in AUDIT_ARCHITECTURES))
    return `There is no filter of system calls for ${process.arch}.`;
  if (!existsSync("/proc/sys/kernel/seccomp/actions_avail"))
    return "This kernel has no filter of system calls (seccomp).";
  if (findKernel() === null)
    return `The addon that sets the filter of system calls is not in the package for ${process.arch}, and can't be built without a C compiler, cc.`;
  return null;
}

function mayChangeUser(): boolean {
  const CAP_SETGID = 6n;
  const CAP_SETUID = 7n;
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  const capabilities = BigInt(`0x${effective ?? "0"}`);
  return [CAP_SETGID, CAP_SETUID].every((capability) => ((capabilities >> capability) & 1n) === 1n);
}

/** Returns the layers whose absence the operator accepts. */
export function acceptedByEnvironment(): readonly string[] {
  const names = process.env["TYCHE_ACCEPT_MISSING"] ?? "";
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/**
 * Refuses a machine that lacks layers, unless each is accepted by name.
 * @throws {MissingLayersError} `sandbox_layers_missing`, naming each layer that is not accepted.
 * @throws {SandboxOptionError} `invalid_option` if an accepted name is not a layer.
 */
export function requireLayers(missing: readonly MissingLayer[], accepted: readonly string[]): void {
  const unknown = accepted.find((name) => !ACCEPTABLE_LAYERS.some((layer) => layer === name));
  if (unknown !== undefined) {
    const expected = `TYCHE_ACCEPT_MISSING and acceptMissing take ${ACCEPTABLE_LAYERS.join(", ")}`;
    throw new SandboxOptionError("acceptMissing", unknown, expected);
  }
  const refused = missing.filter((layer) => !accepted.includes(layer.name));
  if (refused.length > 0) throw new MissingLayersError(refused);
}

/** This machine can't contain sources as promised, and the operator has not accepted that. */
export class MissingLayersError extends SandboxError {
  constructor(layers: readonly MissingLayer[]) {
    const names = layers.map((layer) => layer.name);
    super(
      [
        "Sources can't be contained here as they should be:",
        ...layers.map((layer) => `  ${layer.name}: ${layer.text}`),
        `To run without: TYCHE_ACCEPT_MISSING=${names.join(",")}`,
      ].join("\n"),
      { code: "sandbox_layers_missing", blame: "us", details: { layers: names } },
    );
  }
}
