import { expect, test } from "vitest";
import {
  AnswerTooLargeError,
  ConnectionError,
  createClient,
  type TycheClient,
} from "../../src/client/index.ts";

/** Connects a client to a service that answers every call with this body. */
function connect(bodyOf: () => ConstructorParameters<typeof Response>[0], status = 200) {
  let calls = 0;
  const client = createClient({
    baseUrl: "http://tyche.invalid",
    apiKey: "tyche_key",
    retries: 1,
    retryDelayMs: 1,
    fetch() {
      calls += 1;
      return Promise.resolve(new Response(bodyOf(), { status }));
    },
  });
  return { client, callCount: () => calls };
}

/** A body without an end, and how much of it was read. */
function createEndless() {
  const chunk = new Uint8Array(1_000_000).fill(0x20);
  const seen = { bytes: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      seen.bytes += chunk.length;
      controller.enqueue(chunk);
    },
    cancel: () => void (seen.isCancelled = true),
  });
  return { body, seen };
}

const USES: Readonly<Record<string, (client: TycheClient) => Promise<unknown>>> = {
  "a list": (client) => client.requests(),
  "a CSV file": (client) => client.usageCsv(),
  "a result": (client) => client.preset("coinflip"),
};

test.each(Object.keys(USES).flatMap((name) => [200, 503].map((status) => ({ name, status }))))(
  "$name without an end, with status $status, is not read for ever, and is not asked for again",
  async ({ name, status }) => {
    const { body, seen } = createEndless();
    const { client, callCount } = connect(() => body, status);
    const error = await USES[name]!(client).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AnswerTooLargeError);
    expect(error).toMatchObject({
      code: "answer_too_large",
      message: "the answer is larger than 32000000 bytes: ask for a shorter list, or check the service's URL",
    });
    expect(seen.bytes).toBeLessThan(40_000_000);
    expect(seen.isCancelled).toBe(true);
    expect(callCount()).toBe(1);
  },
);

test("an answer of 32,000,000 bytes is read", async () => {
  const [head, tail] = ['{"data":{"items":["', '"]}}'];
  const { client } = connect(() => head + "a".repeat(32_000_000 - head.length - tail.length) + tail);
  expect(await client.presets()).toHaveLength(1);
});

test("a character whose bytes arrive one by one is read as one", async () => {
  const bytes = new TextEncoder().encode('{"data":{"items":["é🎲"]}}');
  const { client } = connect(() => ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte))));
  expect(await client.presets()).toEqual(["é🎲"]);
});

test("a body that breaks off is asked for again", async () => {
  const { client, callCount } = connect(
    () => new ReadableStream({ pull: (controller) => controller.error(new TypeError("broken")) }),
  );
  const error = await client.presets().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ message: "the answer with status 200 is incomplete" });
  expect(callCount()).toBe(2);
});

test("an answer without a body is not Tyche's", async () => {
  await expect(connect(() => null).client.presets()).rejects.toThrow(
    "the answer with status 200 is not JSON",
  );
});
