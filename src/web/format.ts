import { formatUnits } from "viem";
import type { Party } from "../explorer/views.ts";
import { html, type Html } from "./html.ts";

/** A hash or address in full, to be broken anywhere. */
export function code(text: string): Html {
  return html`<code class="hex">${text}</code>`;
}

/** A long hex text cut in its middle, whole as its title. */
export function shortHex(text: string): Html {
  return html`<code title="${text}">${text.length > 18 ? `${text.slice(0, 10)}…${text.slice(-6)}` : text}</code>`;
}

/** A text to copy, with a button that does it where scripts run. */
export function copyable(text: string, what: string): Html {
  return html`<span class="copyable">${code(text)}${copyButton(text, what)}</span>`;
}

/** A button that copies a text; hidden where no script runs. */
export function copyButton(text: string, what: string, label = "Copy"): Html {
  return html`<button type="button" class="copy" data-copy="${text}" hidden>${label}<span class="visually-hidden"> ${what}</span></button>`;
}

/** Link to a transaction's page. */
export function transactionLink(network: string, hash: string, text: Html | string = shortHex(hash)): Html {
  return html`<a href="/explorer/${network}/tx/${hash}">${text}</a>`;
}

/** Link to a block's page. */
export function blockLink(network: string, number: string): Html {
  return html`<a href="/explorer/${network}/block/${number}">${number}</a>`;
}

/** Link to an address's page: its name where it has one, else the address, cut unless `full`. */
export function partyLink(network: string, party: Party, options: { readonly full?: boolean } = {}): Html {
  const { address, name } = party;
  const text = options.full ? code(address) : shortHex(address);
  const link = html`<a href="/explorer/${network}/address/${address}">${name !== undefined && !options.full ? html`<span title="${address}">${name}</span>` : text}</a>`;
  return options.full && name !== undefined ? html`<span class="named"><b>${name}</b> ${link}</span>` : link;
}

/** Coin in wei or LINK in juels: both have 18 decimals. */
export function units(amount: string, unit: string): string {
  const [whole = "0", fraction] = formatUnits(BigInt(amount), 18).split(".");
  return `${groupDigits(whole)}${fraction === undefined ? "" : `.${fraction}`} ${unit}`;
}

/** An amount of a network's own coin, in wei. */
export function coin(amountWei: string, network: string): string {
  return units(amountWei, SYMBOLS[network] ?? "ETH");
}

const SYMBOLS: Readonly<Record<string, string>> = {
  polygon_mumbai: "MATIC",
  fuji: "AVAX",
  fantom_testnet: "FTM",
};

/** A decimal number with a thin space between groups of three digits. */
export function groupDigits(decimal: string): string {
  return decimal.replaceAll(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A moment in UTC, to the second. */
export function time(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

/** A moment in a list: where scripts run, how long ago it was, with {@link time} as its title. */
export function age(iso: string): Html {
  return html`<time class="age" datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

/** "1 block", "2 blocks". */
export function count(n: number | bigint | string, noun: string): string {
  return `${groupDigits(String(n))} ${noun}${String(n) === "1" ? "" : "s"}`;
}
