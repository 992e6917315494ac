const MARKED = /(<!-- commands -->\n)[^]*?(<!-- \/commands -->)/

/** A page with a list of all commands between `<!-- commands -->` and `<!-- /commands -->`. */
export function withCommands(page, list) {
  return page.replace(MARKED, (_, begin, end) => `${begin}\n${list}\n\n${end}`)
}

/** The README's table: a row for each command, with its help. */
export function commandTable(groups) {
  const rows = Object.values(groups)
    .flat()
    .map(({ name, help }) => [`[\`reelay ${name}\`](docs/reference/${name}.md)`, help.replaceAll('|', '\\|')])
  const widths = [0, 1].map((column) =>
    Math.max(...[['Command', 'What it does'], ...rows].map((row) => row[column].length)),
  )
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  return [
    line(['Command', 'What it does']),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map(line),
  ].join('\n')
}

/** A line for each group of commands. */
export function commandIndex(groups) {
  return Object.entries(groups)
    .map(
      ([group, entries]) =>
        `- **${group}**: ${entries.map(({ name }) => `[\`${name}\`](reference/${name}.md)`).join(', ')}`,
    )
    .join('\n')
}
