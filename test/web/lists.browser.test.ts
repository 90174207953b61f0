import type { Browser, Page } from "playwright-core";
import { beforeEach, afterEach, expect, test } from "vitest";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const NETWORK = "sepolia";

let browser: Browser;
let tyche: SharedDapp;
let dapp: string;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
  dapp = `/dapps/${tyche.dappId}`;
  const client = connectOperator(tyche).as(tyche.dappId);
  const { link } = (await client.networks()).find(({ name }) => name === NETWORK)!.contracts;
  await Promise.all([
    client.random({ network: NETWORK, numWords: 3 }),
    client.preset("coinflip", {}, { network: NETWORK }),
    client.addConsumer({ network: NETWORK, consumer: link }),
    client.simulate({ source: `throw new Error("${"long ".repeat(60)}")`, network: NETWORK }),
    client.simulate({ source: `return Functions.encodeString("${"w".repeat(200)}")` }),
  ]);
});

let visitor: Visitor;
let page: Page;
beforeEach(async () => {
  visitor = await createVisitor(browser, { width: 390, operatorOf: tyche });
  page = visitor.page;
});
afterEach(() => visitor.close());

/** A page's path, its list, and the list's heads. */
const LISTS: readonly (readonly [name: string, path: () => string, label: string, heads: RegExp])[] = [
  ["requests", () => `${dapp}/requests`, "List of requests", /^Request State Result Network Received$/],
  ["dry runs", () => `${dapp}/dry-runs`, "The last dry runs", /^Source State Result Network Run$/],
  [
    "consumers",
    () => `${dapp}/consumers`,
    "Linked consumers",
    /^Contract Network On the chain Linked Transaction Unlink$/,
  ],
  [
    "usage",
    () => `${dapp}/usage`,
    "Usage by day and network",
    /^Day Network Presets Functions Random Links Fulfilled Failed Refused Dry runs Words Gas Charged Topped up$/,
  ],
  [
    "transactions",
    () => `/explorer/${NETWORK}`,
    "Transactions",
    // Another file of the worker may have sent some value.
    /^Transaction Status What Block Time From To (?:Value, ETH )?Fee, ETH$/,
  ],
  [
    "blocks",
    () => `/explorer/${NETWORK}/blocks`,
    "List of blocks",
    /^Block Time Transactions Gas used Of the limit$/,
  ],
];

test.each(LISTS)(
  "on a phone, the list of %s stays within its card, and screen readers have its heads",
  async (_, path, label, heads) => {
    await visitor.open(tyche.url + path());
    const list = page.getByRole("region", { name: label, exact: true });
    await list.getByRole("row").nth(1).waitFor();
    expect(await rolesIn(label)).toContain("columnheader");
    expect((await list.getByRole("columnheader").allTextContents()).join(" ")).toMatch(heads);
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  },
);

/** Returns the roles of a region's contents as the browser reports them to screen readers: they depend on the layout too. */
async function rolesIn(label: string): Promise<readonly (string | undefined)[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  const roles: (string | undefined)[] = [];
  const add = (id: string): void => {
    const node = nodes.find(({ nodeId }) => nodeId === id);
    roles.push(node?.role?.value as string | undefined);
    for (const child of node?.childIds ?? []) add(child);
  };
  const region = nodes.find(({ role, name }) => role?.value === "region" && name?.value === label)!;
  add(region.nodeId);
  return roles;
}
