import { expect, test } from "vitest";
import { startHarness } from "./harness.ts";

test("default: the page and its files are served, and none asks for anything from elsewhere", async () => {
  const { call } = await startHarness();
  const page = await call("GET", "/docs", { key: null });
  expect(page.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  const linked = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? "");
  for (const url of linked.filter((url) => url !== "data:,")) {
    expect(url).toMatch(/^\/[a-z]/);
    expect([url, (await call("GET", url, { key: null })).status]).toEqual([url, 200]);
  }
  for (const file of ["/docs/docs.js", "/docs/docs.css"]) {
    expect((await call("GET", file, { key: null })).text).not.toMatch(/https?:\/\//);
  }
});

test("behaviour: nothing on the page is inline, as the security policy demands", async () => {
  const { call } = await startHarness();
  const { text, headers } = await call("GET", "/docs", { key: null });
  expect(headers.get("Content-Security-Policy")).toContain("script-src 'self'");
  expect(text).not.toMatch(/<script(?![^>]*src=)|<style|\son[a-z]+=|style=/);
  const script = await call("GET", "/docs/docs.js", { key: null });
  expect(script.text).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|eval\(/);
});
