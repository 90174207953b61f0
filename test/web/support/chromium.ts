import { execFileSync } from "node:child_process";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { chromium, type Browser } from "playwright-core";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const PACKAGE = path.join(ROOT, "node_modules/@sparticuz/chromium");
const CACHE = path.join(ROOT, "node_modules/.cache");
/** Where distributions install a browser, for machines that the packaged one is not built for. */
const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * Launches Chromium: the one from an npm package, with its own libraries and fonts, so that pages look the same on every machine, or the
 * installed one where that can't run (it is built for Linux on x64).
 *
 * It runs without Chromium's own sandbox, which is unavailable to root in a container: the tests open only our own pages.
 */
export async function launchChromium(): Promise<Browser> {
  const args = ["--no-sandbox", "--font-render-hinting=none"];
  if (process.platform !== "linux" || process.arch !== "x64") {
    const executablePath = INSTALLED.find((one) => existsSync(one));
    return chromium.launch({ args, ...(executablePath === undefined ? {} : { executablePath }) });
  }
  const folder = await unpackChromium();
  await writeFontConfig(folder);
  const env = { ...process.env, LD_LIBRARY_PATH: path.join(folder, "lib"), FONTCONFIG_PATH: folder };
  return chromium.launch({ executablePath: path.join(folder, "chromium"), args, env, timeout: 120_000 });
}

/** Unpacks the packaged browser once per version; returns its folder. If several processes unpack at once, one wins. */
async function unpackChromium(): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(PACKAGE, "package.json"), "utf8")) as {
    version: string;
  };
  const folder = path.join(CACHE, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  try {
    await inflate("chromium.br", path.join(draft, "chromium"), 0o755);
    for (const name of ["al2023.tar", "fonts.tar"]) {
      const archive = path.join(draft, name);
      await inflate(`${name}.br`, archive);
      execFileSync("tar", ["-xf", archive, "-C", draft, "--no-same-owner"]);
      await rm(archive);
    }
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

async function inflate(name: string, target: string, mode = 0o644): Promise<void> {
  const source = createReadStream(path.join(PACKAGE, "bin", name));
  await pipeline(source, createBrotliDecompress(), createWriteStream(target, { mode }));
}

/** Writes the fonts' location, again if the checkout was moved or the folder was copied to another one. */
async function writeFontConfig(folder: string): Promise<void> {
  const file = path.join(folder, "fonts.conf");
  const text = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fontCache</cachedir></fontconfig>
`;
  if ((await readFile(file, "utf8").catch(() => "")) === text) return;
  const draft = `${file}-${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, file);
}
