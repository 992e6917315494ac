import { styleText } from 'node:util'
import type { CompareRule } from '../../compare/rules.ts'
import { RULES, findRule } from '../../report/rules.ts'
import { alignRows } from '../../report/table.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print, printText } from '../output/print.ts'

export const explainCommand: CommandDefinition = defineCommand<{ json?: true }>({
  name: 'explain',
  arguments: { '[rule]': 'Id of a rule, such as tool-removed; without it, all rules are listed' },
  options: { json: jsonOption },
  run: ([name], { json }) => {
    const rules: Readonly<Record<string, CompareRule>> =
      name === undefined ? RULES : { [findRule(name)]: RULES[findRule(name)] }
    if (json) print(`${JSON.stringify(rules, null, 2)}\n`)
    else if (name === undefined) printText(`${ruleList(rules)}\n`)
    else for (const [id, rule] of Object.entries(rules)) printText(ruleText(id, rule))
  },
})

function ruleList(rules: Readonly<Record<string, CompareRule>>): string {
  return alignRows(
    Object.entries(rules).map(([id, { level, title }]) => [{ text: id }, { text: level }, { text: title }]),
  ).join('\n')
}

function ruleText(id: string, { level, title, why, fix }: CompareRule): string {
  return `${styleText('bold', id)} (${level}): ${title}\n\n${why}\n\n${fix}\n`
}
