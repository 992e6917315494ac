const MARKED = /(<!-- options: ([\w ]+) -->\n)[^]*?(<!-- \/options -->)/g

/** A page with the options of each command between `<!-- options: <command> -->` and `<!-- /options -->`. */
export function withOptionTables(page, commands) {
  return page.replaceAll(MARKED, (_, begin, path, end) => {
    const command = findCommand(commands, path.split(' '))
    if (command === undefined) throw new Error(`there is no command "${path}", whose options a page wants`)
    return `${begin}\n${optionTables(command)}\n\n${end}`
  })
}

function findCommand(commands, [name, ...rest]) {
  const command = commands.find((each) => each.name === name)
  return command === undefined || rest.length === 0 ? command : findCommand(command.commands, rest)
}

function optionTables({ options }) {
  const rows = Object.values(options).filter(({ flag }) => flag !== undefined)
  if (rows.length === 0) return 'This command has no options.'
  const groups = [...new Set(rows.map(({ group }) => group))]
  if (groups.length === 1) return optionTable(rows)
  return groups
    .map((group) => `**${group ?? 'General'}**\n\n${optionTable(rows.filter((row) => row.group === group))}`)
    .join('\n\n')
}

function optionTable(rows) {
  const columns = COLUMNS.filter(({ isNeeded }) => isNeeded(rows))
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)))
  return table(
    columns.map(({ title }) => title),
    cells,
  )
}

const COLUMNS = [
  { title: 'Option', isNeeded: () => true, cell: optionCell },
  { title: 'Effect', isNeeded: () => true, cell: ({ help, type }) => inCode(help) + choicesText(type) },
  { title: 'Default', isNeeded: some('default'), cell: (row) => defaultCell(row.default) },
  {
    title: 'Config',
    isNeeded: some('config'),
    cell: ({ config = [] }) => [config].flat().map(code).join(', '),
  },
]

function some(name) {
  return (rows) => rows.some((row) => row[name] !== undefined)
}

function optionCell({ flag, type, placeholder = type.placeholder }) {
  const [long] = flag.split(', ').slice(-1)
  if (type.kind === 'switch')
    return type.off === undefined ? code(flag) : `${code(flag)}, ${code(long.replace('--', '--no-'))}`
  return code(`${flag} ${type.bare === undefined ? `<${placeholder}>` : `[${placeholder}]`}`)
}

function choicesText({ choices }) {
  return choices === undefined ? '' : `. One of ${choices.map(code).join(', ')}`
}

/** A default is a value, or a few words. */
function defaultCell(text = '') {
  return /^[\w-]+$/.test(text) ? code(text) : inCode(text)
}

function code(text) {
  return `\`${text}\``
}

/** Options, paths, patterns and other literals of a help text in code font. */
function inCode(help) {
  return help.replaceAll(/'[^']+'|[^\s(),;]+/g, (word) => {
    if (/^'.*'$/.test(word)) return code(word.slice(1, -1))
    const [, literal, end] = /^(.*?)([.:]?)$/s.exec(word)
    return isLiteral(literal) ? code(literal) + end : word
  })
}

function isLiteral(word) {
  return (
    word !== 'e.g' &&
    (/^--?\w|^__\w+__$|[[\]$*=\\{}]|\w[./:]\w/.test(word) || /^(x?\d+(ms|s|rps|%)?|x\d+)$/.test(word))
  )
}

/** Columns are padded as oxfmt does it. */
export function table(titles, rows) {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = titles.map((title, at) => Math.max(title.length, 3, ...escaped.map((row) => row[at].length)))
  const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`
  return [line(titles), line(widths.map((width) => '-'.repeat(width))), ...escaped.map(line)].join('\n')
}
