import { findDraft, type Draft } from "./draft.ts";

const KEY = "tyche.draft";

/** A draft as the playground shows it. */
export interface OpenedDraft {
  readonly draft: Draft;
  /** Whether it came with a link of somebody. */
  readonly isShared: boolean;
  /** The link's fragment, or an empty text. */
  readonly fragment: string;
}

/** Keeps what is edited until the window is closed, so that a reload or another page takes nothing away. */
export function keepDraft(opened: OpenedDraft): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(opened));
  } catch {
    // The storage is full, or the browser gives none.
  }
}

/** Finds the draft that was edited last in this window. `fragment`: only the one that was made of this link; empty for any. */
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

/** Forgets what is kept: the next who signs in may be somebody else. */
export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // The browser gives no storage.
  }
}
