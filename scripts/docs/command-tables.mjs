const MARKED = /(<!-- commands -->\n)[^]*?(<!-- \/commands -->)/

/** A page with a list of all commands between `<!-- commands -->` and `<!-- /commands -->`. */
export function withCommands(page, list) {
  return page.replace(MARKED, (_, begin, end) => `${begin}\n${list}\n\n${end}`)
}

/** The commands that most people need: the README's table shows only these. */
const MAIN = [
  'record',
  'wrap',
  'run',
  'call',
  'inspect',
  'serve',
  'verify',
  'debug',
  'shrink',
  'vary',
  'diff',
  'contract',
  'load',
  'chaos',
  'share',
  'import',
  'export',
]

/** The README's table: a row for each of the main commands, with its help. */
export function commandTable(groups) {
  const commands = Object.values(groups).flat()
  const rows = commands
    .filter(({ name }) => MAIN.includes(name))
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

/** All commands by group, with their help. */
export function commandIndex(groups) {
  return Object.entries(groups)
    .map(([group, entries]) =>
      [
        `- ${group}`,
        ...entries.map(({ name, help }) => `  - [\`${name}\`](reference/${name}.md): ${lowerFirst(help)}`),
      ].join('\n'),
    )
    .join('\n')
}

function lowerFirst(text) {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
