/** A fenced block of a Markdown page. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** The text after the language: a file name, or `skip:` and the reason. */
  readonly info: string;
  readonly text: string;
}

/** Commands of a page that run in one go, and the output that the page shows. */
export interface Commands {
  readonly block: Block;
  /** JSON or text; "…" stands for anything. */
  readonly expected?: Block;
}

/** A step of a reader who works through a page: a file to write, or commands to run. */
export type PageStep = { readonly file: Block } | { readonly commands: Commands };

/** Returns the fenced blocks of a page, including those indented in a list. */
export function findBlocks(page: string, text: string): Block[] {
  return [...text.matchAll(/^( *)```(\w+) ?(.*)\n([^]*?)^\1```$/gm)].map(
    ([, indent = "", language = "", info = "", content = ""], i, all) => ({
      page,
      line: text.slice(0, all[i]!.index).split("\n").length,
      language,
      info,
      text: content.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }),
  );
}

/**
 * Returns the steps a reader takes on a page. A block of `sh` runs unless it says `skip:`; a block of JSON or text right after it,
 * separated by at most a blank line, is its output; a block with a file name after its language is that file.
 */
export function readSteps(page: string, text: string): PageStep[] {
  const blocks = findBlocks(page, text);
  return blocks.flatMap((block, i): PageStep[] => {
    if (block.info !== "" && block.language !== "sh") return [{ file: block }];
    if (block.language !== "sh" || block.info.startsWith("skip:")) return [];
    const next = blocks[i + 1];
    const end = block.line + block.text.split("\n").length;
    const isOutput =
      next !== undefined && /^(json|text)$/.test(next.language) && next.info === "" && next.line <= end + 2;
    return [{ commands: { block, ...(isOutput ? { expected: next } : {}) } }];
  });
}

/** Describes how an answer differs in form from the one on the page: members, kinds of values, literal values without "…". */
export function findMismatch(shown: unknown, found: unknown, path = "$"): string | undefined {
  if (Array.isArray(shown) && Array.isArray(found))
    return shown.length === found.length
      ? firstOf(shown.map((value, i) => findMismatch(value, found[i], `${path}[${i}]`)))
      : `${path} has ${found.length} entries, and ${shown.length} on the page`;
  if (isRecord(shown) && isRecord(found)) {
    const names = new Set([...Object.keys(shown), ...Object.keys(found)]);
    return firstOf(
      [...names].map((name) =>
        name in shown && name in found
          ? findMismatch(shown[name], found[name], `${path}.${name}`)
          : `${path}.${name} is only ${name in shown ? "on the page" : "in the answer"}`,
      ),
    );
  }
  if (typeof shown !== typeof found) return `${path} is a ${typeof found}, and a ${typeof shown} on the page`;
  if (typeof shown === "string" && typeof found === "string")
    return matchesText(shown, found) ? undefined : `${path} is ${found}, and on the page ${shown}`;
  // A draw may return either.
  if (typeof shown === "boolean" && path.endsWith(".value")) return undefined;
  return shown === found ? undefined : `${path} is ${String(found)}, and on the page ${String(shown)}`;
}

/**
 * Whether a text has the form of one on a page: "…" stands for anything, for any hex when in hex, and for any digits when after digits. A
 * single digit stands for any other, as a draw may return it.
 */
export function matchesText(shown: string, found: string): boolean {
  if (/^\d$/.test(shown)) return /^\d$/.test(found);
  const pattern = shown
    .replaceAll(/0x[0-9a-f]*…[0-9a-f]*/g, "\u0001")
    .replaceAll(/\d+…/g, "\u0002")
    .replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
    .replaceAll("\u0001", "0x[0-9a-f]+")
    .replaceAll("\u0002", String.raw`\d+`)
    .replaceAll("…", "[^]*");
  return new RegExp(`^${pattern}$`).test(found);
}

function firstOf(found: readonly (string | undefined)[]): string | undefined {
  return found.find((one) => one !== undefined);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
