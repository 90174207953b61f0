import type { Router } from "@koa/router";
import type { Context } from "koa";
import { addressGroup } from "../lib/addressGroup.ts";
import { createBoundedMap } from "../lib/boundedMap.ts";
import { NotFoundError } from "../lib/errors.ts";
import { isText, plainText } from "../lib/hiddenCharacters.ts";
import { countWithin, createCallCounter } from "../lib/rateLimit.ts";
import { describePage, nameChain, partsOf, transactionHashOf } from "../text/sharedResult.ts";
import { readableTimes } from "../lib/time.ts";
import type { Service } from "../requests/service.ts";
import { fitList, fitText, LINE_HEIGHT, MAX_ENTRIES, type FittedText } from "./fitText.ts";
import { createPicture } from "./picture.ts";
import { drawText, isDrawable, measure, type Setting } from "./typeface.ts";

type Shared = Awaited<ReturnType<Service["getShared"]>>;
type Ended = Extract<Shared, { readonly outcome: unknown }>;
/** The network that a result is on, if it is still served. */
export type KnownNetwork = { readonly title: string; readonly embedded: boolean } | undefined;

/** What links are previewed with where there is no picture of the result. */
export const COMMON_PICTURE = "/assets/preview.png";

/** Pictures are drawn for anybody, each in some 10 ms of the event loop. */
const DRAWINGS = { policy: "picture", quota: 120, windowSeconds: 60 } as const;
/** Pictures that are kept, of at most 50 KB each. */
const KEPT_PICTURES = 100;

/** The picture of a result. */
export interface ResultPicture {
  /** Address, below that of the service. */
  readonly path: string;
  /** All that it says, in one line. */
  readonly words: string;
  draw(): Promise<Buffer>;
}

/** Adds `/r/{id}/preview.png`, the picture of a result. */
export function resultPictureRoutes(
  router: Router,
  options: {
    readonly guard: (ctx: Context) => Promise<void>;
    readonly service: Pick<Service, "getShared" | "findNetwork">;
  },
): void {
  const { guard, service } = options;
  const kept = createBoundedMap<string, Buffer>(KEPT_PICTURES);
  const counter = createCallCounter();
  router.get("/r/:id/preview.png", async (ctx) => {
    await guard(ctx);
    ctx.set("Cache-Control", "no-store");
    const id = ctx["params"].id as string;
    const shared = await service.getShared(id);
    const known = shared.network === undefined ? undefined : service.findNetwork(shared.network);
    const picture = createResultPicture(shared, known);
    const isResult = "outcome" in shared && shared.outcome.success;
    if (picture === undefined) {
      if (!isResult) throw new NotFoundError(`picture of ${id}`);
      ctx.redirect(COMMON_PICTURE);
      return;
    }
    const key = `${picture.path} ${picture.words}`;
    let png = kept.get(key);
    if (png === undefined) {
      await countWithin(
        counter,
        { ...DRAWINGS, who: addressGroup(ctx.ip) },
        `More than ${DRAWINGS.quota} pictures in a minute from one address`,
      );
      kept.set(key, (png = await picture.draw()));
    }
    // A result never changes but by a reorg, and then its transaction does; what waits or failed may have one later.
    if (isResult && `${ctx.path}${ctx.search}` === picture.path)
      ctx.set("Cache-Control", "public, max-age=31536000, immutable");
    ctx.type = "image/png";
    ctx.body = png;
  });
}

const [WIDTH, HEIGHT] = [1200, 630];
const [INK, FAINT, ACCENT, BAD] = [0, 1, 2, 3];
const GROUND = [0xfb, 0xfa, 0xf7] as const;
/** By the indexes above. */
const COLORS = [
  [0x1d, 0x21, 0x28],
  [0x5c, 0x64, 0x70],
  [0x0b, 0x6b, 0x5a],
  [0xa4, 0x26, 0x2c],
] as const;
/** Half the height of a capital letter, in em. */
const HALF_CAPITAL = 0.357;
/** Beginning of a text that is read: more has no room. */
const MAX_READ = 1000;

/** What is drawn before a line, in the accent color. */
interface Icon {
  readonly path: string;
  /** How high and wide its outline is. */
  readonly units: number;
  /** In pixels. */
  readonly size: number;
}

/** Lines of text, with the height at which the middle of all is. */
type Block = FittedText & { readonly middle: number; readonly color: number; readonly icon?: Icon };

const DOTS = [
  [7.5, 7.5],
  [18.5, 7.5],
  [13, 13],
  [7.5, 18.5],
  [18.5, 18.5],
] as const;
/** The icon of the pages. */
const DIE: Icon = {
  path: `M6 0l14 0q6 0 6 6l0 14q0 6 -6 6l-14 0q-6 0 -6 -6l0 -14q0 -6 6 -6${DOTS.map(([x, y]) => circle(x, y, 2.6, -1)).join("")}`,
  units: 26,
  size: 42,
};
/** A tick in a circle. */
const TICK: Icon = {
  path: `${circle(23, 23, 23)}${circle(23, 23, 19.5, -1)}M14.24 22.76l5.67 5.67l11.77 -13.58l2.64 2.3l-14.23 16.42l-8.33 -8.33`,
  units: 46,
  size: 36,
};

