import { expect, test } from "vitest";
import { createBatchCount } from "../../../src/networks/embedded/setBack.ts";
import type { RecordedBlock } from "../../../src/networks/embedded/recorder.ts";

/** Creates a count, with functions that send, mine manually, and produce a block with a number of transactions. */
function createCounted() {
  const entered = { send: 0, mine: 0, read: 0 };
  const count = createBatchCount({ entered: (requestClass) => entered[requestClass] });
  return {
    count,
    send: () => (entered.send += 1),
    mine: () => (entered.mine += 1),
    block: (transactions: number) =>
      count.onBlock({ header: { transactions: Array.from({ length: transactions }) } } as RecordedBlock),
  };
}

test("even where each transaction sent has a block of its own", () => {
  const { count, send, block } = createCounted();
  count.rest();
  expect(count.isEven()).toBe(true);
  for (let i = 0; i < 3; i += 1) {
    send();
    expect(count.isEven()).toBe(false);
    block(1);
    expect(count.isEven()).toBe(true);
  }
});

test.each<[what: string, act: (chain: ReturnType<typeof createCounted>) => void]>([
  [
    "two share a block, as an empty one may follow",
    ({ send, block }) => {
      send();
      send();
      block(2);
    },
  ],
  [
    "two share a block and an empty one has come, while a third was refused or isn't mined",
    ({ send, block }) => {
      send();
      send();
      send();
      block(2);
      block(0);
    },
  ],
  [
    "somebody mines by hand",
    ({ send, mine, block }) => {
      send();
      mine();
      block(1);
    },
  ],
  ["something else has happened", ({ count }) => count.doubt()],
])("not even when %s; it is again when the chain has rested", (_, act) => {
  const chain = createCounted();
  chain.count.rest();
  act(chain);
  expect(chain.count.isEven()).toBe(false);
  chain.count.rest();
  expect(chain.count.isEven()).toBe(true);
});

test("in doubt until the first rest", () => {
  expect(createCounted().count.isEven()).toBe(false);
});
