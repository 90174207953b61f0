/** A name that a source can use, as `sandbox/functions.d.ts` declares it. */
export interface Declaration {
  readonly name: string;
  /** The declaration's owner, such as `Functions` or the interface `HttpRequest`; empty for a global. */
  readonly owner: string;
  /** Its declaration on one line, without comments. */
  readonly type: string;
  /** Its doc comment as plain text. */
  readonly doc: string;
}

/**
 * Reads the declarations of globals, their members and the members of interfaces, each with its comment. It supports only as much
 * TypeScript as that one file uses: each member starts on its own line, and its enclosing block ends with a line that starts with `}`.
 */
export function readDeclarations(text: string): readonly Declaration[] {
  const found: Declaration[] = [];
  const owners: string[] = [];
  let doc = "";
  let pending = "";
  for (const line of text
    .replaceAll(/\/\*\*([\s\S]*?)\*\//g, markDoc)
    .split("\n")
    .map((one) => one.trim())) {
    if (line === "" || line.startsWith("//")) continue;
    if (line.startsWith(DOC_MARK)) {
      doc = line.slice(DOC_MARK.length);
      continue;
    }
    if (pending === "" && line.startsWith("}")) {
      owners.pop();
      continue;
    }
    pending = pending === "" ? line : `${pending} ${line}`;
    if (!/[;{]$/.test(line)) continue;
    const container = /^(?:declare )?(const|namespace|interface) (\w+).*\{$/.exec(pending);
    const member = /^(?:declare const )?(\w+)\??\s*(?:[:<(]).*;$/.exec(pending);
    if (container !== null) {
      const [, keyword, name = ""] = container;
      if (keyword === "const") found.push({ name, owner: "", type: `const ${name}`, doc });
      owners.push(name);
    } else if (member !== null) {
      const type = pending.replace(/^declare /, "").replace(/;$/, "");
      found.push({ name: member[1]!, owner: owners.at(-1) ?? "", type, doc });
    }
    pending = "";
    doc = "";
  }
  return found;
}

const DOC_MARK = "@doc ";

/** Joins a comment into one marked line, which distinguishes it from code. */
function markDoc(_whole: string, content: string): string {
  const words = content.replaceAll(/^\s*\* ?/gm, "").replaceAll(/\s+/g, " ");
  return `${DOC_MARK}${words.replaceAll("@throws {Error}", "Throws").replaceAll("`", "").trim()}`;
}
