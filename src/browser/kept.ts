/** Reads what the pages of this origin keep in this browser; `null` if there is nothing, or no storage. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a value for all pages of this origin; `undefined` deletes it. Without storage, it lasts as long as the page that has it. */
export function keep(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The browser provides no storage.
  }
}
