import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { DRY_RUN_WORD } from "../../src/requests/accept/dryRun.ts";
import { joinService, shared, type SharedService } from "../support/shared.ts";
import { signIn } from "../support/signIn.ts";
import { decodePng } from "./support/png.ts";

let tyche: SharedService;
shared.beforeAll(({ service }) => {
  tyche = service;
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(new URL(path, tyche.url), { headers: { accept: "text/html", ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const OWN_PAGES = ["/", "/networks", "/dapps/dapp_x/keys", "/sign-in?code=x"];
const PAGES = [...OWN_PAGES, "/explorer/sepolia", "/r/req_x"];

describe("the page that the application starts from", () => {
  test("is the same at every path of it, for everybody, but for what it says without a script", async () => {
    const texts = await Promise.all(PAGES.map(async (path) => (await get(path)).text));
    expect(new Set(texts.slice(0, OWN_PAGES.length)).size).toBe(1);
    expect(new Set(texts.map(withoutNoscript)).size).toBe(1);
    expect((await get("/", { cookie: (await signIn(tyche)).cookie })).text).toBe(texts[0]);
  });

  test("at a shared result, it also has the preview of links to it, and what it says for whoever runs no script", async () => {
    const { call } = await joinService(tyche);
    const body = { label: `<b>"raffle"</b>` };
    const { data: drawn } = await call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
      body,
    });
    const { text } = await get(`/r/${drawn.id}`, { accept: "*/*" });
    const [, title] = /<title>(.*) · Tyche<\/title>/.exec(text)!;
    expect(title).toMatch(/^(?:Heads|Tails) – &lt;b&gt;&quot;raffle&quot;&lt;\/b&gt;$/);
    expect(text).toContain(`<meta property="og:url" content="${drawn.shareUrl}">`);
    const plain = noscriptOf(text);
    expect(plain).toContain('<header class="top">');
    expect(plain).toContain('<main id="main"><h1>&lt;b&gt;&quot;raffle&quot;&lt;/b&gt;</h1>');
    expect(plain).toContain("Flip a coin, on Ethereum Sepolia (local chain)");
    const [, data] = /href="(\/api\/explorer\/results\/[^"]+)"/.exec(plain)!;
    expect(await (await fetch(new URL(data!, tyche.url))).json()).toMatchObject({ data: { id: drawn.id } });
    const shell = text.replaceAll(/<meta (?:property|name="(?:description|twitter:card)").*?>/g, "");
    expect(withoutNoscript(shell)).toBe(withoutNoscript((await get("/")).text));
  });

  test("a shared result has a picture for previews of links to it, which stays the same", async () => {
    const { call } = await joinService(tyche);
    const path = "/api/vrfv2/presets?network=sepolia&preset=coinflip";
    const { data: drawn } = await call("POST", path, { body: { label: "raffle" } });
    const page = (await get(`/r/${drawn.id}`)).text;
    const [, address] = /property="og:image" content="([^"]+)"/.exec(page)!;
    expect(address).toBe(`${drawn.shareUrl}/preview.png?tx=${drawn.vrfv2Hash}`);
    const image = await fetch(address!);
    expect([image.status, Object.fromEntries(image.headers)]).toEqual([
      200,
      expect.objectContaining({
        "content-type": "image/png",
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
      }),
    ]);
    const png = Buffer.from(await image.arrayBuffer());
    expect(decodePng(png)).toMatchObject({ width: 1200, height: 630 });
    const head = await fetch(address!, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(png.length)]);
    expect(await head.text()).toBe("");
    for (const other of ["", "?tx=0x00"]) {
      const { headers } = await fetch(`${drawn.shareUrl}/preview.png${other}`);
      expect(headers.get("cache-control")).toBe("no-store");
    }
  });

  test("a result in letters that can't be drawn has the common picture", async () => {
    const { call } = await joinService(tyche);
    const path = "/api/vrfv2/presets?network=sepolia&preset=coinflip";
    const { data: drawn } = await call("POST", path, { body: { label: "抽奖" } });
    const image = await fetch(`${drawn.shareUrl}/preview.png`);
    expect([image.status, image.url]).toEqual([200, `${tyche.url}/assets/preview.png`]);
    expect(image.headers.get("content-type")).toBe("image/png");
    expect((await get(`/r/${drawn.id}`)).text).toContain(`content="${image.url}"`);
  });

  test("what failed has a picture that says so, which no cache keeps; what there is not has none", async () => {
    const { call } = await joinService(tyche);
    // Its dry run, which gets another word, ends well.
    const source = `if (bytesArgs[0] !== "${DRY_RUN_WORD}") throw new Error("no price"); return new Uint8Array(1);`;
    const body = { network: "sepolia", source, beacon: "local" };
    const { data: failed } = await call("POST", "/api/oracleFunctions/runFunction", { body });
    expect(failed.success).toBe(false);
    const [, address] = /property="og:image" content="([^"]+)"/.exec((await get(`/r/${failed.id}`)).text)!;
    const image = await fetch(address!);
    expect([image.status, image.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(decodePng(Buffer.from(await image.arrayBuffer()))).toMatchObject({ width: 1200, height: 630 });
    const none = await fetch(`${tyche.url}/r/req_x/preview.png`);
    expect([none.status, none.headers.get("cache-control")]).toEqual([404, "no-store"]);
    expect(await none.json()).toMatchObject({ data: { code: "not_found" } });
  });

  test("leads whoever runs no script from a page of the explorer to the same as JSON", async () => {
    const answer = await fetch(`${tyche.url}/api/explorer/networks/sepolia`);
    const { data } = (await answer.json()) as { data: Record<string, readonly Record<string, string>[]> };
    const { hash } = data["transactions"]![0]!;
    const { address } = data["contracts"]![0]!;
    const links = new Set<string>();
    for (const path of [
      "",
      "/sepolia",
      "/requests",
      "/search?q=1",
      "/sepolia/blocks",
      "/sepolia/transactions",
      `/sepolia/tx/${hash}`,
      "/sepolia/block/1",
      `/sepolia/address/${address}/contract`,
      `/sepolia/address/${address}`,
    ]) {
      const plain = noscriptOf((await get(`/explorer${path}`)).text);
      const [, link] = /<a href="(\/api\/[^"]+)">/.exec(plain)!;
      expect([path, (await fetch(new URL(link!, tyche.url))).status]).toEqual([path, 200]);
      links.add(link!);
    }
    expect(links.size).toBe(10);
    const missing = noscriptOf((await get("/explorer/sepolia/foo")).text);
    expect(missing).toContain("<h1>Not found</h1>");
    expect(missing).not.toContain("/api/");
  });

  test("has the headers that keep it from being framed, sniffed, cached, or run foreign scripts", async () => {
    for (const path of [...PAGES, "/nope"]) {
      const { headers } = await get(path);
      expect(headers.get("content-security-policy")).toMatch(
        /default-src 'none';script-src 'self';style-src 'self';.*frame-src 'self';.*frame-ancestors 'none'/,
      );
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
      });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("holds no script, style or handler of its own, and nothing from elsewhere", async () => {
    const { text } = await get("/");
    expect(text).not.toMatch(/<script(?! type="module" src="\/assets\/app\/[\w.-]+"><\/script>)/);
    expect(text).not.toMatch(/<style|<[a-z][^>]*\s(?:style|on[a-z]+)=|https?:/);
    const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, file]) => file!);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) expect((await get(file, { accept: "*/*" })).status).toBe(200);
  });

  test("at a path that is none of ours it is a 404, and JSON for whoever asked for no page", async () => {
    const page = await get("/nope");
    expect(page.status).toBe(404);
    expect(withoutNoscript(page.text)).toBe(withoutNoscript((await get("/")).text));
    expect(noscriptOf((await get("/r/req_x")).text)).toContain("<h1>Not found</h1>");
    expect((await get("/r/req_x")).status).toBe(404);
    const answer = await fetch(`${tyche.url}/api/explorer/networks/sepolia`);
    const { data } = (await answer.json()) as { data: Record<string, readonly Record<string, string>[]> };
    const { transactions, contracts } = data;
    const none = `0x${"00".repeat(32)}`;
    for (const [path, status] of [
      ["", 200],
      ["/sepolia", 200],
      ["/sepolia/blocks", 200],
      ["/requests", 200],
      ["/search", 200],
      ["/nowhere", 404],
      [`/sepolia/tx/${transactions![0]!.hash}`, 200],
      [`/sepolia/tx/${none}`, 404],
      ["/sepolia/tx/0x12", 404],
      ["/sepolia/block/1", 200],
      ["/sepolia/block/999999", 404],
      ["/sepolia/block/x", 404],
      [`/sepolia/address/${contracts![0]!.address}/contract`, 200],
      [`/sepolia/address/${none.slice(0, 42)}`, 200],
      ["/sepolia/address/0x12", 404],
      ["/sepolia/foo", 404],
    ] as const)
      expect([path, (await get(`/explorer${path}`)).status]).toEqual([path, status]);
    const { status, text } = await get("/nope", { accept: "*/*" });
    expect({ status, body: JSON.parse(text) }).toMatchObject({
      status: 404,
      body: { data: { code: "not_found" } },
    });
  });

  test("a name that was made to lead here (DNS rebinding) gets nothing but the API", async () => {
    const host = `evil.example:${new URL(tyche.url).port}`;
    for (const path of ["/", "/networks", "/explorer", "/nope", "/metrics", "/readyz", "/verifier.html"])
      expect({ path, status: await statusFor("GET", path, { host }) }).toEqual({ path, status: 421 });
    for (const path of ["/api/explorer/networks", "/api/explorer/search?q=1"])
      expect({ path, status: await statusFor("GET", path, { host }) }).toEqual({ path, status: 421 });
    const { cookie } = await signIn(tyche);
    expect(await statusFor("POST", "/session", { host, cookie })).toBe(421);
    expect(await statusFor("GET", "/healthz", { host })).toBe(200);
    expect(await statusFor("GET", "/api/presets", { host })).toBe(401);
  });

  test("a page of another site reads nothing that takes no key", async () => {
    for (const origin of ["https://evil.example", "http://127.0.0.1.evil.example", "null"])
      for (const path of ["/api/explorer/networks", "/api/explorer/results/req_x", "/metrics", "/readyz"])
        expect({ path, origin, status: await statusFor("GET", path, { origin }) }).toEqual({
          path,
          origin,
          status: 403,
        });
    expect(await statusFor("GET", "/api/presets", { origin: "https://evil.example" })).toBe(401);
    for (const origin of ["http://localhost:5173", "http://127.0.0.1:5173", "http://[::1]:5173", tyche.url])
      expect(await statusFor("GET", "/api/explorer/networks", { origin })).toBe(200);
  });
});

