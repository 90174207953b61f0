import { capitalize } from "../lib/capitalize.ts";
import { BEACON_WAIT_MS, nameBeacon } from "../text/draw.ts";
import { explainFailure, nameFailure } from "../text/failure.ts";
import { parseList } from "../text/entryLists.ts";
import { isText, plainText } from "../lib/hiddenCharacters.ts";
import { element, type Markup } from "../lib/markup.ts";
import {
  countEntries,
  describeFixed,
  describeNoRound,
  describePage,
  nameChain,
  resultClass,
  transactionsOf,
  valueText,
} from "../text/sharedResult.ts";
import { readableTime, splitAtTimes } from "../lib/time.ts";
import type { Service } from "../requests/service.ts";

type Shared = Awaited<ReturnType<Service["getShared"]>>;
type Ended = Extract<Shared, { readonly outcome: unknown }>;
type Open = Exclude<Shared, Ended>;

/** A name and its value; left out without a value. */
type Fact = readonly [name: string, value: Markup];

/** Longer lists are folded. */
const MAX_OPEN_ENTRIES = 20;

/**
 * Creates the content of the public page of a result for whoever runs no script: what the API answers of it, and how to check it without a
 * browser.
 *
 * @param known the network that it is on, if it is still served
 */
export function createResultPage(
  shared: Shared,
  known: { readonly title: string; readonly embedded: boolean } | undefined,
): Markup {
  const { heading, subject, said } = describePage(shared);
  const { network } = shared;
  const place = network === undefined ? [] : [`on ${nameChain(network, known)}`];
  const lead = [...(subject.length === 0 ? [] : [subject.join(": ")]), ...place].join(", ");
  return [
    element("h1", {}, heading),
    lead === "" ? undefined : element("p", { class: "lead" }, capitalize(lead)),
    element(
      "div",
      { class: "panel" },
      element(
        "section",
        { "aria-label": "Result" },
        "outcome" in shared ? resultOf(shared, said) : withoutResult(shared, said),
      ),
    ),
    about(shared, heading),
    "outcome" in shared ? check(shared) : undefined,
  ];
}

function resultOf({ outcome, shown, preset }: Ended, said: string): Markup {
  if ("randomNumber" in outcome) {
    const { randomNumber: words } = outcome;
    return words.length > 1 ? list("ol", "words", words) : element("p", { class: resultClass(said) }, said);
  }
  if (!outcome.success) {
    const { err } = outcome;
    return [
      element("p", { class: "big-result bad-text" }, capitalize(nameFailure(preset !== undefined))),
      element("div", { class: "notice bad" }, err),
      element("p", {}, explainFailure(err), " There is no result, and none will follow."),
    ];
  }
  if (shown?.as === "list") return list("ol", "big-result entries", shown.entries);
  const text = isText(said) ? said : outcome.result;
  return element("p", { class: resultClass(text) }, text === "" ? "Empty text" : text);
}

function withoutResult(shared: Open, said: string): Markup {
  if (shared.state === "failed")
    return [
      element("p", { class: "big-result bad-text" }, "Failed"),
      element("p", {}, said),
      element(
        "p",
        {},
        "If you were promised a result, ask whoever gave you this address: they can make a new request.",
      ),
    ];
  const { id, kind, beacon } = shared;
  const until = beacon && new Date(Date.parse(beacon.time) + BEACON_WAIT_MS).toISOString();
  const sentences = [
    describeFixed(kind),
    until === undefined ? undefined : describeNoRound(kind === "function", until),
  ];
  return [
    element("p", { class: "big-result" }, "Waiting"),
    element("p", {}, withTimes(said), "."),
    sentences.map((one) => one && element("p", {}, withTimes(one))),
    element(
      "p",
      { class: "note" },
      "The result will be here: ",
      element("a", { href: `/r/${id}` }, "look again"),
      ".",
    ),
  ];
}

