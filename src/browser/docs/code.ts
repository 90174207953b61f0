import { h } from "./dom.ts";

/** Adds a button that copies it to each block of code in an element. */
export function addCopyButtons(within: ParentNode): void {
  for (const block of within.querySelectorAll(".code"))
    block.prepend(copyButton(() => block.querySelector("pre")!.textContent));
}

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
