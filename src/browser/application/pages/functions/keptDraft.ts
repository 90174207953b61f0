import { findDraft, type Draft } from "./draft.ts";
import { isDraftFragment } from "./share.ts";

const KEY = "tyche.draft";

/** A draft as the playground shows it. */
export interface OpenedDraft {
  readonly draft: Draft;
  /** Whether it may be somebody else's: it came from a shared link. */
  readonly isShared: boolean;
  /** What {@link linkOf} returned for the address that brought it. */
  readonly link: string;
}

/** Returns what an address names a draft by: the fragment of a shared link, or the id of a request or dry run; empty if it names none. */
export function linkOf({ hash, search }: Pick<Location, "hash" | "search">): string {
  if (isDraftFragment(hash)) return hash;
  const query = new URLSearchParams(search);
  return query.get("request") ?? query.get("dryRun") ?? "";
}

/** Keeps the draft until the window is closed, so that reloading or visiting another page loses nothing. */
export function keepDraft(opened: OpenedDraft): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(opened));
  } catch {
    // The storage is full, or the browser provides none.
  }
}

/** Finds the draft that was edited last in this window. `link`: only a draft that came from there; empty for any. */
export function findKeptDraft(link: string): OpenedDraft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Partial<OpenedDraft> | null;
    const draft = findDraft(kept?.draft);
    if (draft === undefined || (link !== "" && kept?.link !== link)) return undefined;
    return { draft, isShared: kept?.isShared === true, link };
  } catch {
    return undefined;
  }
}

/** Deletes the kept draft: the next person to sign in may be someone else. */
export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // The browser provides no storage.
  }
}
