import { OUTCOME_MARKS } from "../../../text/verification.ts";

const SVG = "http://www.w3.org/2000/svg";

export function element(name: string, text?: string): HTMLElement {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

export function button(text: string, onClick: () => void): HTMLElement {
  const made = element("button", text);
  made.addEventListener("click", onClick);
  return made;
}

/** Creates a fold that shows its summary until it is opened. */
export function fold(summary: string, ...content: readonly Node[]): HTMLDetailsElement {
  const details = document.createElement("details");
  details.append(element("summary", summary), ...content);
  return details;
}

export function drawMark(
  outcome: keyof typeof OUTCOME_MARKS,
  attributes: Readonly<Record<string, string>>,
): SVGElement {
  const mark = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ class: "mark", viewBox: "0 0 12 12", ...attributes }))
    mark.setAttribute(name, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", OUTCOME_MARKS[outcome]);
  mark.append(path);
  return mark;
}
