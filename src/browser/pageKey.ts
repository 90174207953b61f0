const KEY = "tyche.pageKey";

/** Reads the key that the service gave this origin's pages for their session; empty where there is none. */
export function readPageKey(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** Keeps the key of a session for all pages of this origin; `undefined` forgets it. */
export function keepPageKey(key: string | undefined): void {
  try {
    if (key === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, key);
  } catch {
    // The browser gives no storage: the session lasts as long as this page.
  }
}
