import type { Turn } from '../tape/turn.ts'
import { leafText } from '../wire/leaves.ts'
import { rangeAt, replaceAt, type Path } from '../wire/members.ts'
import type { Spot } from '../correlate/binding.ts'
import { writeSpot } from '../correlate/splice.ts'
import { createDiffer } from '../diff/diff.ts'
import type { Carrier } from './carrier.ts'
import { withRecordedInputs } from './recorded-inputs.ts'

/** A live answer as it would stand on the tape in the place of the recorded one. */
export interface Acceptable {
  /** The frame that holds the recorded answer. */
  readonly frame: number
  readonly text: string
}

/** With the recorded id, and with the recorded names of what the live server has other names for. An item of a batch has no frame of its own. */
export function acceptable({ response }: Turn, answer: string, carrier: Names): Acceptable | undefined {
  if (response === undefined || response.item !== undefined) return undefined
  const id = rangeAt(response.text, ['id'])
  const named = withRecordedInputs(response.text, answer)
  const text = replaceAt(named, ['id'], response.text.slice(id?.start, id?.end))
  return { frame: response.n, text: carrier.recorded(withRecordedNames(text, response.text, carrier)) }
}

type Names = Pick<Carrier, 'explains' | 'recorded'>

/** Where nothing but a name is another one, the recorded one stays. */
function withRecordedNames(live: string, recorded: string, carrier: Names): string {
  return DIFFER.texts(recorded, live).reduce((text, { kind, path, expected, actual }) => {
    const isName = kind === 'changed' && carrier.explains(expected, actual, path)
    return isName ? (writeSpot(text, spotOf(text, path), String(expected)) ?? text) : text
  }, live)
}

const DIFFER = createDiffer({ order: 'kept' })

/** A path that goes on into JSON inside of texts, as the way to where it leads. */
function spotOf(text: string, path: Path): Spot {
  for (let end = path.length; end > 0; end--) {
    const range = rangeAt(text, path.slice(0, end))
    if (range === undefined) continue
    if (end === path.length) return { path, inside: [] }
    const inner = spotOf(leafText(text, range), path.slice(end))
    return { path: path.slice(0, end), inside: [{ kind: 'json', path: inner.path }, ...inner.inside] }
  }
  return { path, inside: [] }
}
