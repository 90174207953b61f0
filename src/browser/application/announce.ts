/** Tells people who listen to the page what those who look at it see. */
export function announce(text: string): void {
  const announcer = document.querySelector("#announcer");
  if (announcer !== null) announcer.textContent = text;
}
