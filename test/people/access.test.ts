import { beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { DATABASES, useStore } from "../support/databases.ts";
import { createOperatorAccess, type OperatorAccess } from "../../src/people/access.ts";

const TOKEN = "operator-token-of-these-tests-0123456789";

let store: Store;
let access: OperatorAccess;
let now: number;
useStore(DATABASES[0]![1], (given) => {
  store = given;
});
/** The access check of a process, on the same data directory unless `tokenKey` is another. */
const start = ({ operatorToken = TOKEN, tokenKey = new Uint8Array(32) } = {}): Promise<OperatorAccess> =>
  createOperatorAccess({ operatorToken, tokenKey, store, now: () => now });
beforeEach(async () => {
  now = 1_000_000;
  access = await start();
});

const open = async (): Promise<{ readonly secret: string; readonly token: string }> => {
  const secret = (await access.signIn(TOKEN))!;
  return { secret, token: (await access.findToken(secret, access.pageKeyOf(secret)))! };
};

describe("the operator token", () => {
  test("it is recognized, and opens a session", async () => {
    expect(await access.recognize(TOKEN)).toEqual({ id: "operator", isOperator: true });
    const { secret, token } = await open();
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await access.recognize(token)).toEqual({
      id: expect.stringMatching(/^session_[0-9a-f]{12}$/),
      isOperator: true,
    });
  });

  test("blanks and the line's end around it, as a file has one, don't count", async () => {
    expect(await access.signIn(` ${TOKEN}\n`)).toMatch(/^[\w-]{43}$/);
  });

  test.each(["", "wrong", `${TOKEN}x`, TOKEN.slice(1)])("%j is nothing, and opens none", async (text) => {
    expect(await access.recognize(text)).toBeUndefined();
    expect(await access.signIn(text)).toBeUndefined();
  });

  test("the code of a start opens one session", async () => {
    expect(await access.signInOnce("wrong")).toBeUndefined();
    const secret = await access.signInOnce(access.signInCode);
    expect(await access.findToken(secret!, access.pageKeyOf(secret!))).toMatch(/^tyche_session_/);
    expect(await access.signInOnce(access.signInCode)).toBeUndefined();
  });
});

describe("the token of a session", () => {
  test("is worth nothing if it is changed anywhere, or of another service", async () => {
    const { token } = await open();
    const [id, mac] = token.slice("tyche_session_".length).split(".") as [string, string];
    const other = await start({ tokenKey: new Uint8Array(32).fill(1) });
    expect(await other.recognize(token)).toBeUndefined();
    for (const changed of [
      `tyche_session_${id.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))}.${mac}`,
      `tyche_session_${id}.${mac.replace(/^./, (letter) => (letter === "A" ? "B" : "A"))}`,
      `tyche_session_${id}.`,
      `tyche_session_${id}`,
      `${token} `,
    ])
      expect(await access.recognize(changed)).toBeUndefined();
  });

  test("neither the cookie's secret nor what is stored of it stands for it", async () => {
    const { secret, token } = await open();
    expect(await access.recognize(secret)).toBeUndefined();
    const pageKey = access.pageKeyOf(secret);
    expect(await access.findToken(token, pageKey)).toBeUndefined();
    expect(await access.findToken(`${secret}x`, access.pageKeyOf(`${secret}x`))).toBeUndefined();
    // This is what a server on another port of the host gets: the cookie, but no key.
    for (const other of ["", `${pageKey}x`, secret, token, access.pageKeyOf(token)])
      expect(await access.findToken(secret, other)).toBeUndefined();
    expect(await access.findToken(secret, pageKey)).toBe(token);
  });

  test("it ends after twelve hours, and when one signs out", async () => {
    const [first, second] = [await open(), await open()];
    await access.signOut(first.secret);
    expect(await access.recognize(first.token)).toBeUndefined();
    expect(await access.findToken(first.secret, access.pageKeyOf(first.secret))).toBeUndefined();
    expect(await access.recognize(second.token)).toBeDefined();
    now += 12 * 60 * 60 * 1000;
    expect(await access.recognize(second.token)).toBeUndefined();
  });

  test("survives a restart, but not another operator token, and its id is not stored", async () => {
    const { secret, token } = await open();
    const restarted = await start();
    expect(await restarted.findToken(secret, access.pageKeyOf(secret))).toBe(token);
    expect(await restarted.recognize(token)).toBeDefined();
    const operatorToken = `${TOKEN} that has changed`;
    expect(await (await start({ operatorToken })).recognize(token)).toBeUndefined();
    const stored = await store.db.selectFrom("operator_sessions").selectAll().execute();
    expect(stored).toHaveLength(1);
    expect(token).not.toContain(stored[0]!.id);
  });

  test("the hundred-and-first ends the oldest", async () => {
    const first = await open();
    now += 1;
    const second = await open();
    now += 1;
    for (let i = 0; i < 99; i += 1, now += 1) await access.signIn(TOKEN);
    expect(await access.recognize(first.token)).toBeUndefined();
    expect(await access.recognize(second.token)).toBeDefined();
  });
});
