import { setTimeout as sleep } from "node:timers/promises";
import { verifyWebhook } from "../../../src/client/index.ts";
import { startReceiver, type Answer, type Received, type Receiver } from "../../webhooks/receiver.ts";

/** How each webhook of a dapp is received, by path. */
export const RECEIVERS = [
  "fast",
  "slow",
  "flapping",
  "huge",
  "right",
  "hanging",
  "failing",
  "redirecting",
  "closing",
  "gone",
] as const;

/** Those that take every event in the end. */
export const TAKING: readonly (typeof RECEIVERS)[number][] = ["fast", "slow", "flapping", "huge", "right"];

/** An event, as its receiver took it for the first time. */
export interface TakenEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly id: string };
}

/** A dapp's server, which can be away. */
export interface Receivers {
  readonly host: string;
  urlOf(name: string): string;
  /** Sets the secret that the messages to `right` are verified with. */
  setSecret(secret: string): void;
  /** Cuts every connection, and refuses others until {@link Receivers.return}. */
  leave(): Promise<void>;
  return(): Promise<void>;
  /** Returns what a path took, each event once, by its id. */
  taken(name: string): ReadonlyMap<string, TakenEvent>;
  /** Returns how many messages came to a path. */
  count(name: string): number;
  close(): Promise<void>;
}

/** Starts a dapp's server. @param onForged called with what is wrong with a message to `right`. */
export async function startReceivers(onForged: (why: string) => void): Promise<Receivers> {
  let secret = "";
  let flaps = 0;
  const taken = new Map<string, Map<string, TakenEvent>>();
  const counts = new Map<string, number>();
  const take = ({ path, id, body }: Received): void => {
    const name = path.slice(1);
    const its = taken.get(name) ?? new Map<string, TakenEvent>();
    taken.set(name, its.set(id, JSON.parse(body) as TakenEvent));
  };
  const answers: Readonly<Record<(typeof RECEIVERS)[number], Answer>> = {
    async slow(response, message) {
      await sleep(1_500);
      take(message);
      response.writeHead(200).end("slow");
    },
    flapping(response, message) {
      const isUp = (flaps += 1) % 3 > 0;
      if (isUp) take(message);
      response.writeHead(isUp ? 204 : 503).end();
    },
    huge(response, message) {
      take(message);
      response.writeHead(200).end("x".repeat(5_000_000));
    },
    async right(response, message) {
      try {
        await verifyWebhook(message.body, message.headers, secret);
        take(message);
        response.writeHead(204).end();
      } catch (error) {
        onForged(`a message to right: ${(error as Error).message}`);
        response.writeHead(400).end();
      }
    },
    fast(response, message) {
      take(message);
      response.writeHead(204).end();
    },
    hanging() {},
    failing: (response) => void response.writeHead(500).end("no"),
    redirecting: (response) => void response.writeHead(302, { location: "/fast" }).end(),
    closing: (response) => void response.destroy(),
    gone: (response) => void response.writeHead(410).end(),
  };
  const counted = Object.fromEntries(
    Object.entries(answers).map(([name, answer]): [string, Answer] => [
      `/${name}`,
      (response, message) => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return answer(response, message);
      },
    ]),
  );
  let receiver: Receiver = await startReceiver(counted);
  const { host } = receiver;
  return {
    host,
    urlOf: (name) => `http://${host}/${name}`,
    setSecret: (given) => void (secret = given),
    leave: () => receiver.close(),
    async return() {
      receiver = await startReceiver(counted, Number(host.split(":")[1]));
    },
    taken: (name) => taken.get(name) ?? new Map(),
    count: (name) => counts.get(name) ?? 0,
    close: () => receiver.close(),
  };
}
