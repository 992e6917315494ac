/** docs/reference/rules.md. */
export function rulesPage(rules) {
  return `${[INTRO, ...Object.entries(rules).map(section)].join('\n\n')}\n`
}

const LEVELS = {
  breaking: 'a client that worked can fail',
  security: 'the model or the user may be misled, or a promise about what a tool does was withdrawn',
  unknown: 'it could not be decided whether something breaks',
  change: 'different, but not known to break anybody',
  addition: 'something new',
  info: 'worth knowing',
}

function levelTable() {
  const rows = Object.entries(LEVELS).map(([level, text]) => [`\`${level}\``, text])
  const width = Math.max(...rows.map(([, text]) => text.length))
  const row = ([level, text]) => `| ${level.padEnd(10)} | ${text.padEnd(width)} |`
  return [row(['Level', 'Meaning']), `| ${'-'.repeat(10)} | ${'-'.repeat(width)} |`, ...rows.map(row)].join(
    '\n',
  )
}

const INTRO = `# Rules

<!-- Made by \`npm run docs\` from src/compare/rules.ts, src/compare/migration-rules.ts and src/report/rules.ts. Do not edit by hand. -->

Every finding in a report names a rule. Rules that begin with \`live-\` belong to \`reelay replay\` and \`reelay verify\`, \`load-\` to \`reelay load\`, \`tape-\` to \`reelay inspect\`, \`era-\` to \`reelay lint\` and \`verify --as\`, and the others to \`reelay diff\` and \`reelay contract\`:

\`\`\`console
$ reelay explain tool-removed
tool-removed (breaking): the tool is gone
\`\`\`

A rule keeps its id and its meaning. The level of a finding is usually the level of its rule:

${levelTable()}`

function section([id, { level, title, why, fix }]) {
  return `## ${id}\n\nLevel: ${level}. ${title[0].toUpperCase()}${title.slice(1)}.\n\n${why} ${fix}`
}
