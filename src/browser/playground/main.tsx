/** Puts the playground into its page. */
import { render } from "preact";
import type { Model } from "./model.ts";
import { Playground } from "./playground.tsx";
import "./playground.css";
import { decodeFragment } from "./share.ts";

const host = document.querySelector<HTMLElement>("#playground");
if (host !== null) {
  const model = JSON.parse(host.dataset["model"]!) as Model;
  const draft = await decodeFragment(location.hash);
  // A link may come from a service with other networks.
  const isKnown = model.networks.some(({ name }) => name === draft?.network);
  const shared =
    draft === undefined || isKnown ? draft : { ...draft, network: model.networks[0]?.name ?? "" };
  host.replaceChildren();
  render(<Playground model={model} shared={shared} />, host);
}
