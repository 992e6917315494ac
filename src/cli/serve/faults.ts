import { FAULT_KINDS } from '../../faults/kinds/registry.ts'
import { FAULT_PRESETS } from '../../faults/presets.ts'
import { alignRows } from '../../report/table.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print, printText } from '../output/print.ts'

export const faultsCommand: CommandDefinition = defineCommand<{ json?: true }>({
  name: 'faults',
  options: { json: jsonOption },
  notes:
    'Use a preset as --faults <preset>, or write kinds into a file: reelay serve <tape> --faults faults.yaml',
  run: (_, { json }) => (json ? print(faultsAsJson()) : printText(faultsAsText())),
})

function faultsAsText(): string {
  const kinds = FAULT_KINDS.map(({ name, expects, help }) => [
    { text: `  ${name}` },
    { text: expects === 'true' ? help : `${help}: ${expects}` },
  ])
  const presets = FAULT_PRESETS.map(({ name, help }) => [{ text: `  ${name}` }, { text: help }])
  return ['Kinds of faults:', ...alignRows(kinds), '', 'Presets:', ...alignRows(presets), ''].join('\n')
}

function faultsAsJson(): string {
  const kinds = FAULT_KINDS.map(({ name, help, expects, example }) => ({ name, help, expects, example }))
  const presets = FAULT_PRESETS.map(({ name, help, faults, count = 1 }) => ({
    name,
    help,
    faults: faults(count),
  }))
  return `${JSON.stringify({ kinds, presets }, null, 2)}\n`
}
