import { findDraft, type Draft } from "./draft.ts";

const KEY = "tyche.draft";

/** A draft as the playground shows it. */
export interface OpenedDraft {
  readonly draft: Draft;
  /** Whether it came from a shared link. */
  readonly isShared: boolean;
  /** The link's fragment, or an empty string. */
  readonly fragment: string;
}

/** Keeps the draft until the window is closed, so that reloading or visiting another page loses nothing. */
export function keepDraft(opened: OpenedDraft): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(opened));
  } catch {
    // The storage is full, or the browser provides none.
  }
}

/** Finds the draft that was edited last in this window. `fragment`: only a draft that came from this link; empty for any. */
export function findKeptDraft(fragment: string): OpenedDraft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Partial<OpenedDraft> | null;
    const draft = findDraft(kept?.draft);
    if (draft === undefined || (fragment !== "" && kept?.fragment !== fragment)) return undefined;
    return { draft, isShared: kept?.isShared === true, fragment };
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
