import { execFileSync, spawn } from "node:child_process";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { createSteadyOutput } from "../../src/cli/steadyOutput.ts";

/** An output that takes as many bytes as it is told. */
function makeReader() {
  let room = Infinity;
  let text = "";
  return {
    text: () => text,
    setRoom: (bytes: number) => void (room = bytes),
    writeSome(this: void, bytes: Uint8Array): number {
      if (room === 0) throw Object.assign(new Error("EAGAIN"), { code: "EAGAIN" });
      const taken = bytes.subarray(0, room);
      room -= taken.length;
      text += Buffer.from(taken).toString();
      return taken.length;
    },
  };
}

test("keeps what can't be written, drops what exceeds a megabyte, and says how much once it can", () => {
  vi.useFakeTimers();
  const reader = makeReader();
  const output = createSteadyOutput(reader.writeSome, (count) => `${count} dropped`);
  output.write("first");
  reader.setRoom(3);
  output.write("second");
  output.write("third");
  expect(reader.text()).toBe("first\nsec");
  const long = "x".repeat(600_000);
  for (const line of [long, long, long]) output.write(line);
  reader.setRoom(Infinity);
  vi.advanceTimersByTime(200);
  expect(reader.text()).toBe(`first\nsecond\nthird\n${long}\n2 dropped\n`);
  output.write("last");
  expect(reader.text()).toMatch(/\n2 dropped\nlast\n$/);
  vi.useRealTimers();
});

const SCRIPT = `
  import { createServiceTerminal } from ${JSON.stringify(path.resolve("src/cli/terminal.ts"))};
  const { out, err } = createServiceTerminal();
  for (let i = 0; i < 200; i += 1) for (const write of [out, err]) write("x".repeat(1_000));
`;

test("doesn't end or wait when nobody reads a pipe", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", SCRIPT], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pause();
  child.stderr.pause();
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
});

test("doesn't end when the disk of both outputs is full", () => {
  const command = `"${process.execPath}" --input-type=module -e '${SCRIPT}' > /dev/full 2> /dev/full`;
  expect(execFileSync("sh", ["-c", command]).toString()).toBe("");
});
