import { announce } from "./announce.js";

const SHOWN_MS = 1500;

/** Shows the copy buttons within an element and makes them work. Browsers give the clipboard to secure origins only (loopback is one). */
export function enableCopying(root) {
  if (navigator.clipboard === undefined) return;
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const label = button.firstChild;
      const before = label.textContent;
      if (before === "Copied") return;
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        label.textContent = "Copied";
        announce("Copied.");
      } catch {
        label.textContent = "Can't copy";
      }
      setTimeout(() => (label.textContent = before), SHOWN_MS);
    });
  }
}
