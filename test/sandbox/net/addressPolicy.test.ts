import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { refusalOfAddress } from "../../../sandbox/host/net/addressPolicy.ts";

// First and last address of each refused range, and the public neighbours on both sides, if any.
const RANGES: readonly (readonly [
  first: string,
  last: string,
  below: string | null,
  above: string | null,
])[] = [
  ["0.0.0.0", "0.255.255.255", null, "1.0.0.0"],
  ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"],
  ["192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"],
  ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"],
  ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224.0.0.0", "255.255.255.255", "223.255.255.255", null],
  ["::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", null, "2000::"],
  [
    "2001::",
    "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
  ],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff:ffff::1", "2001:db9::"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff:ffff:ffff::1", "2003::"],
  ["2620:4f:8000::", "2620:4f:8000:ffff::1", "2620:4f:7fff:ffff::1", "2620:4f:8001::"],
  ["3ffe::", "3ffe:ffff::1", "3ffd:ffff::1", "3fff:1000::"],
  ["3fff::", "3fff:fff:ffff::1", null, "3fff:1000::"],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::1", null],
];

test.each(RANGES)("refuses %s to %s and admits its neighbours", (first, last, below, above) => {
  const neighbours = [below, above].filter((address) => address !== null);
  expect([first, last].filter((address) => refusalOfAddress(address) === null)).toEqual([]);
  expect(neighbours.filter((address) => refusalOfAddress(address) !== null)).toEqual([]);
});

test.each(["2a00:1450::5efe:10.0.0.1", "2a00:1450::200:5efe:7f00:1"])("refuses ISATAP %s", (address) => {
  expect(refusalOfAddress(address)).toBe("ISATAP tunnel address");
});

test.each([
  "",
  "localhost",
  "2130706433",
  "0x7f.1",
  "127.1",
  "010.0.0.1",
  "2a00::1%eth0",
  "[2a00::1]",
  "1.2.3.4 ",
])("refuses %j, which is no address as the system writes it", (address) => {
  expect(refusalOfAddress(address)).toBe("not an IP address");
});

test("refuses every address of this machine", () => {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  expect(own.length).toBeGreaterThan(0);
  for (const { address } of own) expect(refusalOfAddress(address)).not.toBeNull();
});
