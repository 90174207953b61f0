import { expect, test } from "vitest";
import { findPage } from "../../src/domain/pagePaths.ts";

test.each([
  ["/", "/", {}],
  ["/explorer/search", "/explorer/search", {}],
  ["/explorer/fuji/", "/explorer/:network", { network: "fuji" }],
  ["/explorer/fuji/tx/0xab", "/explorer/:network/tx/:hash", { network: "fuji", hash: "0xab" }],
  ["/dapps/dapp_1/keys", "/dapps/:dappId/keys", { dappId: "dapp_1" }],
])("%s is a page", (path, page, params) => {
  expect(findPage(path)).toEqual({ page, params });
});

test.each([
  "/explorer/fuji/foo",
  "/explorer/fuji/tx",
  "/explorer/search/x",
  "/dapps",
  "/r/",
  "/r/a/b",
  "/foo",
])("there is no page %s", (path) => {
  expect(findPage(path)).toBeUndefined();
});