/** What was asked for, by whom, and where it is on chain. */
function about(shared: Shared, heading: string): Markup {
  const { params = {}, parameterTitles = {}, args = [], dappId, dappName, requestedIn, network } = shared;
  const { label, beacon, requestId } =
    "outcome" in shared ? { beacon: undefined, ...shared.outcome } : shared;
  const transactions = [
    ...(requestedIn === undefined ? [] : [{ name: "Requested in", hash: requestedIn }]),
    ...("outcome" in shared ? transactionsOf(shared.outcome) : []),
  ];
  const data = `/api/explorer/results/${shared.id}`;
  return section("About", [
    facts([
      ["Label on chain", label === heading ? undefined : label],
      ["Arguments", args.length === 0 ? undefined : argumentsOf(args)],
      ...Object.entries(params).map(([name, value]): Fact => [parameterTitles[name] ?? name, given(value)]),
      ["Beacon", beacon && [nameBeacon(beacon), ", due ", time(beacon.time)]],
      ...transactions.map(({ name, hash }): Fact => [
        name,
        element("a", { href: `/explorer/${network!}/tx/${hash}` }, code(hash)),
      ]),
      [
        "Organiser",
        dappId && [
          dappName && `${plainText(dappName)} (so called here, which proves nothing): `,
          code(dappId),
          " (on chain with the label: compare it with the announcement)",
        ],
      ],
      ["Request on chain", requestId && code(requestId)],
      ["Request", "outcome" in shared ? undefined : code(shared.id)],
      "outcome" in shared ? ["Stored", time(shared.updatedAt)] : ["Made", time(shared.createdAt)],
      ["As JSON", element("a", { href: data }, data)],
    ]),
  ]);
}

/** What has been checked already, and how to check a result oneself. */
function check({ outcome, preset }: Ended): Markup {
  const isRandom = "randomNumber" in outcome;
  const checked = [
    ...(isRandom || preset !== undefined
      ? ["A contract has checked that the random numbers belong to this request and to no other (VRF)."]
      : []),
    ...(isRandom ? [] : ["The nodes of the oracle have signed what came of the program."]),
  ];
  return section("Check", [
    element("h2", {}, "Check it"),
    element("p", {}, checked.join(" ")),
    element(
      "p",
      {},
      "Your browser checks it here, with JavaScript. This command does the same on your own machine, in a folder where ",
      element("a", { href: "/docs/verify" }, "Tyche’s package is installed"),
      ":",
    ),
    element("pre", { class: "listing" }, `npx tyche verify ${outcome.shareUrl}`),
  ]);
}

/** The arguments of a function, named as its source reads them. */
function argumentsOf(args: readonly string[]): Markup {
  const items = args.map((arg, i) => {
    const entries = parseList(arg);
    const value = entries === undefined ? code(arg) : given(entries);
    return element("li", {}, element("code", {}, `args[${i}]`), " = ", value);
  });
  return element("ul", { class: "arguments" }, items);
}

/** A parameter's value; a long list is folded, as it may have thousands of entries. */
function given(value: unknown): Markup {
  if (!Array.isArray(value)) return valueText(value);
  const isLong = value.length > MAX_OPEN_ENTRIES;
  return element(
    "details",
    { open: !isLong },
    element("summary", {}, countEntries(value)),
    list("ol", isLong ? "given long" : "given", value.map(valueText)),
  );
}

function section(label: string, content: Markup): Markup {
  return element("section", { class: "panel", "aria-label": label }, content);
}

function facts(entries: readonly Fact[]): Markup {
  const shown = entries.filter(([, value]) => value !== undefined);
  return element(
    "dl",
    { class: "facts" },
    shown.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );
}

function list(name: string, kind: string, entries: readonly string[]): Markup {
  return element(
    name,
    { class: kind },
    entries.map((entry) => element("li", {}, entry)),
  );
}

function code(text: string): Markup {
  return element("code", { class: "hex" }, text);
}

function time(iso: string): Markup {
  return element("time", { datetime: iso }, readableTime(iso));
}

function withTimes(text: string): Markup {
  return splitAtTimes(text).map((part, i) => (i % 2 === 0 ? part : time(part)));
}
