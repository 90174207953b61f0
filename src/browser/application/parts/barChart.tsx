import { useEffect, useRef, useState } from "react";
import type { Bar, BarPlot } from "./plotBars.ts";

/** Draws a bar for each period, once the library is loaded. `label` says the same to screen readers. */
export function BarChart({ bars, label }: { readonly bars: readonly Bar[]; readonly label: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<BarPlot>();
  const [isMissing, setMissing] = useState(false);
  const [pointed, setPointed] = useState<number>();

  useEffect(() => {
    let made: BarPlot | undefined;
    let isGone = false;
    const load = async (): Promise<void> => {
      nameLanguage();
      const { plotBars } = await import("./plotBars.ts");
      if (isGone || frame.current === null) return;
      const [area, requests, failed] = [".area", ".requests", ".failed"].map((name) =>
        getComputedStyle(frame.current!.querySelector(name)!),
      );
      made = plotBars(frame.current.querySelector(".area")!, {
        colors: {
          requests: () => requests!.backgroundColor,
          failed: () => failed!.backgroundColor,
          text: () => area!.color,
          grid: () => area!.borderTopColor,
        },
        onPoint: setPointed,
      });
      setPlot(made);
    };
    load().catch(() => {
      if (!isGone) setMissing(true);
    });
    return () => {
      isGone = true;
      made?.close();
    };
  }, []);
  const content = JSON.stringify(bars);
  useEffect(() => plot?.setBars(bars), [plot, content]);

  return (
    <div className="chart" ref={frame}>
      <div className="area" role="img" aria-label={label} />
      <p className="note">
        <span className="key requests" /> requests <span className="key failed" /> failed
        <span className="pointed">
          {isMissing
            ? "The chart could not be loaded; the table has its numbers."
            : pointed !== undefined && bars[pointed]?.title}
        </span>
      </p>
    </div>
  );
}

/** Chromium in the POSIX locale names a language that `Intl` refuses (`en-US@posix`); uPlot passes it on while it loads. */
function nameLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en", configurable: true });
  }
}
