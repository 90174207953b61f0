import { expect, test } from "vitest";
import { gzipSync } from "node:zlib";
import { unpackTarball } from "../../../../sandbox/host/net/modules/tarball.ts";
import { packTar } from "./registry.ts";
import type { TarEntry } from "./registry.ts";

async function unpacked(entries: readonly TarEntry[]): Promise<Record<string, string>> {
  const files = await unpackTarball(packTar(entries));
  return Object.fromEntries([...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]));
}

test("gives regular files by their path inside the archive's folder", async () => {
  const entries = [
    { path: "package/package.json", content: "{}" },
    { path: "package/lib/a.js", content: "a".repeat(1_000) },
    { path: "package/empty", content: "" },
  ];
  expect(await unpacked(entries)).toEqual({ "package.json": "{}", "lib/a.js": "a".repeat(1_000), empty: "" });
});

test("the folder may have any name", async () => {
  expect(await unpacked([{ path: "anything/x.js", content: "1" }])).toEqual({ "x.js": "1" });
});

test("long names come from pax and GNU headers", async () => {
  const name = `package/${"d/".repeat(80)}x.js`;
  const record = ` path=${name}\n`;
  const pax = { path: "PaxHeader/x", type: "x", content: `${record.length + 3}${record}` };
  const gnu = { path: "././@LongLink", type: "L", content: `${name}\0` };
  const file = { path: "package/cut", content: "1" };
  expect(await unpacked([pax, file])).toEqual({ [`${"d/".repeat(80)}x.js`]: "1" });
  expect(await unpacked([gnu, file])).toEqual({ [`${"d/".repeat(80)}x.js`]: "1" });
});

test("links, devices and paths that leave the folder are left out", async () => {
  const entries = [
    { path: "package/link", type: "2", content: "" },
    { path: "package/hard", type: "1", content: "" },
    { path: "package/device", type: "3", content: "" },
    { path: "package/dir/", type: "5", content: "" },
    { path: "../../etc/passwd", content: "1" },
    { path: "package/../../x", content: "1" },
    { path: "alone", content: "1" },
    { path: "package/kept", content: "1" },
  ];
  expect(await unpacked(entries)).toEqual({ kept: "1" });
});

test.each([
  ["no gzip", Buffer.from("plain")],
  ["a truncated gzip", packTar([{ path: "p/x", content: "1" }]).subarray(0, 40)],
  ["a body that is cut short", packTar([{ path: "p/x", content: "1", size: 9_999 }])],
  ["70 MB of zeros", gzipSync(Buffer.alloc(70 * 1_024 * 1_024))],
])("refuses %s", async (_what, bytes) => {
  await expect(unpackTarball(bytes)).rejects.toThrow("Failed extracting tarball");
});
