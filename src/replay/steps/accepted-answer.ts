import type { Turn } from '../../tape/turn.ts'
import { decodeLeaf } from '../../json/leaves.ts'
import { findRange } from '../../json/find.ts'
import { replaceValue } from '../../json/splice.ts'
import type { JsonPath } from '../../json/path.ts'
import type { ValueLocation } from '../../bindings/binding.ts'
import { writeLocation } from '../../bindings/location.ts'
import { createDiffer } from '../../diff/diff.ts'
import type { CarriedValues } from '../values/carried-values.ts'
import { withRecordedInputs } from '../session/input-rounds.ts'

/** A live answer as it would stand on the tape in the place of the recorded one. */
export interface AcceptedAnswer {
  /** The frame that holds the recorded answer. */
  readonly frame: number
  readonly text: string
}

/** With the recorded id, and with the recorded names of what the live server has other names for. An item of a batch has no frame of its own. */
export function acceptedAnswer(
  { response }: Turn,
  answer: string,
  carrier: RecordedValueLookup,
): AcceptedAnswer | undefined {
  if (response === undefined || response.item !== undefined) return undefined
  const id = findRange(response.text, ['id'])
  const named = withRecordedInputs(response.text, answer)
  const text = replaceValue(named, ['id'], response.text.slice(id?.start, id?.end))
  return { frame: response.n, text: carrier.recorded(withRecordedValues(text, response.text, carrier)) }
}

type RecordedValueLookup = Pick<CarriedValues, 'explains' | 'recorded'>

/** Where nothing but a name is another one, the recorded one stays. */
function withRecordedValues(live: string, recorded: string, carrier: RecordedValueLookup): string {
  return DIFFER.texts(recorded, live).reduce((text, { kind, path, expected, actual }) => {
    const isName = kind === 'changed' && carrier.explains(expected, actual, path)
    return isName ? (writeLocation(text, locationOf(text, path), String(expected)) ?? text) : text
  }, live)
}

const DIFFER = createDiffer({ order: 'kept' })

/** A path that goes on into JSON inside of texts, as the way to where it leads. */
function locationOf(text: string, path: JsonPath): ValueLocation {
  for (let end = path.length; end > 0; end--) {
    const range = findRange(text, path.slice(0, end))
    if (range === undefined) continue
    if (end === path.length) return { path, inside: [] }
    const inner = locationOf(decodeLeaf(text, range), path.slice(end))
    return { path: path.slice(0, end), inside: [{ kind: 'json', path: inner.path }, ...inner.inside] }
  }
  return { path, inside: [] }
}
