import { relative } from "node:path";
import { fileURLToPath } from "node:url";

/** A V8 CPU profile, as `--cpu-prof` writes it; times are microseconds of the machine's monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

/** A frame and everything called from it; `us` includes the time of its own code. */
export interface Frame {
  readonly name: string;
  us: number;
  readonly children: Map<string, Frame>;
}

/** Boxes below this share of the total are too small to see. */
const MIN_SHARE = 0.002;
const WIDTH = 1_200;
const ROW = 17;
const CHAR = 6.6;
const GAP = 1;

/** Builds the tree of frames that ran between two moments, in microseconds of the monotonic clock; idle time is left out. */
export function buildFrames(profile: CpuProfile, from: number, to: number): Frame {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const root: Frame = { name: "all", us: 0, children: new Map() };
  let now = profile.startTime;
  for (const [i, id] of profile.samples.entries()) {
    const us = profile.timeDeltas[i]!;
    now += us;
    if (now < from || now > to || nodes.get(id)!.callFrame.functionName === "(idle)") continue;
    const names: string[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const name = nameOf(nodes.get(at)!);
      // Calls within one package form one frame.
      if (name !== undefined && names[0] !== name) names.unshift(name);
    }
    add(root, names, us);
  }
  return root;
}

function add(root: Frame, names: readonly string[], us: number): void {
  let frame = root;
  frame.us += us;
  for (const name of names) {
    let next = frame.children.get(name);
    if (next === undefined) frame.children.set(name, (next = { name, us: 0, children: new Map() }));
    next.us += us;
    frame = next;
  }
}

/** Names our code by function and file, others' by package; `undefined` for the root. */
function nameOf({ callFrame: { functionName, url } }: ProfileNode): string | undefined {
  if (functionName === "(root)") return undefined;
  if (url === "") return functionName === "" ? "(native)" : functionName;
  if (url.startsWith("node:")) return url.replace(/^node:(?:internal\/)?/, "node:").replace(/[/?].*$/, "");
  const ofPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  if (ofPackage !== null) return ofPackage[1];
  const file = url.startsWith("file:")
    ? relative(fileURLToPath(new URL("../..", import.meta.url)), fileURLToPath(url))
    : url;
  return functionName === "" ? file : `${functionName} ${file}`;
}

/** Totals the frames' own time by name, the largest first. */
export function sumSelf(root: Frame): readonly (readonly [name: string, us: number])[] {
  const sums = new Map<string, number>();
  const visit = ({ name, us, children }: Frame): void => {
    let own = us;
    for (const child of children.values()) {
      own -= child.us;
      visit(child);
    }
    sums.set(name, (sums.get(name) ?? 0) + own);
  };
  visit(root);
  return [...sums].toSorted(([, a], [, b]) => b - a);
}

/** Draws the frames as SVG, callers above their callees; a tooltip shows each one's share. */
export function drawFlameGraph(root: Frame, title: string): string {
  const boxes: string[] = [];
  let depth = 0;
  const draw = (frame: Frame, x: number, level: number): void => {
    const width = (frame.us / root.us) * WIDTH;
    if (frame.us / root.us < MIN_SHARE) return;
    depth = Math.max(depth, level);
    const y = 30 + level * ROW;
    const share = `${((frame.us / root.us) * 100).toFixed(1)} %`;
    const text = frame.name.slice(0, Math.floor((width - 4) / CHAR));
    boxes.push(
      `<g><title>${escape(`${frame.name}: ${share}`)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.3, width - GAP).toFixed(1)}" height="${ROW - GAP}" fill="${colourOf(frame.name)}"/>` +
        (text.length > 2 ? `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escape(text)}</text>` : "") +
        "</g>",
    );
    let left = x;
    for (const child of [...frame.children.values()].toSorted((a, b) => b.us - a.us)) {
      draw(child, left, level + 1);
      left += (child.us / root.us) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = 30 + (depth + 1) * ROW + 6;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="11"><rect width="100%" height="100%" fill="#fff"/><text x="4" y="18" font-size="13">${escape(title)}</text>${boxes.join("")}</svg>\n`;
}

/** Gives our code, packages, Node itself and V8 (its compiler and garbage collector) a colour each. */
function colourOf(name: string): string {
  if (name.startsWith("(")) return "#d0d0d8";
  if (name.startsWith("node:")) return "#b5d8b0";
  return /\s|\.ts$/.test(name) ? "#f7b267" : "#9fc5e8";
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
