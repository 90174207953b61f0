/** Elements that Swagger UI leaves without an accessible name, and the names they get. */
const NAMES: readonly (readonly [selector: string, name: string])[] = [
  ["textarea.body-param__text", "Body"],
  [".content-type-wrapper select, select.content-type", "Media type"],
  [".examples-select select, select.examples-select-element", "Example"],
  [".parameters select:not([aria-label])", "Value"],
  [".parameters input:not([aria-label])", "Value"],
];

/**
 * Keeps Swagger UI's output usable with keyboard and screen reader: fields get names, long examples become scrollable.
 */
export function keepAccessible(host: Element): void {
  const mend = (): void => {
    for (const [selector, name] of NAMES)
      for (const element of host.querySelectorAll(selector)) {
        const parameter = element.closest("tr")?.getAttribute("data-param-name");
        setAttribute(element, "aria-label", parameter ?? name);
      }
    for (const element of host.querySelectorAll("pre, .highlight-code > *, .microlight"))
      setAttribute(element, "tabindex", "0");
    // Each operation has two of them, with nothing to tell them apart.
    for (const element of host.querySelectorAll("table[role=region]")) element.removeAttribute("role");
  };
  new MutationObserver(mend).observe(host, { childList: true, subtree: true });
  mend();
}

function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
