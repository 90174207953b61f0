// Comfort for pages that work without it: copying, keys shown in place, a question before what can't be undone, live parts.
import { followLive } from "./live.js";
import { followAges, showAges } from "./ages.js";
import { enableCopying } from "./copy.js";
import { announce } from "./announce.js";

// First, as it notes what the server sent, before the others change it.
followLive((part) => {
  enableCopying(part);
  showAges(part);
});
enableCopying(document);
followAges();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.confirm !== undefined && !confirm(form.dataset.confirm)) {
    event.preventDefault();
    return;
  }
  if (form.dataset.reveal !== undefined) {
    event.preventDefault();
    void reveal(form);
    return;
  }
  // Whoever has to sign in first gets to the whole of a link, its fragment included.
  if (new URL(form.action).pathname === "/sign-in") form.action = `/sign-in${location.hash}`;
  // A second click would send a second request.
  if (form.method === "post") for (const button of form.querySelectorAll("button")) button.disabled = true;
});

// A page that comes back from the browser's memory can be sent again.
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button:disabled")) button.disabled = false;
});

/** Puts the key in place of its mask. Whatever goes wrong, the form is sent as it would be without this script. */
async function reveal(form) {
  try {
    const reply = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(new FormData(form)),
    });
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    const { data } = await reply.json();
    const secret = form.closest(".key-row").querySelector(".secret");
    const code = Object.assign(document.createElement("code"), {
      className: "hex",
      textContent: data.apiKey,
    });
    const copy = Object.assign(document.createElement("button"), {
      type: "button",
      className: "copy",
      textContent: "Copy",
    });
    copy.dataset.copy = data.apiKey;
    const holder = Object.assign(document.createElement("span"), { className: "copyable" });
    holder.append(code, copy);
    secret.replaceChildren(holder);
    enableCopying(secret);
    form.remove();
    copy.focus();
    announce("The key is shown.");
  } catch {
    form.submit();
  }
}
