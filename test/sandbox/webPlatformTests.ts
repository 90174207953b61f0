// Checks URLs, base64 and data URLs against the data of web-platform-tests (3-clause BSD), which is not copied into this repository:
//   node --no-node-snapshot test/sandbox/webPlatformTests.ts <folder with urltestdata.json, toascii.json, setters_tests.json, base64.json, data-urls.json>
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { createSandboxPool } from "../../sandbox/index.ts";

const folder = process.argv[2] ?? ".";
const pool = createSandboxPool({ concurrency: 1 });

/** Runs a check in the sandbox over a JSON file; the check returns the names of what failed. */
async function check(file: string, body: string): Promise<void> {
  const path = join(folder, file);
  if (!existsSync(path)) {
    console.log(`${file}: not there`);
    return;
  }
  const content = JSON.parse(readFileSync(path, "utf8")) as unknown[] | Record<string, unknown[]>;
  // The setter tests are one list per member of a URL.
  const items = Array.isArray(content)
    ? content
    : Object.entries(content).flatMap(([key, list]) =>
        key === "comment" ? [] : list.map((item) => [key, item]),
      );
  const failed: string[] = [];
  let checked = 0;
  for (let start = 0; start < items.length; start += 100) {
    const source = `const items = JSON.parse(args[0]); const failed = []; let checked = 0; ${body}; console.log(JSON.stringify({ failed, checked })); return new Uint8Array(1);`;
    const result = await pool.run({
      source,
      args: [JSON.stringify(items.slice(start, start + 100))],
      limits: { maxConsoleBytes: 1_048_576 },
    });
    if (!result.ok) throw new Error(`${file} from ${start}: ${result.error.message}`);
    const part = JSON.parse(result.console) as { failed: string[]; checked: number };
    failed.push(...part.failed);
    checked += part.checked;
  }
  console.log(`${file}: ${checked - failed.length} of ${checked} hold`);
  for (const name of failed) console.log(`  ${name}`);
}

await check(
  "urltestdata.json",
  `for (const item of items) {
    if (typeof item === 'string') continue;
    checked++;
    let url; try { url = new URL(item.input, item.base ?? undefined); } catch { url = null; }
    if (item.failure) { if (url !== null) failed.push('accepted ' + JSON.stringify(item.input)); continue; }
    if (url === null) { failed.push('refused ' + JSON.stringify(item.input)); continue; }
    for (const key of ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin']) {
      if (item[key] !== undefined && url[key] !== item[key]) { failed.push(key + ' of ' + JSON.stringify(item.input) + ': ' + url[key] + ' instead of ' + item[key]); break; }
    }
  }`,
);
await check(
  "toascii.json",
  `for (const item of items) {
    if (typeof item === 'string') continue;
    checked++;
    let host; try { host = new URL('https://' + item.input + '/x').host; } catch { host = null; }
    if (host !== item.output) failed.push(JSON.stringify(item.input) + ': ' + host + ' instead of ' + item.output);
  }`,
);
await check(
  "setters_tests.json",
  `for (const [key, item] of items) {
    checked++;
    const url = new URL(item.href); 
    try { url[key] = item.new_value; } catch {}
    for (const part in item.expected) {
      if (url[part] !== item.expected[part]) { failed.push(key + ' = ' + JSON.stringify(item.new_value) + ' on ' + item.href + ': ' + part + ' is ' + url[part] + ' instead of ' + item.expected[part]); break; }
    }
  }`,
);
await check(
  "base64.json",
  `for (const [input, output] of items) {
    checked++;
    let bytes; try { bytes = [...atob(input)].map((c) => c.charCodeAt(0)); } catch { bytes = null; }
    if (JSON.stringify(bytes) !== JSON.stringify(output)) failed.push(JSON.stringify(input) + ': ' + JSON.stringify(bytes));
  }`,
);
await check(
  "data-urls.json",
  `for (const [input, type, output] of items) {
    checked++;
    let got; try { const r = await fetch(input); got = r.ok ? [r.headers.get('content-type'), [...new Uint8Array(await r.arrayBuffer())]] : [null]; } catch { got = [null]; }
    const expected = type === null ? [null] : [type, output];
    if (JSON.stringify(got) !== JSON.stringify(expected)) failed.push(JSON.stringify(input) + ': ' + JSON.stringify(got) + ' instead of ' + JSON.stringify(expected));
  }`,
);
await pool.close();
