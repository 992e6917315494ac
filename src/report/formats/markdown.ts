import { truncateText } from '../../text.ts'
import { countItems, notableItems, type ReportItem } from '../document.ts'
import { findingLine, type DocumentFormat } from './format.ts'

/** A comment of a pull request. GitHub accepts 65,536 characters. */
const MOST_CHARACTERS = 60_000
const VERDICTS = { pass: '✅ passed', fail: '❌ failed', incomplete: '⚠️ incomplete', none: 'ℹ️ report' }

export const markdownFormat: DocumentFormat = {
  name: 'markdown',
  help: 'a comment for a pull request',
  *render({ command, subject, verdict, summary, items, reproduce, notes }) {
    const { total, passed, failed, warned, skipped } = countItems(items)
    const head = [
      `### reelay ${command}: ${VERDICTS[verdict]}`,
      '',
      code(subject),
      '',
      text(summary),
      '',
      '| judged | passed | failed | warnings | skipped |',
      '| -: | -: | -: | -: | -: |',
      `| ${total} | ${passed} | ${failed} | ${warned} | ${skipped} |`,
      ...notes.map((note) => `\n> ${code(note)}`),
      '',
    ].join('\n')
    yield head
    let used = head.length + reproduce.length + 400
    let left = 0
    for (const item of notableItems(items)) {
      const section = itemSection(item)
      if (left > 0 || used + section.length > MOST_CHARACTERS) left++
      else {
        used += section.length
        yield section
      }
    }
    if (left > 0) yield `\nand ${left} more.\n`
    yield `\n<details><summary>Run it again</summary>\n\n${fenced(reproduce)}\n\n</details>\n`
  },
}

function itemSection({ name, status, findings, reproduce }: ReportItem): string {
  const rows = findings
    .slice(0, 20)
    .map((found) => `| ${code(found.rule)} | ${code(findingLine(found, 120))} |`)
  const more = findings.length > 20 ? [`\nand ${findings.length - 20} more`] : []
  return [
    '',
    `#### ${status === 'failed' ? '❌' : '⚠️'} ${code(name)}`,
    '',
    ...(rows.length === 0 ? [] : ['| rule | finding |', '| - | - |', ...rows, ...more, '']),
    ...(reproduce === undefined ? [] : [fenced(reproduce), '']),
  ].join('\n')
}

/** A code span, in which nothing is a link, a mention, HTML or an image. Table cells end at a pipe even in code. */
function code(value: string): string {
  const shown = truncateText(value, 1000).replaceAll('|', '¦')
  if (shown === '') return ''
  const longest = Math.max(0, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return fence + pad + shown + pad + fence
}

/** Our own sentence, in which names of tools may occur. */
function text(value: string): string {
  return truncateText(value, 2000).replaceAll(/[\\`*_{}[\]<>()#+!|@~&$]/g, (char) => `\\${char}`)
}

function fenced(value: string): string {
  const shown = truncateText(value, 4000)
  const longest = Math.max(2, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}sh\n${shown}\n${fence}`
}
