import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { NETWORK } from "../../external/support/world.ts";
import { createRandom } from "../../oracle/protocol/random.ts";
import { withClient } from "../../support/postgres.ts";
import { CLOSED, EMITTER_CODE, encodeClose } from "../../triggers/emitter.ts";
import { startReplicas, type ReplicaWorld } from "../replicas/startReplicas.ts";
import { createTroubles, shuffleAgainAndAgain, type Troubles } from "../replicas/troubles.ts";
import { judgeTriggers, type CallApi, type Judged, type SetUp } from "./judgeTriggers.ts";
import { RECEIVERS, startReceivers, type Receivers } from "./receivers.ts";

export interface TriggerSoakOptions {
  /** Minimum duration: every trouble strikes at least once. */
  readonly seconds: number;
  /** The same seed makes the same choices in the same order. */
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** The results of a soak. */
export interface TriggerSoakReport extends Judged {
  /** How often each trouble struck. */
  readonly troubles: Readonly<Record<string, number>>;
  /** Violated invariants, a sentence each; empty if all held. */
  readonly violations: readonly string[];
}

const SCHEDULES = 50;
const TRIGGERS = 20;
const EVENTS = 500;
const OUTAGE_MS = 3 * 3_600_000;
const CALM_MS = 6_000;

/**
 * Lets schedules, log triggers and webhooks run on replicas while those, the database, the chain and the receivers fail, and then compares
 * what the service says with the chain and with what came to the receivers.
 */
export async function soakTriggers({ seconds, seed, say }: TriggerSoakOptions): Promise<TriggerSoakReport> {
  const random = createRandom(seed);
  const violations: string[] = [];
  const violate = (line: string): void => void violations.push(line);
  const struck: Record<string, number> = {};
  const receivers = await startReceivers(violate);
  let world: ReplicaWorld | undefined;
  try {
    const env = { TYCHE_ALLOW_HOSTS: receivers.host };
    world = await startReplicas({ count: 2, env, say, onEnd: violate });
    const { replicas, chain } = world;
    const callApi: CallApi = async (method, target, body) => {
      for (;;) {
        const tyche = random.pick(replicas).present();
        const answer = await tyche?.call(method, target, body && { body }).catch(() => undefined);
        if (answer !== undefined && answer.status < 400) return answer.data;
        if (answer !== undefined && answer.status < 429)
          throw new Error(`${method} ${target}: ${answer.data.err}`);
        await sleep(200);
      }
    };
    const setUp = await createAll(world, receivers, callApi);
    const emit = async (round: number, count: number): Promise<void> => {
      const [, , , from] = (await chain.call("eth_accounts", [])) as readonly Hex[];
      const call = { from, to: setUp.emitter, data: encodeClose(round, 1, count), gas: "0x100000" };
      await chain.call("eth_sendTransaction", [call]);
    };
    for (let i = 0; i < EVENTS / 10; i += 1) await emit(i % TRIGGERS, 10);
    say(`${EVENTS} events emitted`);
    const kinds = { ...createTroubles({ ...world, random }), ...createMore(world, receivers, emit) };
    const order = shuffleAgainAndAgain(Object.keys(kinds), random);
    const end = Date.now() + seconds * 1_000;
    while (Date.now() < end || Object.keys(struck).length < Object.keys(kinds).length) {
      await sleep(random.below(CALM_MS));
      await emit(random.below(TRIGGERS), 5);
      const name = order.next().value!;
      say(name);
      await kinds[name]!();
      struck[name] = (struck[name] ?? 0) + 1;
    }
    await Promise.all(replicas.map((one) => one.restarted()));
    const judged = await judgeTriggers({ ...setUp, callApi, chain, receivers, violate, say });
    return { ...judged, troubles: struck, violations };
  } finally {
    await world?.close();
    await receivers.close();
  }
}

/** Creates the webhooks, schedules and log triggers of one dapp, and the contract whose events they want. */
async function createAll({ chain }: ReplicaWorld, receivers: Receivers, callApi: CallApi): Promise<SetUp> {
  const [, , , from] = (await chain.call("eth_accounts", [])) as readonly Hex[];
  const hash = await chain.call("eth_sendTransaction", [{ from, data: EMITTER_CODE, gas: "0x200000" }]);
  const readReceipt = async () =>
    (await chain.call("eth_getTransactionReceipt", [hash])) as { readonly contractAddress: Hex } | null;
  let receipt = await readReceipt();
  for (; receipt === null; receipt = await readReceipt()) await sleep(50);
  const emitter = receipt.contractAddress;
  const webhooks = new Map<string, string>();
  for (const name of RECEIVERS) {
    const { id, secret } = await callApi("POST", "/api/webhooks", { url: receivers.urlOf(name) });
    webhooks.set(name, id);
    if (name === "right") receivers.setSecret(secret);
  }
  const function7 = { function: { source: "return Functions.encodeUint256(7n);", returnType: "uint256" } };
  const actions = [{ random: { numWords: 1 } }, { preset: "coinflip" }, function7];
  const schedules = new Map<string, number>();
  for (let i = 0; i < SCHEDULES; i += 1) {
    const isCron = i % 5 === 0;
    const times = isCron ? { cron: "* * * * *", timeZone: "Europe/Berlin" } : { every: "40s" };
    // Two of them make a request for each tick of an hour's outage.
    const late = i < 2 ? { catchUp: "all", window: "1h" } : { catchUp: i % 3 === 0 ? "skip" : "one" };
    const overlap = i < 2 || i % 2 === 0 ? "allow" : "skip";
    const action = actions[i % actions.length];
    const body = { name: `schedule ${i}`, network: NETWORK, action, overlap, ...times, ...late };
    schedules.set((await callApi("POST", "/api/schedules", body)).id, isCron ? 60_000 : 40_000);
  }
  const triggers = new Map<string, number>();
  for (let round = 0; round < TRIGGERS; round += 1) {
    const confidence = ["latest", "safe", "finalized"][round % 3];
    const which = { addresses: [emitter], event: CLOSED, filters: { round }, confidence };
    const action = actions[round % actions.length];
    const body = { name: `round ${round}`, network: NETWORK, ...which, action };
    triggers.set((await callApi("POST", "/api/triggers", body)).id, round);
  }
  return { emitter, schedules, triggers, webhooks };
}

/** Creates the troubles of triggers: of their chain, their receivers and their clock. */
function createMore(
  { chain, replicas, url }: ReplicaWorld,
  receivers: Receivers,
  emit: (round: number, count: number) => Promise<void>,
): Troubles {
  return {
    "the receivers away": async () => {
      await receivers.leave();
      await sleep(4_000);
      await receivers.return();
    },
    "the node stopped": async () => {
      chain.signal("SIGSTOP");
      await sleep(5_000);
      chain.signal("SIGCONT");
    },
    "three blocks replaced": async () => {
      await emit(0, 3);
      // Anvil fails if it mines during a reorg.
      await chain.call("evm_setIntervalMining", [0]);
      await sleep(500);
      await chain.mine(1);
      // Triggers act on its logs before they are taken back.
      await sleep(1_000);
      await chain.call("anvil_reorg", [3, []]);
      await chain.call("evm_setIntervalMining", [1]);
      await emit(0, 3);
    },
    "three hours away": async () => {
      await Promise.all(replicas.map((one) => one.restarted()));
      for (const one of replicas) one.signal("SIGKILL");
      await withClient(url, (client) =>
        client.query(
          `UPDATE schedules SET next_at = next_at - ${OUTAGE_MS}, created_at = created_at - ${OUTAGE_MS} WHERE next_at IS NOT NULL`,
        ),
      );
      for (let round = 0; round < TRIGGERS; round += 1) {
        await emit(round, 2);
        await chain.mine(5);
      }
    },
  };
}
