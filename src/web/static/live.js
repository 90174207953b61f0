import { announce } from "./announce.js";

const BUSY_MS = 300;
const QUIET_MS = 2000;
const LONGEST_MS = 30_000;
/** Looks that have to come back the same before the page is asked less often. */
const QUIET_LOOKS = 20;

/**
 * Keeps the parts marked `data-live` as the server would show them now: asks for the page again and puts in what changed. Rests while the
 * page is hidden, and ends when no live part is left. Never disturbs a part in which somebody has unfolded something or has the focus.
 */
export function followLive(onChange) {
  for (const part of document.querySelectorAll("[data-live]")) part.markup = part.outerHTML;
  let looks = 0;
  let failures = 0;
  const look = async () => {
    const parts = [...document.querySelectorAll("[data-live]")];
    if (parts.length === 0) return;
    if (!document.hidden) {
      try {
        const changed = await update(parts, onChange);
        looks = changed ? 0 : looks + 1;
        failures = 0;
      } catch {
        failures += 1;
      }
    }
    const pause = looks < QUIET_LOOKS ? BUSY_MS : QUIET_MS;
    setTimeout(() => void look(), Math.min(pause * 2 ** failures, LONGEST_MS));
  };
  setTimeout(() => void look(), BUSY_MS);
}

async function update(parts, onChange) {
  const reply = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
  let changed = false;
  for (const part of parts) {
    const next = fresh.getElementById(part.id);
    if (next === null || isInUse(part)) continue;
    const markup = next.outerHTML;
    if (part.markup === markup) continue;
    const imported = document.importNode(next, true);
    imported.markup = markup;
    part.replaceWith(imported);
    onChange(imported);
    changed = true;
    if (imported.dataset.live === undefined)
      announce(imported.querySelector("h2")?.textContent ?? "Updated.");
  }
  return changed;
}

function isInUse(part) {
  const selection = getSelection();
  const isSelecting = selection !== null && !selection.isCollapsed && part.contains(selection.anchorNode);
  return isSelecting || part.contains(document.activeElement) || part.querySelector("details[open]") !== null;
}
