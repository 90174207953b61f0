import { toHex } from "viem";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { QUICKNET, type DrandRound } from "../../src/beacon/drand.ts";
import { createLateBeacons } from "../../src/requests/lateBeacons.ts";
import type { Store } from "../../src/store/store.ts";
import { DATABASES, useStore } from "../support/databases.ts";
import { QUICKNET_HASH, QUICKNET_ROUNDS } from "../support/drandRelay.ts";

const ROUND: DrandRound = { round: 1000n, chainHash: QUICKNET_HASH };
const BYTES = QUICKNET_ROUNDS.get(1000n)!;
const SIGNATURE = toHex(BYTES);

describe.each(DATABASES)("%s", (_kind, prepare) => {
  let store: Store;
  useStore(prepare, (opened) => (store = opened));
  let closing: AbortController;
  let admitted: number;
  beforeEach(() => {
    closing = new AbortController();
    admitted = 0;
  });
  afterEach(() => closing.abort());

  /** Opens one replica's part. */
  const open = (errors: unknown[] = []) =>
    createLateBeacons({
      db: store.db,
      findChain: (hash) => (hash === QUICKNET_HASH ? QUICKNET : undefined),
      onError: (error) => errors.push(error),
    });
  const admit = async (): Promise<void> => void (admitted += 1);
  /** Waits for a round as the oracle does. */
  const receive = (rounds = open(), round = ROUND): Promise<Uint8Array> => {
    const signature = rounds.receive(round, closing.signal);
    signature.catch(() => {});
    return signature;
  };

  test("a late round is taken from anybody, for all who wait for it, and kept", async () => {
    const rounds = open();
    const waiting = [receive(rounds), receive(rounds)];
    await vi.waitFor(() => expect(rounds.get(ROUND)).rejects.toThrow("whoever has it can PUT"));
    expect(await rounds.handIn(ROUND, SIGNATURE.slice(2).toUpperCase(), admit)).toBe(SIGNATURE);
    expect(await Promise.all(waiting)).toEqual([BYTES, BYTES]);
    // A restart forgets nothing.
    expect(await open().get(ROUND)).toBe(SIGNATURE);
    expect(await open().receive(ROUND, closing.signal)).toEqual(BYTES);
  });

  test("another replica takes it", async () => {
    const waiting = receive();
    await vi.waitFor(() => open().handIn(ROUND, SIGNATURE, admit));
    expect(await waiting).toEqual(BYTES);
  });

  test("what a relay has after all is kept, too, and what came with it is not checked", async () => {
    const rounds = open();
    const waiting = receive(rounds);
    await vi.waitFor(() => expect(rounds.get(ROUND)).rejects.toThrow("whoever has it"));
    await rounds.settle(ROUND, BYTES);
    expect(await waiting).toEqual(BYTES);
    expect(await rounds.handIn(ROUND, "no hex", admit)).toBe(SIGNATURE);
    expect(admitted).toBe(0);
  });

  test.each([
    ["that nothing waits for", { ...ROUND, round: 999n }],
    ["of another chain", { ...ROUND, chainHash: `0x${"99".repeat(32)}` } as const],
  ])("refuses a round %s, unchecked", async (_what, round) => {
    const rounds = open();
    void receive(rounds);
    await vi.waitFor(() => expect(rounds.get(ROUND)).rejects.toThrow("whoever has it"));
    await expect(rounds.handIn(round, SIGNATURE, admit)).rejects.toMatchObject({ code: "not_found" });
    await expect(rounds.get(round)).rejects.toMatchObject({ code: "not_found" });
    expect(admitted).toBe(0);
  });

  test("refuses a late round of a chain that is no longer followed", async () => {
    const round = { ...ROUND, chainHash: `0x${"99".repeat(32)}` } as const;
    void receive(open(), round);
    await vi.waitFor(() => expect(open().get(round)).rejects.toThrow("whoever has it"));
    await expect(open().handIn(round, SIGNATURE, admit)).rejects.toMatchObject({ code: "not_found" });
  });

  test.each([
    ["of the next round", toHex(QUICKNET_ROUNDS.get(1001n)!), 1],
    ["that is the point at infinity", `c0${"00".repeat(47)}`, 1],
    ["of order 3", `80${"00".repeat(47)}`, 1],
    ["that is a byte short", SIGNATURE.slice(0, -2), 0],
    ["that is a byte long", `${SIGNATURE}00`, 0],
    ["that is no hex", "zz".repeat(48), 0],
    ["that is nothing", "", 0],
  ])("refuses a signature %s", async (_what, signature, checks) => {
    const rounds = open();
    void receive(rounds);
    await vi.waitFor(() => expect(rounds.get(ROUND)).rejects.toThrow("whoever has it"));
    await expect(rounds.handIn(ROUND, signature, admit)).rejects.toMatchObject({
      code: "invalid_parameter",
      details: [{ path: "/signature" }],
    });
    expect(admitted).toBe(checks);
    await expect(rounds.get(ROUND)).rejects.toThrow("whoever has it");
  });
});

describe.each(DATABASES.slice(0, 1))("%s", (_kind, prepare) => {
  let store: Store;
  useStore(prepare, (opened) => (store = opened));

  test("a database that fails is asked again", async () => {
    const errors: unknown[] = [];
    const find = vi.spyOn(store.db, "insertInto");
    find.mockImplementationOnce(() => {
      throw new Error("away");
    });
    const rounds = createLateBeacons({
      db: store.db,
      findChain: () => QUICKNET,
      onError: (error) => errors.push(error),
    });
    const closing = new AbortController();
    const waiting = rounds.receive(ROUND, closing.signal);
    await vi.waitFor(() => rounds.handIn(ROUND, SIGNATURE, async () => {}));
    expect(await waiting).toEqual(BYTES);
    expect(errors).toEqual([expect.objectContaining({ message: "away" })]);
    find.mockRestore();
  });
});
