import { h } from "./dom.ts";

/** Creates a button that copies a text, and says so. */
export function copyButton(read: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(read()).then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "Not copied"),
    );
  });
  return button;
}
