import { expect, test } from "vitest";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { CLOSED } from "./emitter.ts";

const ADDRESS = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
let tyche: SharedDapp;
shared.beforeAll(async ({ service }) => {
  tyche = await joinService(service);
  // Secrets are looked for once the dapp has subscriptions.
  await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip");
});

const call = (method: string, path: string, body: object) => tyche.call(method, path, { body });
const functionOf = (source: unknown, more: object = {}) => ({ function: { source, ...more } });
const kinds = [
  ["schedule", "/api/schedules", { every: "1d" }],
  ["log trigger", "/api/triggers", { addresses: [ADDRESS], event: CLOSED }],
] as const;
const settings = { name: "of a function", network: "sepolia" };

test.each(kinds)("refuses a %s whose function can never pass its dry run", async (_, path, when) => {
  const create = (action: object) => call("POST", path, { ...settings, ...when, action });
  const { status, data } = await create(functionOf("return 1 +;"));
  expect(status).toBe(400);
  expect(data.details).toEqual([
    {
      path: "/action/function/source",
      message: expect.stringContaining("syntax error in line 1, column 11: unexpected `;`"),
    },
  ]);
  const unset = await create(functionOf("return secrets.KEY;", { secrets: ["KEY"] }));
  expect(unset.data.details).toEqual([
    { path: "/action/function/secrets/0", message: expect.stringContaining("there is no secret KEY") },
  ]);
  const list = await tyche.call("GET", path);
  expect(list.data.items).toEqual([]);
});

test.each(kinds)("refuses a change of a %s to such a function", async (_, path, when) => {
  const action = functionOf("// TypeScript\nconst x: number = args.length; throw new Error(`closed ${x}`);");
  const { status, data: created } = await call("POST", path, { ...settings, ...when, action });
  expect(status).toBe(200);
  const changed = await call("PATCH", `${path}/${created.id}`, { action: functionOf("line;\nexport x;") });
  expect(changed.data.details).toMatchObject([
    { path: "/action/function/source", message: expect.stringContaining("line 2, column 1") },
  ]);
  expect((await tyche.call("DELETE", `${path}/${created.id}`)).data.action).toEqual(created.action);
});

test("accepts a log trigger whose logs name the secrets", async () => {
  const action = functionOf("return secrets[args[0]];", {
    args: [{ event: "round" }],
    secrets: [{ event: "round" }],
  });
  const { status, data } = await call("POST", "/api/triggers", { ...settings, ...kinds[1][2], action });
  expect(data).toMatchObject({ action });
  expect(status).toBe(200);
  await tyche.call("DELETE", `/api/triggers/${data.id}`);
});
