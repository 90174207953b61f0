import { describe, expect, test } from "vitest";
import { listEvidence, saveEvidence } from "../../src/store/oracleEvidence.ts";
import type { Store } from "../../src/store/store.ts";
import { DATABASES, useStore } from "../support/databases.ts";

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  useStore(create, (opened) => {
    store = opened;
  });

  const save = (request: number, signer = "0xA", network = "one"): Promise<void> =>
    saveEvidence(store, {
      network,
      signer,
      requestId: String(request),
      evidence: `${network} ${signer} ${request}`,
    });

  test("evidence is kept once for a node and request, by network, in its order", async () => {
    await save(2);
    await save(1);
    await save(2);
    await save(1, "0xB");
    await save(1, "0xA", "other");
    expect(await listEvidence(store.db, "one")).toEqual(["one 0xA 2", "one 0xA 1", "one 0xB 1"]);
  });

  test("a node that contradicts itself without end takes no place without end", async () => {
    for (let request = 0; request < 9; request += 1) await save(request);
    expect(await listEvidence(store.db, "one")).toHaveLength(4);
  });
});