test.each([
  ["/assets/style.css", "text/css"],
  ["/openapi.json", "application/json"],
  ["/llms.txt", "text/markdown"],
  ["/verifier.html", "text/html"],
])("%s is sent compressed, and found again by its ETag", async (path, type) => {
  const first = await get(path, { "accept-encoding": "gzip" });
  expect(Object.fromEntries(first.headers)).toMatchObject({
    "content-type": `${type}; charset=utf-8`,
    "content-encoding": "gzip",
    vary: expect.stringContaining("Accept-Encoding"),
  });
  const plain = await get(path, { "accept-encoding": "identity" });
  expect(plain.headers.has("content-encoding")).toBe(false);
  expect(plain.text).toBe(first.text);
  const again = await get(path, { "if-none-match": first.headers.get("etag")! });
  expect(again.status).toBe(304);
  expect(again.text).toBe("");
  expect((await get(path, { "if-none-match": "*" })).status).toBe(304);
  expect((await get(path, { "if-none-match": '"other"' })).status).toBe(200);
});

test("an asset that is not there is said to be missing", async () => {
  expect((await get("/assets/..%2fapp.ts")).status).toBe(404);
  expect(await statusFor("GET", "/assets/app/gone.js", { accept: "*/*" })).toBe(404);
  expect(await statusFor("POST", "/assets/app/gone.js", { accept: "*/*" })).toBe(405);
});

