import { createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { Router } from "@koa/router";
import Koa from "koa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleRoutes, getEntry } from "../../src/web/bundle.ts";

/** Limit in bytes, compressed, for everything that a first page loads before it is usable. */
const MAX_FIRST_BYTES = 250_000;

let server: Server;
let baseUrl: string;
beforeAll(async () => {
  const router = new Router();
  bundleRoutes(router);
  server = createServer(
    (request, response) => void new Koa().use(router.routes()).callback()(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test("what the first page loads is small, and kept for good under names of its own", async () => {
  const { script, styles, preloads } = getEntry("application");
  let compressed = 0;
  for (const file of [script, ...styles, ...preloads]) {
    const answer = await fetch(baseUrl + file, { headers: { "accept-encoding": "identity" } });
    const content = Buffer.from(await answer.arrayBuffer());
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": expect.stringMatching(/^text\/(?:javascript|css); charset=utf-8$/),
      "content-length": String(content.length),
      vary: "Accept-Encoding",
    });
    expect(file).toMatch(/^\/assets\/app\/[\w.-]+-[\w-]{8}\.(?:js|css)$/);
    compressed += gzipSync(content).length;
  }
  expect(compressed).toBeLessThan(MAX_FIRST_BYTES);
});

test("who takes gzip gets the same content packed", async () => {
  const { script } = getEntry("application");
  const plain = await fetch(baseUrl + script, { headers: { "accept-encoding": "identity" } });
  // `fetch` would decompress it.
  const packed = await new Promise<Buffer>((resolve, reject) => {
    get(baseUrl + script, { headers: { "accept-encoding": "gzip" } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks)));
    }).on("error", reject);
  });
  expect(gunzipSync(packed)).toEqual(Buffer.from(await plain.arrayBuffer()));
});

test.each([
  "manifest.json",
  "inputs.sha256",
  "nothing.js",
  "..%2f..%2fpackage.json",
  "%2e%2e%2fmanifest.json",
])("%s is none of the files", async (name) => {
  expect((await fetch(`${baseUrl}/assets/app/${name}`)).status).toBe(404);
});

test("an application that is not there is said to be missing", () => {
  expect(() => getEntry("nothing")).toThrow("the build has no entry nothing");
});
