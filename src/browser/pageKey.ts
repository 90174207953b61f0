const KEY = "tyche.pageKey";

/** Reads the key that the service gave this origin's pages for their session; empty if there is none. */
export function readPageKey(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** Stores the session's page key for all pages of this origin; `undefined` deletes it. */
export function keepPageKey(key: string | undefined): void {
  try {
    if (key === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, key);
  } catch {
    // The browser provides no storage: the session lasts as long as this page.
  }
}
