import { labelsFromEnv, parseTag } from '../../record/tape-header.ts'
import { pickLabels, type TapeLabels } from '../../tape/header.ts'
import { inGroup, option, type OptionRow, type OptionTable, type ValueType } from './option.ts'
import { fileValue, switchOn, textValue } from './option-types.ts'

/** The first argument of most commands. */
export const TAPE_ARGUMENT = { '<tape>': 'Tape name, or path of a tape file' } as const

export const jsonOption: OptionRow<true> = option('--json', switchOn, 'Print the result as JSON')

/** Selects servers of a tape; the same filter everywhere. */
export function serverFilter(help: string): OptionRow<string> {
  return option(
    '--server <filter>',
    textValue,
    `${help}: names separated by commas, * matches any characters`,
  )
}

export interface LabelFlags {
  readonly session?: string
  readonly endpoint?: string
  readonly agent?: string
  readonly note?: string
  readonly tag?: readonly Tag[]
}

type Tag = readonly [key: string, value: string]

const tag: ValueType<readonly Tag[]> = {
  kind: 'value',
  name: 'tag',
  placeholder: 'key=value',
  expected: 'key=value, e.g. suite=smoke',
  parse: (given) => [parseTag('--tag', given)],
  join: (before, after) => [...before, ...after],
}

/** The labels that a recording writes into the header of its tape. */
export const LABEL_OPTIONS: OptionTable<LabelFlags> = inGroup('Labels', {
  session: option('--session <id>', textValue, 'Write a session id into the tape header'),
  endpoint: option('--endpoint <id>', textValue, 'Write an endpoint id into the tape header'),
  agent: option('--agent <id>', textValue, 'Write an agent id into the tape header'),
  note: option('--note <text>', textValue, 'Write a note into the tape header'),
  tag: option('--tag', tag, 'Write a tag into the tape header (repeatable)'),
})

/** The labels of the command line, and of the environment where the command line has none. */
export function readLabels(flags: LabelFlags, env: NodeJS.ProcessEnv): TapeLabels {
  const { tags, ...ids } = labelsFromEnv(env)
  return pickLabels({ ...ids, ...flags, tags: { ...tags, ...Object.fromEntries(flags.tag ?? []) } })
}

export const overwriteOption: OptionRow<true> = option(
  '--overwrite',
  switchOn,
  'Replace the tape if it exists',
)

export const vaultOption: OptionRow<string> = option(
  '--vault',
  fileValue,
  'Append the real values of the placeholders to this file, for replay --secrets',
)
