import type { ReelayError } from '../errors.ts'
import { labelsFromEnv, parseTag } from '../record/labels.ts'
import type { RedactOption } from '../record/redaction.ts'
import type { RecordingRules } from '../record/tape-rules.ts'
import { TEXT_LABELS, pickLabels, type TapeLabels } from '../tape/labels.ts'
import { HARD_MAX_LINE_BYTES, DEFAULT_MAX_LINE_BYTES } from '../protocol/lines.ts'
import { readCountOption, readTapeRules, recordUsageError } from './record-limits.ts'
import { lastValueOf, type GivenOption } from './taken-options.ts'

const BYTES_PER_MIB = 1024 * 1024

/** What is said of the tape, whatever is recorded. */
export interface RecordTapeArgs {
  readonly name: string | undefined
  readonly output: string | undefined
  readonly server: string | undefined
  readonly labels: TapeLabels
  readonly rules: RecordingRules
  readonly maxLineMiB: number
  /** Show exchanges while they are recorded. */
  readonly tail: boolean
  readonly quiet: boolean
  readonly redact: RedactOption
}

export function readTapeArgs(given: readonly GivenOption[], name: string | undefined): RecordTapeArgs {
  const last = lastValueOf(given)
  const output = last('--output')
  if (output !== undefined && /(^|[/\\])$/.test(output))
    throw recordUsageError(`--output "${output}" names no file`)
  if (output !== undefined && name !== undefined) throw outputAndName(output, name)
  return {
    name,
    output,
    server: last('--server'),
    labels: readRecordLabels(given),
    rules: {
      only: readMethodList(given, '--only'),
      skip: readMethodList(given, '--skip'),
      ...readTapeRules(last),
    },
    maxLineMiB: readCountOption(
      '--max-line',
      last('--max-line') ?? String(DEFAULT_MAX_LINE_BYTES / BYTES_PER_MIB),
      HARD_MAX_LINE_BYTES / BYTES_PER_MIB,
    ),
    tail: last('--tail') !== undefined,
    quiet: last('--quiet') !== undefined,
    redact: readRedactOption(last),
  }
}

function readRedactOption(last: (long: string) => string | undefined): RedactOption {
  const isOff = last('--no-redact') !== undefined
  const email = last('--redact-email') !== undefined
  const vault = last('--vault')
  if (isOff && email) throw recordUsageError('--no-redact and --redact-email', 'give one of the two')
  if (isOff && vault !== undefined)
    throw recordUsageError('--no-redact and --vault', 'without stand-ins there is nothing to keep in a vault')
  return isOff ? false : { ...(email && { email }), ...(vault !== undefined && { vault }) }
}

/** What the command line says counts for more than what the environment says. */
function readRecordLabels(given: readonly GivenOption[]): TapeLabels {
  const { tags, ...ids } = labelsFromEnv(process.env)
  const said = TEXT_LABELS.flatMap((id) =>
    given.filter(({ long }) => long === `--${id}`).map(({ value }) => [id, value]),
  )
  const tagged = given.filter(({ long }) => long === '--tag').map(({ value }) => parseTag('--tag', value))
  return pickLabels({ ...ids, ...Object.fromEntries(said), tags: { ...tags, ...Object.fromEntries(tagged) } })
}

function readMethodList(given: readonly GivenOption[], long: string): readonly string[] {
  const lists = given.filter((each) => each.long === long).map(({ value }) => value.split(','))
  return lists.flat().map((method) => method.trim())
}

function outputAndName(output: string, name: string): ReelayError {
  return recordUsageError(
    `two places for one tape: the file ${output} and the name ${name}`,
    'give either -o or a name',
  )
}
