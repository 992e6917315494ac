import { escapeControlChars, truncateText } from '../../text.ts'
import { countItems, notableItems } from '../document.ts'
import { findingLine, type DocumentFormat } from './format.ts'

const CHARACTERS_PER_TOKEN = 4
const MOST_FINDINGS = 5

/** For coding agents: the verdict, then only what failed, each with a command that shows it, within a budget of tokens. */
export const agentFormat: DocumentFormat = {
  name: 'agent',
  help: 'for coding agents: the verdict, and what failed',
  *render(document, { maxTokens }) {
    const { verdict, summary, command, subject, items, reproduce, notes } = document
    const budget = maxTokens * CHARACTERS_PER_TOKEN
    const head = `verdict: ${verdict}\nreelay ${command}: ${truncateText(subject, 300)}\n${truncateText(summary, 400)}\n${notes
      .slice(0, 5)
      .map((note) => `note: ${truncateText(note, 200)}\n`)
      .join('')}`
    const { failed, warned } = countItems(items)
    let used = head.length
    let shown = 0
    yield head
    for (const { name, status, findings, reproduce: again } of notableItems(items)) {
      const lines = [
        `\n${status === 'failed' ? 'FAILED' : 'WARNING'} ${truncateText(name, 160)}`,
        ...findings.slice(0, MOST_FINDINGS).map((found) => `  ${found.rule}: ${findingLine(found, 120)}`),
        ...(findings.length > MOST_FINDINGS
          ? [`  and ${findings.length - MOST_FINDINGS} more findings`]
          : []),
        ...(again === undefined ? [] : [`  reproduce: ${escapeControlChars(again)}`]),
      ]
      const text = `${lines.join('\n')}\n`
      if (used + text.length > budget - TAIL) break
      used += text.length
      shown++
      yield text
    }
    const left = failed + warned - shown
    if (left > 0) yield `\n${left} more not shown (limit: ${maxTokens} tokens)\n`
    if (failed + warned > 0)
      yield `\nrun again: ${truncateText(reproduce, 600)}\nexplain a rule: reelay explain <rule>\n`
  },
}

/** Characters that the last lines need at most. */
const TAIL = 200
