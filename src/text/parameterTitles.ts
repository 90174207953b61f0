/** Returns what a preset calls its parameters, by name, as far as its schema of them says it. */
export function titlesOf({
  parameters: { properties = {} },
}: {
  readonly parameters: Readonly<Record<string, unknown>>;
}): Record<string, string> {
  const named = Object.entries(properties as Readonly<Record<string, { readonly title?: string }>>);
  return Object.fromEntries(
    named.flatMap(([name, { title }]) => (title === undefined ? [] : [[name, title]])),
  );
}
