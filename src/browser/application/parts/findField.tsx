/** A field that searches a list on the page, and how much of the list it finds. */
export function FindField({
  label,
  placeholder,
  wanted,
  onWanted,
  found,
  all,
}: {
  /** Heading of the list. */
  readonly label: string;
  readonly placeholder: string;
  readonly wanted: string;
  readonly onWanted: (text: string) => void;
  readonly found: number;
  readonly all: number;
}) {
  return (
    <p className="on-screen">
      <input
        type="search"
        aria-label={`Find in: ${label}`}
        placeholder={placeholder}
        autoComplete="off"
        value={wanted}
        onChange={({ currentTarget }) => onWanted(currentTarget.value)}
      />{" "}
      <span className="note" role="status">
        {wanted.trim() !== "" && (found === 0 ? "Nothing matches" : `${found} of ${all}`)}
      </span>
    </p>
  );
}

/** Returns whether a text contains what is wanted, in whatever case. */
export function isFoundBy(wanted: string): (text: string) => boolean {
  const part = wanted.trim().toLowerCase();
  return (text) => text.toLowerCase().includes(part);
}