/** Creates the picture of a result, or of a request that waits or failed; `undefined` if it is empty, or has a character that can't be drawn. */
export function createResultPicture(shared: Shared, known: KnownNetwork): ResultPicture | undefined {
  const { heading, subject } = describePage(shared);
  const { parts, color, below, lines } = stateOf(shared, known);
  const entries = parts.slice(0, MAX_ENTRIES).map(clean);
  const isProven = color === ACCENT && known?.embedded === false;
  const [name, about, proof] = [heading, subject.join(": "), below].map(clean);
  if (entries.length === 0 || ![name, about, proof, ...entries].every((text) => isDrawable(text!)))
    return undefined;

  const line = (text: string, weight: Setting["weight"], size: number, lines = 1) =>
    fitText(text, { weight, sizes: [size, 0.85 * size], width: 1000, height: lines * size * LINE_HEIGHT });
  const room = {
    weight: "bold",
    sizes: [150, 124, 100, 80, 64, 52, 42, 34],
    width: 1040,
    height: 264,
  } as const;
  const result = entries.length === 1 ? fitText(entries[0]!, room) : fitList(entries, parts.length, room);
  const blocks: readonly Block[] = [
    { ...line(name!, "bold", 46), middle: 146, color: INK },
    { ...line(about!, "regular", 32), middle: 198, color: FAINT },
    { ...result, middle: about === "" ? 356 : 372, color },
    { ...line(proof!, "regular", 30, lines), middle: 570, color: FAINT, ...(isProven ? { icon: TICK } : {}) },
  ];
  return {
    // Once there is a result, the page names another address.
    path: `/r/${shared.id}/preview.png?${"outcome" in shared ? `tx=${transactionHashOf(shared.outcome.url)}` : `state=${shared.state}`}`,
    words: blocks
      .map(({ text }) => text.replaceAll("\n", ", ").replaceAll("\u00A0", " "))
      .filter((text) => text !== "")
      .join(" – "),
    draw: async () =>
      await drawBlocks([{ ...line("Tyche", "bold", 34), middle: 70, color: INK, icon: DIE }, ...blocks]),
  };
}

/** Returns what is drawn large, in which color, and what stands below it. */
function stateOf(
  shared: Shared,
  known: KnownNetwork,
): {
  readonly parts: readonly string[];
  readonly color: number;
  readonly below: string;
  /** Most lines of the text below. */
  readonly lines: number;
} {
  if ("outcome" in shared && shared.outcome.success)
    return { parts: partsOfResult(shared), color: ACCENT, below: describeProof(shared, known), lines: 1 };
  const below = readableTimes(describePage(shared).said);
  return "state" in shared && shared.state === "waiting"
    ? { parts: ["Waiting"], color: FAINT, below, lines: 2 }
    : { parts: ["Failed"], color: BAD, below, lines: 2 };
}

function partsOfResult({ outcome, shown }: Ended): readonly string[] {
  if ("randomNumber" in outcome) return outcome.randomNumber;
  if (shown !== undefined) return partsOf(shown);
  const text = isText(outcome.parsedResult) ? outcome.parsedResult : outcome.result;
  return [text === "" ? "Empty text" : text];
}

/** Says where a result is, and how others than the operator vouch for it: of a local chain, which the operator runs, nobody does. */
function describeProof({ outcome, network, updatedAt }: Ended, known: KnownNetwork): string {
  // A contract has checked the proof of random numbers; what was made of them, the nodes have signed.
  const proven = "randomNumber" in outcome ? "Verified" : "Signed by the oracle";
  const place = `on ${nameChain(network, known)}, ${updatedAt.slice(0, 10)}`;
  return `${known?.embedded === false ? proven : "Recorded"} ${place}`;
}

/** Writes a text of unknown origin in one line, without what can't be seen. */
function clean(text: string): string {
  return plainText(text.slice(0, MAX_READ)).normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

function drawBlocks(blocks: readonly Block[]): Promise<Buffer> {
  const picture = createPicture({ width: WIDTH, height: HEIGHT, ground: GROUND, colors: COLORS });
  for (const { lines, middle, color, icon, ...setting } of blocks)
    for (const [i, line] of lines.entries()) {
      const y = middle + (i - (lines.length - 1) / 2) * setting.size * LINE_HEIGHT;
      const indent = icon === undefined ? 0 : 1.35 * icon.size;
      const x = (WIDTH - indent - measure(line, setting)) / 2;
      if (icon !== undefined) {
        const scale = icon.size / icon.units;
        picture.fill(icon.path, { x, y: y - icon.size / 2, scaleX: scale, scaleY: scale, color: ACCENT });
      }
      drawText(picture, line, { ...setting, x: x + indent, y: y + HALF_CAPITAL * setting.size, color });
    }
  return picture.toPng();
}

/** Returns the outline of a circle, clockwise on the screen, or as a hole with `turn` -1. */
function circle(x: number, y: number, radius: number, turn: 1 | -1 = 1): string {
  const at = (eighth: number, distance: number): readonly [number, number] => [
    distance * Math.cos((turn * eighth * Math.PI) / 4),
    distance * Math.sin((turn * eighth * Math.PI) / 4),
  ];
  const arcs = Array.from({ length: 8 }, (_, i) => {
    const [startX, startY] = at(i, radius);
    const [controlX, controlY] = at(i + 0.5, radius / Math.cos(Math.PI / 8));
    const [endX, endY] = at(i + 1, radius);
    return `q${controlX - startX} ${controlY - startY} ${endX - startX} ${endY - startY}`;
  });
  return `M${x + radius} ${y}${arcs.join("")}`;
}
