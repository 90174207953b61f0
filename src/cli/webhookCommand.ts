import { Option, type Command } from "commander";
import type { NewWebhookView, SentWebhook, WebhookAttempt, WebhookView } from "../client/index.ts";
import { TOLD_EVENTS, WEBHOOK_EVENTS, type ToldEvent, type WebhookEvent } from "../domain/vocabulary.ts";
import { connectService } from "./connectService.ts";
import { countOf } from "../lib/countOf.ts";
import { listPages } from "./pagedCommand.ts";
import { withOverlap, type OverlapFlag } from "./overlapOption.ts";
import { createResource, type ResourceFlags } from "./resourceCommand.ts";
import { oneLine, type Terminal } from "./terminal.ts";
import { UsageError } from "../lib/usageError.ts";

interface AttemptFlags {
  readonly state?: "delivered" | "failed";
  readonly type?: ToldEvent;
  readonly event?: string;
}
interface SettingFlags extends ResourceFlags {
  readonly event?: readonly WebhookEvent[];
  readonly description?: string;
}

/** Adds `tyche webhook …`. */
export function registerWebhook(program: Command, terminal: Terminal): void {
  const { out, err, colors } = terminal;
  const { command, print, show, addEnds } = createResource(program, terminal, {
    name: "webhook",
    description: "Manages a dapp's webhooks, which tell its server the ends of requests.",
    calls: (client) => client.webhooks,
    describe: (view) => describe(view, terminal),
    list: "Lists webhooks, oldest first.",
    pause: "Pauses a webhook: its events wait.",
    resume: "Resumes a webhook, whatever paused it; what waited is delivered.",
    remove: "Removes a webhook with its log.",
  });
  const withSettings = (its: Command): Command =>
    its
      .addOption(
        new Option("--event <types...>", "types of the events (default: all)").choices(WEBHOOK_EVENTS),
      )
      .option("--description <text>", "a note of your own");
  const showNew = (flags: ResourceFlags, view: NewWebhookView): void => {
    show(flags, view);
    if (flags.json) return;
    out(view.secret ?? view.publicKey ?? "");
    err(colors.dim(view.secret === null ? "the public key" : "the secret is not shown again"));
  };

  withSettings(command("add <url>", "Adds a webhook and prints its secret."))
    .option("--ed25519", "sign with a key pair instead of a shared secret")
    .action(async (url: string, flags: SettingFlags & { readonly ed25519?: true }) => {
      const { event, description, ed25519 } = flags;
      const { client } = await connectService(flags);
      const signature = ed25519 ? "ed25519" : "hmac";
      showNew(flags, await client.webhooks.create({ url, events: event, description, signature }));
    });
  withSettings(command("change <id>", "Changes a webhook."))
    .option("--target <url>", "where events are sent")
    .action(async (id: string, flags: SettingFlags & { readonly target?: string }) => {
      const { event: events, description, target: url } = flags;
      const { client } = await connectService(flags);
      show(flags, await client.webhooks.change(id, { url, events, description }));
    });
  addEnds();
  withOverlap(
    command("rotate <id>", "Replaces the secret; for a while the previous one signs as well."),
  ).action(async (id: string, flags: ResourceFlags & OverlapFlag) => {
    const { overlapHours } = flags;
    showNew(flags, await (await connectService(flags)).client.webhooks.rotate(id, { overlapHours }));
  });
  command("test <id>", "Sends a test event.")
    .addOption(
      new Option("--type <type>", "a sample of this type, marked as a test")
        .choices(TOLD_EVENTS)
        .default("webhook.test" satisfies ToldEvent),
    )
    .action(async (id: string, flags: ResourceFlags & { readonly type: ToldEvent }) => {
      const answer = await (await connectService(flags)).client.webhooks.test(id, { type: flags.type });
      print(flags, answer, `sent ${answer.eventId}; tyche webhook log ${id} shows the answer`);
    });
  const log = command("log <id>", "Lists the attempts of the last 30 days, newest first.")
    .addOption(new Option("--state <state>", "only these attempts").choices(["delivered", "failed"]))
    .addOption(new Option("--type <type>", "only of events of this type").choices(TOLD_EVENTS))
    .option("--event <id>", "only of this event, by its webhook-id");
  listPages(log, terminal, {
    read: (client, page, { state, type, event }: AttemptFlags, id) =>
      client.webhooks.attempts(id, { ...page, state, type, eventId: event }),
    describe: (attempt) => describeAttempt(attempt, terminal),
    head: columns("TIME", "ATTEMPT", "NO.", "EVENT", "TYPE", "OUTCOME"),
    none: "no attempts",
  });
  command("show <id> <attempt>", "Shows an attempt: the message that was sent, and the answer.").action(
    async (id: string, attemptId: string, flags: ResourceFlags) => {
      const sent = await (await connectService(flags)).client.webhooks.attempt(id, attemptId);
      print(flags, sent, describeSent(sent, terminal));
    },
  );
  command("replay <id>", "Sends one event again, or all undelivered ones since a moment.")
    .addOption(new Option("--event <id>", "the event").conflicts("since"))
    .option("--since <time>", "ISO 8601, such as 2026-11-22T08:00:00Z")
    .action(
      async (id: string, flags: ResourceFlags & { readonly event?: string; readonly since?: string }) => {
        const { event: eventId, since } = flags;
        const what = eventId !== undefined ? { eventId } : since !== undefined ? { since } : undefined;
        if (what === undefined) throw new UsageError("give --event ID or --since TIME");
        const answer = await (await connectService(flags)).client.webhooks.replay(id, what);
        print(flags, answer, `sends ${countOf(answer.replayed, "event")} again`);
      },
    );
}

