import type { ShownResult } from "../../../client/index.ts";
import { EntryList } from "./entryList.tsx";
import { UnknownText } from "./parts.tsx";

/** Positions of the pips on a 3 by 3 grid as column and row, indexed by the number shown. */
const PIPS: readonly string[] = [
  "",
  "11",
  "00 22",
  "00 11 22",
  "00 20 02 22",
  "00 20 11 02 22",
  "00 20 01 21 02 22",
];

/** A preset's result in large type, as the preset says. */
export function Shown({
  shown,
  places,
}: {
  readonly shown: ShownResult;
  /** Where the entries of a result stand in the list that they were drawn from. */
  readonly places?: ReadonlyMap<string, string> | undefined;
}) {
  switch (shown.as) {
    case "coin":
      return (
        <p className="big-result coin">
          <CoinFace index={shown.index} />
          <span>
            <UnknownText text={shown.side} />
          </span>
        </p>
      );
    case "dice": {
      const { rolls, hasPips } = shown;
      const sum = rolls.reduce((total, roll) => total + BigInt(roll), 0n);
      return (
        <>
          <ol className="big-result dice" aria-label="Dice">
            {rolls.map((roll, i) => (
              <li key={i}>{hasPips ? <Die roll={Number(roll)} /> : roll}</li>
            ))}
          </ol>
          {rolls.length > 1 && (
            <p className="note">
              {rolls.length} dice, {String(sum)} in all
            </p>
          )}
        </>
      );
    }
    case "list":
      return <EntryList entries={shown.entries} label="Result" places={places} isLarge />;
  }
}

/** The text beside it says which side it is. */
function CoinFace({ index }: { readonly index: 0 | 1 }) {
  return (
    <svg className={`coin-face side-${index}`} viewBox="0 0 48 48" aria-hidden="true">
      <circle cx="24" cy="24" r="22" />
      <circle className="rim" cx="24" cy="24" r="17" />
      <path d={index === 1 ? "M16 31v-9l5 4 3-8 3 8 5-4v9z" : "M24 13l3 8h8l-6 5 2 8-7-5-7 5 2-8-6-5h8z"} />
    </svg>
  );
}

function Die({ roll }: { readonly roll: number }) {
  const pips = (PIPS[roll] ?? "").split(" ").filter((place) => place !== "");
  return (
    <svg className="die" viewBox="0 0 48 48" role="img" aria-label={String(roll)}>
      <rect x="2" y="2" width="44" height="44" rx="9" />
      {pips.map((place) => (
        <circle key={place} cx={12 + 12 * Number(place[0])} cy={12 + 12 * Number(place[1])} r="4" />
      ))}
    </svg>
  );
}
