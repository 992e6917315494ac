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

/** How long ago, such as `30d`, or a date. The value is the time in milliseconds. */
export const sinceValue: ValueType<number> = {
  kind: 'value',
  name: 'time',
  placeholder: 'time',
  expected: 'a date such as 2026-11-01, or how long ago: 30d, 12h, 45m',
  parse: (given) => {
    const [, count, unit = ''] = /^(\d{1,6})([dhm])$/.exec(given) ?? []
    if (count !== undefined) return Date.now() - Number(count) * (UNITS[unit] ?? 0)
    const date = /^\d{4}-\d{2}-\d{2}/.test(given) ? Date.parse(given) : NaN
    return Number.isNaN(date) ? undefined : date
  },
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 }

/** Selects tapes by what their headers say. */
export interface TapeChoice {
  readonly since?: number
  readonly agent?: string
  readonly endpoint?: string
  readonly session?: string
  readonly tag?: readonly Tag[]
}

export const TAPE_CHOICE_OPTIONS: OptionTable<TapeChoice> = {
  since: option('--since', sinceValue, 'Only tapes that were recorded since then'),
  agent: option('--agent <id>', textValue, 'Only tapes with this agent id'),
  endpoint: option('--endpoint <id>', textValue, 'Only tapes with this endpoint id'),
  session: option('--session <id>', textValue, 'Only tapes with this session id'),
  tag: option('--tag', tag, 'Only tapes with this tag (repeatable)'),
}

/** Whether the labels of a tape are as the options ask. */
export function isChosenTape(
  { started, labels }: { readonly started: string; readonly labels: TapeLabels },
  { since, agent, endpoint, session, tag: tags = [] }: TapeChoice,
): boolean {
  if (since !== undefined && !(Date.parse(started) >= since)) return false
  if (agent !== undefined && labels.agent !== agent) return false
  if (endpoint !== undefined && labels.endpoint !== endpoint) return false
  if (session !== undefined && labels.session !== session) return false
  return tags.every(([key, value]) => labels.tags[key] === value)
}