function describe(view: WebhookView, { colors }: Terminal): string {
  const { id, url, description, events, pausedWhy, failingSince, lastSuccessAt, pending, failed } = view;
  const state =
    pausedWhy !== null
      ? colors.yellow(`paused (${pausedWhy})`)
      : failingSince === null
        ? colors.green("active")
        : colors.red(`failing since ${seconds(failingSince)}`);
  const note = description === "" ? "" : `  ${JSON.stringify(oneLine(description))}`;
  const success = lastSuccessAt === null ? "no success yet" : `last success ${seconds(lastSuccessAt)}`;
  return [
    `${id}  ${state}  ${oneLine(url)}${note}`,
    `  ${success}, ${pending} pending, ${failed} failed; told ${events.join(", ")}`,
  ].join("\n");
}

/** Aligns what is told of an attempt: a time, two ids, its number, the type of its event and the outcome. */
function columns(
  time: string,
  id: string,
  number: string,
  eventId: string,
  type: string,
  outcome: string,
): string {
  const event = `${eventId.padEnd(ID_LENGTH)}  ${type.padEnd(TYPE_LENGTH)}`;
  return `${time.padEnd(TIME_LENGTH)}  ${id.padEnd(ID_LENGTH)}  ${number.padStart(3)}  ${event}  ${outcome}`;
}

const TIME_LENGTH = "2026-11-22T08:00:00Z".length;
/** Of `att_` and `evt_`, and 26 characters. */
const ID_LENGTH = 30;
const TYPE_LENGTH = Math.max(...TOLD_EVENTS.map(({ length }) => length));

function describeAttempt(attempt: WebhookAttempt, terminal: Terminal): string {
  const { id, at, eventId, number, type } = attempt;
  return columns(seconds(at), id, String(number), eventId, type ?? "", describeOutcome(attempt, terminal));
}

function describeOutcome(attempt: WebhookAttempt, { colors }: Terminal): string {
  const { success, status, error, durationMs, nextAttemptAt, eventState } = attempt;
  const outcome = success ? colors.green(String(status)) : colors.red(oneLine(String(status ?? error)));
  const next =
    nextAttemptAt !== null
      ? `, next attempt ${seconds(nextAttemptAt)}`
      : !success && eventState === "delivered"
        ? ", delivered by a later attempt"
        : "";
  return `${outcome} after ${durationMs} ms${next}`;
}

function describeSent(sent: SentWebhook, terminal: Terminal): string {
  const { id, at, eventId, number, type, subject, headers, body, status, answer, answerHeaders } = sent;
  const { bold } = terminal.colors;
  const list = (of: Readonly<Record<string, string>>): string[] =>
    Object.entries(of).map(([name, value]) => oneLine(`${name}: ${value}`));
  return [
    `Attempt  ${id}, number ${number} of its event`,
    `Event    ${eventId}${type === null ? "" : `, ${type}`}${subject === null ? "" : ` of ${subject}`}`,
    `Time     ${seconds(at)}`,
    `Outcome  ${describeOutcome(sent, terminal)}`,
    "",
    bold("Message"),
    ...list(headers),
    "",
    oneLine(body ?? "the event is no longer stored"),
    ...(status === null
      ? []
      : [
          "",
          bold("Answer"),
          `status: ${status}`,
          ...list(answerHeaders ?? {}),
          "",
          answer === "" ? "no body" : oneLine(answer),
        ]),
  ].join("\n");
}

/** `2026-11-22T08:00:00Z` */
function seconds(iso: string): string {
  return `${iso.slice(0, 19)}Z`;
}
