import { expect, test } from "vitest";
import { readEvents, type StreamEvent } from "../../src/client/readEvents.ts";

/** Reads a stream that arrives in these pieces. */
async function read(...pieces: readonly string[]): Promise<readonly StreamEvent[]> {
  const body = ReadableStream.from(pieces).pipeThrough(new TextEncoderStream());
  return await Array.fromAsync(readEvents(body, () => {}));
}

test.each(["\n", "\r\n", "\r"])("default: lines that end in %j", async (end) => {
  const lines = [
    "id: 7",
    "event: state",
    ": a comment",
    "data: one",
    "data:two",
    "",
    "data",
    "",
    ": the end",
  ];
  expect(await read(lines.join(end))).toEqual([
    { id: "7", event: "state", data: "one\ntwo" },
    { id: "7", event: "message", data: "" },
  ]);
});

test("behaviour: an end of a line that comes in two pieces is one", async () => {
  expect(await read("data: one\r", "\ndata: two\r", "\n\r", "\n")).toMatchObject([{ data: "one\ntwo" }]);
});

test("behaviour: an event that is not whole at the end is left out", async () => {
  expect(await read("data: one\n\ndata: tw")).toMatchObject([{ data: "one" }]);
});

test("error: a line without an end is not read for ever", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000_000).fill(97)),
  });
  await expect(Array.fromAsync(readEvents(body, () => {}))).rejects.toThrow(
    "a line of the stream is longer than 4000000 characters",
  );
});
