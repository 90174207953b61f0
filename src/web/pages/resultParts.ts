import type { RequestRecord, ShownResult } from "../../requests/service.ts";
import { copyable, copyButton } from "../format.ts";
import { html, showText, type Html } from "../html.ts";

/** Places of pips on a die of 3 by 3, by what it shows. */
const PIPS: readonly (readonly (readonly [column: number, row: number])[])[] = [
  [],
  [[1, 1]],
  [
    [0, 0],
    [2, 2],
  ],
  [
    [0, 0],
    [1, 1],
    [2, 2],
  ],
  [
    [0, 0],
    [2, 0],
    [0, 2],
    [2, 2],
  ],
  [
    [0, 0],
    [2, 0],
    [1, 1],
    [0, 2],
    [2, 2],
  ],
  [
    [0, 0],
    [2, 0],
    [0, 1],
    [2, 1],
    [0, 2],
    [2, 2],
  ],
];

/** What came out of a request, large, as its preset says that it is shown; nothing while there is none. */
export function outcomePart(
  { outcome }: Pick<RequestRecord, "outcome">,
  shown: ShownResult | undefined,
): Html | undefined {
  if (outcome === null) return undefined;
  if ("randomNumber" in outcome)
    return html`<ol class="words" start="0">${outcome.randomNumber.map((word) => html`<li>${copyable(word, "random number")}</li>`)}</ol>`;
  if (!("parsedResult" in outcome)) return undefined;
  if (!outcome.success) return html`<div class="notice bad">${showText(outcome.err)}</div>`;
  const value =
    shown === undefined
      ? html`<p class="big-result">${showText(outcome.parsedResult)}</p>`
      : shownPart(shown, outcome.parsedResult);
  return html`${value}<p>${copyButton(outcome.parsedResult, "result")}</p>`;
}

function shownPart(shown: ShownResult, text: string): Html {
  switch (shown.as) {
    case "coin":
      return html`<p class="big-result coin">${coin(shown.index)}<span>${showText(shown.side)} <span class="note">${text}</span></span></p>`;
    case "dice": {
      const { rolls, hasPips } = shown;
      return html`<ol class="big-result dice" aria-label="Dice">${rolls.map((roll) => html`<li>${hasPips ? die(Number(roll)) : roll}</li>`)}</ol>${rolls.length > 1 && html`<p class="note">${rolls.length} dice, ${String(rolls.reduce((sum, roll) => sum + BigInt(roll), 0n))} in all</p>`}`;
    }
    case "list":
      return html`<ol class="big-result entries" aria-label="Result">${shown.entries.map((entry) => html`<li>${showText(entry)}</li>`)}</ol>`;
  }
}

/** The text beside it says which side it is. */
function coin(index: 0 | 1): Html {
  return html`<svg class="coin-face side-${index}" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="22"/><circle class="rim" cx="24" cy="24" r="17"/>${index === 1 ? html`<path d="M16 31v-9l5 4 3-8 3 8 5-4v9z"/>` : html`<path d="M24 13l3 8h8l-6 5 2 8-7-5-7 5 2-8-6-5h8z"/>`}</svg>`;
}

function die(roll: number): Html {
  const pips = (PIPS[roll] ?? []).map(
    ([column, row]) => html`<circle cx="${12 + 12 * column}" cy="${12 + 12 * row}" r="4"/>`,
  );
  return html`<svg class="die" viewBox="0 0 48 48" role="img" aria-label="${roll}"><rect x="2" y="2" width="44" height="44" rx="9"/>${pips}</svg>`;
}
