/** Says a log's event arguments in a line: `round = 1, players = 20`. Values of each log, such as `$blockNumber`, are left out. */
export function describeArguments(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .filter(([name]) => !name.startsWith("$"))
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");
}
