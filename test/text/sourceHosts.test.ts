import { expect, test } from "vitest";
import { findSourceHosts } from "../../src/text/sourceHosts.ts";

test.each([
  ["return Functions.encodeString('https://example.org')", undefined],
  ["// fetch(\nreturn Functions.encodeString('fine')", []],
  ["await fetch('https://API.example.org:8443/v1?to=https')", ["api.example.org:8443"]],
  [
    "// see https://docs.example.org\n/* https://old.example.org */\nconst url = `https://a.example/${args[0]}`; // https://b.example\n" +
      "await Functions.makeHttpRequest({ url }); await Functions.makeHttpRequest({url: 'http://c.example?x'})",
    ["a.example", "c.example"],
  ],
  ["await fetch('https://a.example/1'); await fetch('https://a.example/2')", ["a.example"]],
  ["await fetch(`https://${args[0]}.example/1`)", []],
  ["await fetch(args[0])", []],
  ["/* a */ await fetch('https://a.example', { accept: '*/*' }) // https://b.example", ["a.example"]],
  [
    "await fetch('https://a.example', { accept: '*/*' }); await fetch('https://b.example', { accept: '*/*' })",
    ["a.example", "b.example"],
  ],
  ["// https://b.example\nawait fetch('https://a.example') /* https://c.example", ["a.example", "c.example"]],
])("%s names the hosts %j", (source, hosts) => {
  expect(findSourceHosts(source)).toEqual(hosts);
});
