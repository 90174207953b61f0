import type { PresetProblem } from "../../requests/presetFolder.ts";
import { scrollable } from "../explorer/parts.ts";
import { html, showText, type Html } from "../html.ts";

/** Presets that are not served, each with every reason and its place. */
export function brokenPresets(problems: readonly PresetProblem[]): Html | undefined {
  if (problems.length === 0) return undefined;
  const table = html`<table class="list"><thead><tr><th>Preset</th><th>File and line</th><th>Reason</th></tr></thead><tbody>${problems.map(
    (problem) =>
      html`<tr><td>${showText(problem.preset)}</td><td><code class="hex">${showText(placeOf(problem))}</code></td><td class="outcome">${showText(problem.reason)}</td></tr>`,
  )}</tbody></table>`;
  return html`<section class="panel" id="broken" data-live><h2>Not served</h2><p class="note">Repair the files: the service tries a preset again as soon as one of its files changes.</p>${scrollable("Presets that are not served", table)}</section>`;
}

function placeOf({ file, line, column }: PresetProblem): string {
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}
