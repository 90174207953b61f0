import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Protocol } from "./world.ts";

const PROTOCOL = path.resolve(import.meta.dirname, "../../../src/oracle/protocol");

/** A rule of the protocol, and an edit that breaks it. */
export interface BrokenRule {
  readonly rule: string;
  readonly file: "round.ts" | "derivedRound.ts" | "agree.ts" | "conflict.ts";
  readonly from: string;
  readonly to: string;
}

/** Each rule of PROTOCOL.md, with an edit of the source that removes it. */
export const BROKEN_RULES: readonly BrokenRule[] = [
  {
    rule: "reveals only after 2f + 1 commitments",
    file: "round.ts",
    from: "&& this.#fixed.size >= this.#revealsWanted",
    to: "",
  },
  {
    rule: "records its observation before it commits to it",
    file: "round.ts",
    from: `this.#effects.push({ type: "record", record: { kind: "observed", observation, salt } });`,
    to: "",
  },
  {
    rule: "records its proposal before it sends it",
    file: "round.ts",
    from: `this.#effects.push({ type: "record", record: { kind: "proposed", sealed } });`,
    to: "",
  },
  {
    rule: "records a signature before it gives it",
    file: "round.ts",
    from: `this.#effects.push({ type: "record", record: { kind: "endorsed", rank, digest } });`,
    to: "",
  },
  {
    rule: "remembers what it signed through a restart",
    file: "round.ts",
    from: `else if (record.kind === "endorsed") this.#endorsed.set(record.rank, record.digest);`,
    to: `else if (record.kind === "endorsed") continue;`,
  },
  {
    rule: "remembers its observation through a restart",
    file: "round.ts",
    from: `if (record.kind === "observed") this.#fixObservation(record);`,
    to: `if (record.kind === "observed") continue;`,
  },
  {
    rule: "signs one result for each stage",
    file: "round.ts",
    from: "if (before !== undefined && before !== digest) return;",
    to: "",
  },
  {
    rule: "signs for no stage before its time",
    file: "round.ts",
    from: "if (rank <= this.#stage) this.#endorse(message);",
    to: "this.#endorse(message);",
  },
  {
    rule: "wants 2f + 1 reveals in a bundle",
    file: "round.ts",
    from: "return reveals.length === this.#revealsWanted &&",
    to: "return",
  },
  {
    rule: "wants the reveals of different nodes",
    file: "round.ts",
    from: "&& senders.size === reveals.length",
    to: "",
  },
  {
    rule: "derives the result from all reveals",
    file: "agree.ts",
    from: "for (let last = faulty; last < sorted.length; last += 1)",
    to: "for (let last = faulty; last < sorted.length; last += 1) return observations[0]!;\n  for (let last = faulty; last < sorted.length; last += 1)",
  },
  {
    rule: "wants f + 1 that say alike",
    file: "agree.ts",
    from: "compareObservations(sorted[last - faulty]!, sorted[last]!)",
    to: "compareObservations(sorted[last]!, sorted[last]!)",
  },
  {
    rule: "takes the median of numbers",
    file: "agree.ts",
    from: "words[Math.floor((words.length - 1) / 2)]!",
    to: "words[words.length - 1]!",
  },
  {
    rule: "proposes only when it is its turn",
    file: "round.ts",
    from: "while (rank >= 0 && order[rank % nodes] !== self) rank -= 1;",
    to: "",
  },
  {
    rule: "counts only signatures of its own report",
    file: "round.ts",
    from: ".filter(({ digest }) => digest === own.digest)",
    to: "",
  },
  {
    rule: "transmits with a whole quorum",
    file: "round.ts",
    from: "const wanted = signaturesOf(nodes, faulty);",
    to: "const wanted = signaturesOf(nodes, faulty) - 1;",
  },
  {
    rule: "uses no reveal of a node that it knows to be wrong",
    file: "round.ts",
    from: "this.#reveals.delete(accused);",
    to: "",
  },
  {
    rule: "accuses nobody without a conflict",
    file: "round.ts",
    from: "!isConflict(first.message, second.message, this.#options.commitmentOf)",
    to: "false",
  },
  {
    rule: "takes no two nodes' messages for a conflict",
    file: "conflict.ts",
    from: "if (first.sender !== second.sender) return false;",
    to: "",
  },
  {
    rule: "passes the turn on when a stage is over",
    file: "round.ts",
    from: "this.#enterStage(this.#stage + 1);",
    to: "",
  },
  {
    rule: "says again what may not have been heard",
    file: "round.ts",
    from: `else this.#resend();`,
    to: "else if (false) this.#resend();",
  },
  {
    rule: "records a derived result's signature before it gives it",
    file: "derivedRound.ts",
    from: `this.#effects.push({ type: "record", record: { kind: "endorsed", rank: RANK, digest } });`,
    to: ";",
  },
  {
    rule: "transmits a derived result only in its turn",
    file: "derivedRound.ts",
    from: "|| order[this.#stage % nodes] !== self",
    to: "",
  },
  {
    rule: "counts only signatures of the result that it derived itself",
    file: "derivedRound.ts",
    from: ".filter(({ digest }) => digest === own.digest)",
    to: "",
  },
  {
    rule: "transmits a derived result with a whole quorum",
    file: "derivedRound.ts",
    from: "const wanted = signaturesOf(nodes, faulty);",
    to: "const wanted = signaturesOf(nodes, faulty) - 1;",
  },
  {
    rule: "passes the turn to transmit a derived result on",
    file: "derivedRound.ts",
    from: "this.#enterStage(this.#stage + 1);",
    to: ";",
  },
  {
    rule: "transmits a derived result again when it is its turn again",
    file: "derivedRound.ts",
    from: "this.#transmittedAt === this.#stage",
    to: "this.#transmittedAt >= 0",
  },
  {
    rule: "says its signature again",
    file: "derivedRound.ts",
    from: "else this.#resend();",
    to: "",
  },
  {
    rule: "accuses nobody of two signatures without a conflict",
    file: "derivedRound.ts",
    from: "!isConflict(first.message, second.message, this.#options.commitmentOf)",
    to: "false",
  },
];

/** Loads the protocol with one edit, whose text must occur in the source exactly once. */
export async function loadBroken({ file, from, to }: BrokenRule): Promise<Protocol> {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-protocol-"));
  try {
    for (const name of readdirSync(PROTOCOL).filter((one) => one.endsWith(".ts"))) {
      const source = readFileSync(path.join(PROTOCOL, name), "utf8");
      if (name === file && source.split(from).length !== 2)
        throw new Error(`${file} does not hold once: ${from}`);
      const edited = name === file ? source.replace(from, () => to) : source;
      const absolute = (place: string): string =>
        JSON.stringify(pathToFileURL(path.resolve(PROTOCOL, place)).href);
      writeFileSync(
        path.join(folder, name),
        edited.replaceAll(/"(\.\.\/[^"]+)"/g, (_, place: string) => absolute(place)),
      );
    }
    cpSync(path.resolve(PROTOCOL, "../../../package.json"), path.join(folder, "package.json"));
    const load = async (name: string): Promise<Record<string, unknown>> =>
      (await import(/* @vite-ignore */ pathToFileURL(path.join(folder, name)).href)) as Record<
        string,
        unknown
      >;
    const { agree } = await load("agree.ts");
    if (file === "derivedRound.ts")
      return { Round: (await load(file))["DerivedRound"], isDerived: true, agree } as Protocol;
    return { Round: (await load("round.ts"))["Round"], agree } as Protocol;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
