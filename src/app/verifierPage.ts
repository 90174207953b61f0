import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** One HTML file that verifies results in a browser, with nothing from elsewhere. */
export interface VerifierPage {
  readonly html: string;
  /** Its content security policy, which is in the file, too. */
  readonly policy: string;
}

/** The npm package holds the file ready, and not what it is made of. */
const PACKAGED = new URL("../../verifier.html", import.meta.url);
const FOLDER = new URL("../verify/page/", import.meta.url);

let made: Promise<VerifierPage> | undefined;

/** Returns the page; bundles it with esbuild the first time in a checkout, which takes half a second. */
export function getVerifierPage(): Promise<VerifierPage> {
  made ??= (async () => {
    const html = existsSync(PACKAGED) ? readFileSync(PACKAGED, "utf8") : await buildVerifierPage();
    return { html, policy: /Policy" content="([^"]*)"/.exec(html)![1]! };
  })();
  // One that failed is tried again.
  made.catch(() => (made = undefined));
  return made;
}

/**
 * Builds the page. Scripts and style are allowed by their hashes alone. The sandboxed frame inherits the policy, and its own takes the
 * network away; it is the frame's only protection against a source, so it is not loosened where a browser offers less.
 */
export async function buildVerifierPage(): Promise<string> {
  const { build } = await import("esbuild");
  const read = (name: string): string => readFileSync(new URL(name, FOLDER), "utf8");
  const frameScript = read("frameScript.js");
  const framePolicy = `default-src 'none'; script-src ${hashOf(frameScript)}; worker-src blob:`;
  const frameHtml = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${framePolicy}"><script>${frameScript}</script>`;
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("dom/main.ts", FOLDER))],
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    define: { FRAME_HTML: JSON.stringify(frameHtml) },
    write: false,
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
  return read("page.html")
    .replace("%POLICY%", () => policy)
    .replace("<!-- style -->", () => `<style>${style}</style>`)
    .replace("<!-- script -->", () => `<script>${script}</script>`);
}

function hashOf(content: string): string {
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
