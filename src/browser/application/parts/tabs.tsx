import { Link } from "wouter";

/** A row of links between the pages of one subject. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly text: string; readonly href: string }[];
  /** Name of the tab that is shown. */
  readonly current: string;
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ name, text, href }) => (
        <Link
          key={name}
          href={href}
          aria-current={name === current ? "page" : undefined}
          ref={name === current ? scrollIntoView : undefined}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

/** Brings the current tab into the middle, where all are one row that scrolls: those beside it show that there are more. */
function scrollIntoView(tab: HTMLAnchorElement | null): void {
  const row = tab?.parentElement;
  if (!tab || !row) return;
  row.scrollTo({ left: tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.clientWidth) / 2 });
}
