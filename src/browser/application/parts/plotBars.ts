import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { groupDigits } from "./format.tsx";

/** As in the style sheet, which keeps the place before the chart is drawn. */
const HEIGHT_PX = 160;
/** Width of a bar, as a part of its period. */
const BAR_WIDTH = 0.8;
/** Least distance between two dates below the chart, in pixels. */
const LABEL_SPACE_PX = 80;
/** Counts have no fractions. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat();

/** One bar. */
export interface Bar {
  /** The period, as short as the axis has room for. */
  readonly name: string;
  /** The period with its numbers, shown while the pointer is at the bar. */
  readonly title: string;
  readonly requests: number;
  /** How many of them failed; drawn at the foot in another color. */
  readonly failed: number;
}

export interface BarPlot {
  setBars(bars: readonly Bar[]): void;
  close(): void;
}

/** CSS colors, read anew at each drawing: they change with the scheme. */
export interface BarColors {
  readonly requests: () => string;
  readonly failed: () => string;
  readonly text: () => string;
  readonly grid: () => string;
}

/** Draws bars with uPlot, as wide as `host`. `onPoint` hears which bar the pointer is at. */
export function plotBars(
  host: HTMLElement,
  options: { readonly colors: BarColors; readonly onPoint: (index: number | undefined) => void },
): BarPlot {
  const { colors, onPoint } = options;
  let bars: readonly Bar[] = [];
  const paths = uPlot.paths.bars!({ size: [BAR_WIDTH, Infinity] });
  const bar = (fill: () => string): uPlot.Series => ({ paths, fill, width: 0, points: { show: false } });
  const axis = { stroke: colors.text, font: "12px system-ui, sans-serif", ticks: { show: false } };
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: () => [-0.5, bars.length - 0.5] },
        y: { range: (_plot, _least, most) => [0, Math.max(1, most)] },
      },
      series: [{}, bar(colors.requests), bar(colors.failed)],
      axes: [
        {
          ...axis,
          size: 24,
          grid: { show: false },
          space: LABEL_SPACE_PX,
          incrs: WHOLE_STEPS,
          values: (_plot, places) => places.map((i) => bars[i]?.name ?? ""),
        },
        {
          ...axis,
          size: 44,
          grid: { stroke: colors.grid, width: 1 },
          incrs: WHOLE_STEPS,
          values: (_plot, counts) => counts.map((one) => groupDigits(one)),
        },
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
    },
    [[], [], []],
    host,
  );
  const sizes = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT_PX }));
  sizes.observe(host);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = (): void => plot.redraw(false);
  scheme.addEventListener("change", redraw);
  return {
    setBars(next) {
      bars = next;
      plot.setData([
        bars.map((_, i) => i),
        bars.map(({ requests }) => requests),
        bars.map(({ failed }) => failed),
      ]);
    },
    close() {
      scheme.removeEventListener("change", redraw);
      sizes.disconnect();
      plot.destroy();
    },
  };
}
