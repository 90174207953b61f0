/** Size of the drawing, in its own units. */
const WIDTH = 720;
const HEIGHT = 120;

/** One bar. */
export interface Bar {
  /** What it stands for, with its numbers. */
  readonly title: string;
  readonly requests: number;
  /** How many of them failed; drawn at the foot in another color. */
  readonly failed: number;
}

/** Draws a bar for each period. `label` says the same to screen readers. */
export function BarChart({ bars, label }: { readonly bars: readonly Bar[]; readonly label: string }) {
  const most = Math.max(1, ...bars.map(({ requests }) => requests));
  const step = WIDTH / bars.length;
  const part = (kind: string, i: number, from: number, to: number) =>
    to > from && (
      <rect
        className={kind}
        x={((i + 0.1) * step).toFixed(2)}
        y={(HEIGHT * (1 - to / most)).toFixed(2)}
        width={(step * 0.8).toFixed(2)}
        height={(HEIGHT * ((to - from) / most)).toFixed(2)}
      />
    );
  return (
    <svg
      className="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars.map(({ title, requests, failed }, i) => (
        <g key={title}>
          <title>{title}</title>
          {part("bad", i, 0, failed)}
          {part("good", i, failed, requests)}
        </g>
      ))}
    </svg>
  );
}
