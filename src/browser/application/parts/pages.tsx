import { Link, useLocation, useSearchParams } from "wouter";

/** Pages for which the address has the way back. */
const MAX_PASSED = 50;

/** Query parameter with the place where a page begins. */
type Parameter = "before" | "cursor";

/** Returns where the page of a list begins that is shown; `undefined` for the first. */
export function usePlace(parameter: Parameter): string | undefined {
  const [search] = useSearchParams();
  return search.getAll(parameter).at(-1);
}

/** Returns how many pages come before the one that is shown; `undefined` if they are too many for the address. */
export function usePassed(parameter: Parameter): number | undefined {
  const [search] = useSearchParams();
  const { length } = search.getAll(parameter);
  return length < MAX_PASSED ? length : undefined;
}

/**
 * Links to the pages around the one that is shown; nothing where there is only one. Lists go on from a place, towards what is older: for the
 * way back, the address has the places of the pages before, too, besides the list's filters.
 */
export function Pages({
  parameter,
  older,
}: {
  readonly parameter: Parameter;
  /** Where the next page begins; `null` on the last. */
  readonly older: string | null;
}) {
  const [location] = useLocation();
  const [search] = useSearchParams();
  const passed = search.getAll(parameter);
  if (passed.length === 0 && older === null) return null;
  const pageAfter = (places: readonly string[]): string => {
    const query = new URLSearchParams(search);
    query.delete(parameter);
    for (const place of places) query.append(parameter, place);
    return query.size === 0 ? location : `${location}?${query.toString()}`;
  };
  return (
    <nav className="pages" aria-label="Pages">
      {passed.length > 1 && <Link href={pageAfter([])}>First page</Link>}
      {passed.length > 0 && (
        <Link rel="prev" href={pageAfter(passed.slice(0, -1))}>
          Newer
        </Link>
      )}
      {older !== null && (
        <Link rel="next" href={pageAfter([...passed, older].slice(-MAX_PASSED))}>
          Older
        </Link>
      )}
    </nav>
  );
}
