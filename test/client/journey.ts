import { createClient, InvalidParameterError, NotFoundError } from "../../src/client/index.ts";

/** Uses the client on a service, as any platform would, and returns the results. */
export async function runJourney(baseUrl: string, apiKey: string) {
  const tyche = createClient({ baseUrl, apiKey });
  const range = await tyche.preset("range", { min: 2n ** 200n, max: 2n ** 200n }, { network: "sepolia" });
  const random = await tyche.random({ numWords: 2, network: "fuji" });
  const doubled = await tyche.runFunction({
    network: "fuji",
    source: "return Functions.encodeUint256(BigInt(args[0]) * 2n)",
    args: ["21"],
    returnType: "uint256",
  });
  const dryRun = await tyche.simulate({ source: "console.log('here'); return Functions.encodeString('ok')" });

  const submitted = await tyche.submit.preset("nDice", { numDice: 3 }, { network: "sepolia" });
  const states: string[] = [];
  for await (const event of submitted.stream())
    states.push(event.type === "state" ? event.state : event.result.parsedResult);
  const again = await submitted.wait();
  const stored = await tyche.request(submitted.id);
  const page = await tyche.requests({ kind: "preset", limit: 1 });
  const older = await tyche.requests({ kind: "preset", limit: 1, cursor: page.nextCursor ?? "" });

  const [idempotencyKey, network] = ["journey-1", "sepolia"];
  const once = await tyche.preset("coinflip", {}, { idempotencyKey, network });
  const twice = await tyche.submit.preset("coinflip", {}, { idempotencyKey, network });
  const verification = await tyche.verify({ network: "sepolia", tx: once.vrfv2Hash });

  const refused = await tyche.random({ numWords: 0 }).catch((error: unknown) => error);
  const missing = await tyche.wait("req_00000000000000000000000000").catch((error: unknown) => error);
  const networks = await tyche.networks();
  return {
    range: range.parsedResult === String(2n ** 200n),
    words: random.randomNumber.length,
    doubled: doubled.parsedResult,
    console: dryRun.console.trim(),
    states: states.slice(0, -1),
    isSame: states.at(-1) === again.parsedResult,
    stored: stored.state,
    pages: [page.items[0]?.id === submitted.id, older.items[0]?.kind],
    isOnce: once.requestId === (await twice.wait()).requestId,
    verdict: verification.verdict,
    refused: refused instanceof InvalidParameterError ? refused.details[0]?.path : String(refused),
    missing: missing instanceof NotFoundError,
    presets: (await tyche.presets()).map(({ name }) => name),
    serving: networks.every(({ status }) => status === "serving"),
  };
}
