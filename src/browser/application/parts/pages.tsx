import { Link, useLocation, useSearchParams } from "wouter";

/** Pages that an address has the places of. */
const MAX_PLACES = 50;

/** The place of the first page: addresses that have all places before their page begin with it. */
const FIRST = "";

/** Query parameter with the place where a page begins. */
type Parameter = "before" | "cursor";

/** Returns where the page of a list begins that is shown; `undefined` for the first. */
export function usePlace(parameter: Parameter): string | undefined {
  const [search] = useSearchParams();
  return search.getAll(parameter).at(-1) || undefined;
}

/** Returns how many pages come before the one that is shown; `undefined` if the address doesn't have them all. */
export function usePassed(parameter: Parameter): number | undefined {
  const [search] = useSearchParams();
  const places = search.getAll(parameter);
  if (places.length === 0) return 0;
  return places[0] === FIRST ? places.length - 1 : undefined;
}

/**
 * Links to the pages around the one that is shown; nothing where there is only one. Lists go on from a place, towards what is older: for the
 * way back, the address has the places of the pages before, too, besides the list's filters.
 */
export function Pages({
  parameter,
  older,
  label = "Pages",
}: {
  readonly parameter: Parameter;
  /** Where the next page begins; `null` on the last. */
  readonly older: string | null;
  /** Name of the links, where there are those of another list. */
  readonly label?: string;
}) {
  const [location] = useLocation();
  const [search] = useSearchParams();
  const places = search.getAll(parameter);
  const passed = usePassed(parameter);
  if (places.length === 0 && older === null) return null;
  const pageAt = (way: readonly string[]): string => {
    const query = new URLSearchParams(search);
    query.delete(parameter);
    if (way.at(-1) !== FIRST) for (const place of way) query.append(parameter, place);
    return query.size === 0 ? location : `${location}?${query.toString()}`;
  };
  return (
    <nav className="pages" aria-label={label}>
      {(passed === undefined || passed > 1) && <Link href={pageAt([FIRST])}>First page</Link>}
      {places.length > 1 && (
        <Link rel="prev" href={pageAt(places.slice(0, -1))}>
          Newer
        </Link>
      )}
      {older !== null && (
        <Link
          rel="next"
          href={pageAt([...(places.length === 0 ? [FIRST] : places), older].slice(-MAX_PLACES))}
        >
          Older
        </Link>
      )}
    </nav>
  );
}
