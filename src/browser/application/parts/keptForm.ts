import { useCallback } from "react";

const KEY = "tyche.forms";

/**
 * Keeps what is typed into a form until the window is closed or the user signs out, so that Back or a reload loses nothing. For controls that
 * have a name and that React doesn't control.
 *
 * @param place names the form.
 * @returns the form's ref.
 */
export function useKeptForm(place: string): (form: HTMLFormElement | null) => (() => void) | undefined {
  return useCallback(
    (form) => {
      if (form === null) return undefined;
      const kept = readForms()[place] ?? {};
      for (const control of form.elements) {
        if (!isText(control)) continue;
        const value = kept[control.name];
        if (value !== undefined) control.value = value;
      }
      const keep = (): void => {
        const values = [...form.elements].filter(isText).map((one) => [one.name, one.value] as const);
        writeForms({ ...readForms(), [place]: Object.fromEntries(values) });
      };
      form.addEventListener("input", keep);
      return () => form.removeEventListener("input", keep);
    },
    [place],
  );
}

/** Deletes what is kept of all forms: the next person to sign in may be someone else. */
export function forgetForms(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // The browser provides no storage.
  }
}

type TextControl = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

function isText(control: Element): control is TextControl {
  const isKnown =
    control instanceof HTMLTextAreaElement ||
    control instanceof HTMLSelectElement ||
    (control instanceof HTMLInputElement && control.type === "text");
  return isKnown && control.name !== "";
}

type Forms = Readonly<Record<string, Readonly<Record<string, string>>>>;

function readForms(): Forms {
  try {
    return (JSON.parse(sessionStorage.getItem(KEY) ?? "{}") ?? {}) as Forms;
  } catch {
    return {};
  }
}

function writeForms(forms: Forms): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(forms));
  } catch {
    // The storage is full, or the browser provides none.
  }
}
