/** Tells people who listen to the page what those who look at it see. */
export function announce(text) {
  document.querySelector("#announcer").textContent = text;
}
