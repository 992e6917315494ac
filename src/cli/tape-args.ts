import type { ReelayError } from '../errors.ts'
import { labelsFromEnv, readTag } from '../record/labels.ts'
import type { RedactOption } from '../record/redaction.ts'
import type { TapeRules } from '../record/tape-rules.ts'
import { LABEL_IDS, labelsOf, type Labels } from '../tape/labels.ts'
import { LONGEST_LINE_BYTES, MAX_LINE_BYTES } from '../wire/lines.ts'
import { readCount, readRules, usage } from './record-limits.ts'
import { lastOf, type Given } from './taken-options.ts'

const MIB = 1024 * 1024

/** What is said of the tape, whatever is recorded. */
export interface TapeArgs {
  readonly name: string | undefined
  readonly output: string | undefined
  readonly server: string | undefined
  readonly labels: Labels
  readonly rules: TapeRules
  readonly maxLineMiB: number
  /** Show exchanges while they are recorded. */
  readonly tail: boolean
  readonly quiet: boolean
  readonly redact: RedactOption
}

export function tapeArgs(given: readonly Given[], name: string | undefined): TapeArgs {
  const last = lastOf(given)
  const output = last('--output')
  if (output !== undefined && /(^|[/\\])$/.test(output)) throw usage(`--output "${output}" names no file`)
  if (output !== undefined && name !== undefined) throw twoPlaces(output, name)
  return {
    name,
    output,
    server: last('--server'),
    labels: readLabels(given),
    rules: {
      only: readMethods(given, '--only'),
      skip: readMethods(given, '--skip'),
      ...readRules(last),
    },
    maxLineMiB: readCount(
      '--max-line',
      last('--max-line') ?? String(MAX_LINE_BYTES / MIB),
      LONGEST_LINE_BYTES / MIB,
    ),
    tail: last('--tail') !== undefined,
    quiet: last('--quiet') !== undefined,
    redact: readRedact(last),
  }
}

function readRedact(last: (long: string) => string | undefined): RedactOption {
  const isOff = last('--no-redact') !== undefined
  const email = last('--redact-email') !== undefined
  const vault = last('--vault')
  if (isOff && email) throw usage('--no-redact and --redact-email', 'give one of the two')
  if (isOff && vault !== undefined)
    throw usage('--no-redact and --vault', 'without stand-ins there is nothing to keep in a vault')
  return isOff ? false : { ...(email && { email }), ...(vault !== undefined && { vault }) }
}

/** What the command line says counts for more than what the environment says. */
function readLabels(given: readonly Given[]): Labels {
  const { tags, ...ids } = labelsFromEnv(process.env)
  const said = LABEL_IDS.flatMap((id) =>
    given.filter(({ long }) => long === `--${id}`).map(({ value }) => [id, value]),
  )
  const tagged = given.filter(({ long }) => long === '--tag').map(({ value }) => readTag('--tag', value))
  return labelsOf({ ...ids, ...Object.fromEntries(said), tags: { ...tags, ...Object.fromEntries(tagged) } })
}

function readMethods(given: readonly Given[], long: string): readonly string[] {
  const lists = given.filter((each) => each.long === long).map(({ value }) => value.split(','))
  return lists.flat().map((method) => method.trim())
}

function twoPlaces(output: string, name: string): ReelayError {
  return usage(`two places for one tape: the file ${output} and the name ${name}`, 'give either -o or a name')
}
