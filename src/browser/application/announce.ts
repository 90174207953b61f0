/** Announces to screen readers what others see on the page. */
export function announce(text: string): void {
  const announcer = document.querySelector("#announcer");
  if (announcer !== null) announcer.textContent = text;
}
