import { createSocket } from "node:dgram";
import { afterAll, expect, test } from "vitest";
import { createGuardedFetch } from "../../../sandbox/host/net/guardedFetch.ts";
import { createRequestBudget } from "../../../sandbox/host/net/requestBudget.ts";
import { createPublicResolver, systemResolver } from "../../../sandbox/host/net/resolver.ts";

// A name server on loopback: answers A and AAAA queries for the names below, and ignores all others.
const RECORDS: Readonly<Record<string, { readonly a?: readonly number[]; readonly aaaa?: string }>> = {
  "both.example": { a: [93, 184, 215, 14], aaaa: "2a001450400100000000000000000001" },
  "four.example": { a: [93, 184, 215, 14] },
  "mixed.example": { a: [93, 184, 215, 14], aaaa: "00000000000000000000000000000001" },
  "none.example": {},
};
const A = 1;
const nameServer = createSocket("udp4");
nameServer.on("message", (query, { port, address }) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const record = RECORDS[labels.join(".").toLowerCase()];
  if (record === undefined) return;
  const isA = query.readUInt16BE(at + 1) === A;
  const data = isA ? record.a && Buffer.from(record.a) : record.aaaa && Buffer.from(record.aaaa, "hex");
  const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, data ? 1 : 0, 0, 0, 0, 0]);
  const answer = data
    ? [Buffer.from([0xc0, 12, 0, isA ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, data.length]), data]
    : [];
  nameServer.send(Buffer.concat([header, question, ...answer]), port, address);
});
await new Promise<void>((resolve) => nameServer.bind(0, "127.0.0.1", resolve));
afterAll(() => nameServer.close());
const publicResolver = createPublicResolver([`127.0.0.1:${nameServer.address().port}`]);
const never = new AbortController().signal;

test("gives every A and AAAA record", async () => {
  expect(await publicResolver("both.example", never)).toEqual([
    { address: "93.184.215.14", family: 4 },
    { address: "2a00:1450:4001::1", family: 6 },
  ]);
  expect(await publicResolver("four.example", never)).toEqual([{ address: "93.184.215.14", family: 4 }]);
});

test("mixed answers of a real name server are refused", async () => {
  const outcome = await createGuardedFetch({ resolve: publicResolver }).fetch(
    { url: "http://mixed.example/" },
    { budget: createRequestBudget() },
  );
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "refused" } });
});

test("a name without address", async () => {
  await expect(publicResolver("none.example", never)).rejects.toThrow("ENODATA");
});

test("names whose servers keep silent delay no other lookup, and end with the request", async () => {
  const abort = new AbortController();
  let ended = 0;
  const pending = Array.from({ length: 32 }, () =>
    publicResolver("silent.example", abort.signal).catch((error: Error) => {
      ended += 1;
      return error.message;
    }),
  );
  await Promise.all([publicResolver("four.example", never), systemResolver("localhost", never)]);
  expect(ended).toBe(0);
  abort.abort();
  // Without cancellation they would time out.
  for (const reason of await Promise.all(pending)) expect(reason).toContain("ECANCELLED");
});

test("the system's resolver knows the hosts file", async () => {
  expect((await systemResolver("localhost", never)).map(({ address }) => address)).toContain("127.0.0.1");
});
