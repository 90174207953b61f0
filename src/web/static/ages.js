const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const REFRESH_MS = 15_000;
const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Shows how long ago the times in lists are; the time itself is their title, for the mouse and for whoever listens. */
export function showAges(root) {
  for (const element of root.querySelectorAll("time.age")) {
    element.title ||= element.textContent;
    const text = ageOf((Date.parse(element.dateTime) - Date.now()) / 1000);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Keeps the ages of a page right while it is looked at. */
export function followAges() {
  showAges(document);
  setInterval(() => {
    if (!document.hidden) showAges(document);
  }, REFRESH_MS);
}

function ageOf(seconds) {
  const [unit, size] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ["second", 1];
  return Math.abs(seconds) < 5 ? "just now" : format.format(Math.round(seconds / size), unit);
}