test("the page that verifies is open to everybody, framed by own pages only, and its policy allows nothing unsafe", async () => {
  const { status, headers, text } = await get("/verifier.html");
  expect(status).toBe(200);
  const policy = headers.get("Content-Security-Policy");
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-.*frame-ancestors 'self'$/);
  expect(headers.get("X-Frame-Options")).toBe("SAMEORIGIN");
  expect(policy).not.toContain("unsafe");
  expect(text).toContain("<h1>Verify a result</h1>");
});

test("the guides are written by the server, and the page of all calls leads to what can be read without a script", async () => {
  const guide = await get("/docs/verify");
  expect(guide.text).toContain("<title>Verify a result · Tyche</title>");
  expect(guide.text).toContain('<h2 id="the-verdicts">The verdicts</h2>');
  expect(guide.text).toContain('<li><a href="#the-verdicts">The verdicts</a></li>');
  const reference = noscriptOf((await get("/docs")).text);
  const links = [...reference.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
  expect(links).toEqual(["/docs/api", "/llms.txt", "/openapi.json", "/docs/README"]);
  for (const link of links) expect([link, (await get(link)).status]).toEqual([link, 200]);
});

const NOSCRIPT = /<noscript>(.*?)<\/noscript>/s;

/** Returns what a page says to whoever runs no script. */
function noscriptOf(text: string): string {
  return NOSCRIPT.exec(text)![1]!;
}

function withoutNoscript(text: string): string {
  return text.replace(NOSCRIPT, "").replace(/<title>.*?<\/title>/, "");
}

/** Returns the status of a call with its own Host header, which fetch doesn't allow. */
function statusFor(method: string, path: string, headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(tyche.url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { host: hostname, port, method, path, headers: { accept: "text/html", ...headers } },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode!));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}
