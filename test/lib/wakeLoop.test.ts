import { expect, onTestFinished, test } from "vitest";
import { startWakeLoop, type WakeLoop } from "../../src/lib/wakeLoop.ts";

const DAY_MS = 86_400_000;

/** A loop whose looks end when the test says so, with the pause or the error that it says. */
function begin(intervalMs = DAY_MS) {
  const looks: PromiseWithResolvers<number | void>[] = [];
  const errors: unknown[] = [];
  const loop: WakeLoop = startWakeLoop(
    async () => {
      const look = Promise.withResolvers<number | void>();
      looks.push(look);
      return await look.promise;
    },
    { intervalMs, onError: (error) => errors.push(error) },
  );
  onTestFinished(async () => {
    const stopped = loop.stop();
    looks.at(-1)!.resolve();
    await stopped;
  });
  const begun = (count: number) => expect.poll(() => looks.length).toBe(count);
  return { loop, looks, errors, begun };
}

/** Lets everything that is due in this turn of the event loop happen. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("looks at the start and at each wake, one look at a time", async () => {
  const { loop, looks, begun } = begin();
  await begun(1);
  loop.wake();
  loop.wake();
  await settle();
  expect(looks).toHaveLength(1);
  looks[0]!.resolve();
  await begun(2);
  looks[1]!.resolve();
  await settle();
  expect(looks).toHaveLength(2);
  loop.wake();
  await begun(3);
});

test("looks again for a wake that comes as a look ends", async () => {
  const { loop, looks, begun } = begin();
  // Nothing of the loop's own has run since the look ended.
  looks[0]!.promise.then(loop.wake, loop.wake);
  looks[0]!.resolve();
  await begun(2);
  expect(looks).toHaveLength(2);
});

test("looks again after the pause that a look asks for, at most the interval, and after an error", async () => {
  const { looks, errors, begun } = begin(5);
  looks[0]!.resolve(1);
  await begun(2);
  looks[1]!.resolve(DAY_MS);
  await begun(3);
  looks[2]!.resolve(-1);
  await begun(4);
  const error = new Error("the database is locked");
  looks[3]!.reject(error);
  await begun(5);
  expect(errors).toEqual([error]);
});

test("stops once the look under way has ended, and looks no more", async () => {
  const { loop, looks } = begin(1);
  let isStopped = false;
  const stopped = loop.stop().then(() => (isStopped = true));
  loop.wake();
  await settle();
  expect(isStopped).toBe(false);
  looks[0]!.resolve(0);
  await stopped;
  loop.wake();
  await settle();
  expect(looks).toHaveLength(1);
});
