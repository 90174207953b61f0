import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { findPresetNames, loadPresets } from "../presets/presetNames.ts";

/** A single, self-contained HTML file that verifies results in a browser. */
export interface VerifierPage {
  readonly html: string;
  /** The page's content security policy, which the file contains too. */
  readonly policy: string;
}

/** The npm package ships the finished file, without its sources. */
const PACKAGED = new URL("../../verifier.html", import.meta.url);
const FOLDER = new URL("../verify/page/", import.meta.url);

const PRESETS_FOLDER = fileURLToPath(new URL("../../plugins/", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** In a checkout: the page as last built, and the files it was built from. */
const BUILT = path.join(ROOT, ".build/verifier.json");
/** Inputs that esbuild doesn't report: these files are read here, and the lock file stands for all packages. */
const OTHER_INPUTS = ["page.html", "page.css", "frameScript.js"].map((name) => `src/verify/page/${name}`);
const OWN_INPUTS = [...OTHER_INPUTS, "src/app/verifierPage.ts", "package-lock.json"];

let made: Promise<VerifierPage> | undefined;

/** Returns the page. In a checkout it is rebuilt after its sources change, which takes half a second. */
export function getVerifierPage(): Promise<VerifierPage> {
  made ??= (async () => {
    const html = existsSync(PACKAGED) ? readFileSync(PACKAGED, "utf8") : await readBuiltPage();
    return { html, policy: /Policy" content="([^"]*)"/.exec(html)![1]! };
  })();
  // A failed build is retried.
  made.catch(() => (made = undefined));
  return made;
}

/** Returns the page from `npm run prepare`, or builds it and keeps it for the next process. */
async function readBuiltPage(): Promise<string> {
  const built = findBuilt();
  if (built !== undefined) return built;
  const { html, inputs } = await bundlePage();
  const draft = `${BUILT}.${process.pid}`;
  try {
    mkdirSync(path.dirname(BUILT), { recursive: true });
    writeFileSync(draft, JSON.stringify({ html, inputs: inputs.map((name) => [name, digestOf(name)]) }));
    renameSync(draft, BUILT);
  } catch {
    // The checkout is read-only: each process builds its own page.
  }
  return html;
}

/** Returns the last build, unless a source changed since then or did not exist. */
function findBuilt(): string | undefined {
  try {
    const { html, inputs } = JSON.parse(readFileSync(BUILT, "utf8")) as {
      readonly html: string;
      readonly inputs: readonly (readonly [string, string])[];
    };
    return inputs.every(([name, digest]) => digestOf(name) === digest) ? html : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(name: string): string {
  return createHash("sha256")
    .update(readFileSync(path.join(ROOT, name)))
    .digest("base64");
}

/** Builds the page. */
export async function buildVerifierPage(): Promise<string> {
  return (await bundlePage()).html;
}

/**
 * Builds the page, and lists its input files. Scripts and styles are allowed by their hashes only. The sandboxed frame inherits the policy,
 * and its own policy removes network access; that is the frame's only protection against a source, so it is not loosened for browsers that
 * support less.
 */
async function bundlePage(): Promise<{ readonly html: string; readonly inputs: readonly string[] }> {
  const { build } = await import("esbuild");
  const read = (name: string): string => readFileSync(new URL(name, FOLDER), "utf8");
  const frameScript = read("frameScript.js");
  const framePolicy = `default-src 'none'; script-src ${hashOf(frameScript)}; worker-src blob:`;
  const frameHtml = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${framePolicy}"><script>${frameScript}</script>`;
  const presets = await loadPresets([PRESETS_FOLDER]);
  const named = Object.fromEntries(
    presets.map(({ sourceHash, definition: { title, show } }) => [
      sourceHash,
      { ...findPresetNames(presets, sourceHash), title, show },
    ]),
  );
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [fileURLToPath(new URL("dom/main.ts", FOLDER))],
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    define: { FRAME_HTML: JSON.stringify(frameHtml), PRESETS: JSON.stringify(named) },
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  // An end tag in a string would end the script.
  const script = outputFiles[0]!.text
    .replaceAll(/<\/(?=script)/gi, String.raw`<\/`)
    .replaceAll("<!--", String.raw`<\!--`);
  const style = read("page.css");
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)} ${hashOf(frameScript)}`,
    `style-src ${hashOf(style)}`,
    "connect-src http: https:",
    "img-src data:",
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = read("page.html")
    .replace("%POLICY%", () => policy)
    .replace("<!-- style -->", () => `<style>${style}</style>`)
    .replace("<!-- script -->", () => `<script>${script}</script>`);
  const own = Object.keys(metafile.inputs).filter((name) => !name.startsWith("node_modules/"));
  const ofPresets = presets.flatMap(({ name }) =>
    ["preset.json", "source.js"].map((file) => `plugins/${name}/${file}`),
  );
  return { html, inputs: [...own, ...ofPresets, ...OWN_INPUTS] };
}

function hashOf(content: string): string {
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

if (import.meta.main) await getVerifierPage();
