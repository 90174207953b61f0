import { expect, test } from "vitest";
import { AnswerTooLargeError } from "../../src/client/errors.ts";
import { readEvents, type StreamEvent } from "../../src/client/follow.ts";

/** Reads a stream that arrives in these pieces. */
async function read(...pieces: readonly string[]): Promise<readonly StreamEvent[]> {
  const body = ReadableStream.from(pieces).pipeThrough(new TextEncoderStream());
  return await Array.fromAsync(readEvents(body, () => {}));
}

test.each(["\n", "\r\n", "\r"])("lines that end in %j", async (end) => {
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

test("an end of a line that comes in two pieces is one", async () => {
  expect(await read("data: one\r", "\ndata: two\r", "\n\r", "\n")).toMatchObject([{ data: "one\ntwo" }]);
});

test("an event that is not whole at the end is left out", async () => {
  expect(await read("data: one\n\ndata: tw")).toMatchObject([{ data: "one" }]);
});

test.each([
  ["a line without an end", "a"],
  ["an event of many lines", "data: one\n"],
  ["an event of many fields that mean nothing", "nothing: one\n"],
])("%s is not read for ever", async (_, piece) => {
  const chunk = new TextEncoder().encode(piece.repeat(100_000));
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(chunk) });
  const error = await Array.fromAsync(readEvents(body, () => {})).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AnswerTooLargeError);
  expect(error).toMatchObject({ message: expect.stringContaining("larger than 4000000 characters") });
});
