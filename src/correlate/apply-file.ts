import { ReelayError } from '../errors.ts'
import { messagesOfTurn } from '../tape/turn-messages.ts'
import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Spoken } from '../tape/turn.ts'
import { EVERY, type Path } from '../wire/path.ts'
import type { Binding, Consumer, Correlation, Lens, Place, Producer } from './binding.ts'
import type { BindingsFile, ForbiddenPlace, UserBinding } from './bindings-file.ts'
import { readSpot } from './lens.ts'
import type { WrittenPlace, WrittenStep } from './place-parse.ts'
import { placeText } from './place-text.ts'
import { tokenPlace } from './token-place.ts'

/** The correlation of a tape with what its user added, fixed and forbade. */
export function applyBindingsFile(
  { bindings, guesses }: Correlation,
  file: BindingsFile,
  turns: RecordedTurns,
): Correlation {
  const added = file.bind.map((one) => resolve(one, turns))
  const isFree = (consumer: Consumer): boolean =>
    !file.forbid.some((place) => forbids(place, consumer)) &&
    !added.some(({ consumers }) => consumers.some((other) => placeText(other) === placeText(consumer)))
  const without = (list: readonly Binding[]): readonly Binding[] =>
    list
      .map((binding) => ({ ...binding, consumers: binding.consumers.filter(isFree) }))
      .filter(({ consumers }) => consumers.length > 0)
  return { bindings: [...without(bindings), ...added], guesses: without(guesses) }
}

function forbids({ frame, path }: ForbiddenPlace, consumer: Consumer): boolean {
  return (frame === undefined || frame === consumer.frame) && covers(path, consumer.path)
}

function covers(pattern: Path, path: Path): boolean {
  return (
    pattern.length <= path.length &&
    pattern.every(
      (segment, at) => segment === path[at] || (segment === EVERY && typeof path[at] === 'number'),
    )
  )
}

function resolve({ from, to }: UserBinding, turns: RecordedTurns): Binding {
  const consumers = to.map((place) => consumerAt(place, turns))
  const [first] = consumers
  const spoken = first === undefined ? undefined : spokenAt(first, turns)?.spoken
  const value = first === undefined || spoken === undefined ? undefined : readSpot(spoken.text, first)
  return {
    value: value ?? '',
    producer: 'kind' in from ? from : producerAt(from, turns),
    also: [],
    consumers,
    confidence: 'certain',
    standing: 'user',
    reason: 'the bindings file says so',
  }
}

function consumerAt(written: WrittenPlace, turns: RecordedTurns): Consumer {
  const place = placeAt(written, turns)
  const last = place.inside.at(-1)?.kind
  const use = last === 'key' ? 'key' : last === 'span' || last === 'token' ? 'part' : 'value'
  return { ...place, use }
}

function producerAt(written: WrittenPlace, turns: RecordedTurns): Producer {
  return { kind: 'message', ...placeAt(written, turns) }
}

function placeAt(written: WrittenPlace, turns: RecordedTurns): Place {
  const { frame, item, path, steps } = written
  const found = spokenAt(written, turns)
  if (found === undefined) throw nothingAt(`#${frame} is no message of the tape`)
  const place = { frame, ...(item === undefined ? {} : { item }), path }
  const inside: Lens[] = []
  for (const step of steps) inside.push(lensFor(step, readSpot(found.spoken.text, { path, inside })))
  if (readSpot(found.spoken.text, { path, inside }) === undefined)
    throw nothingAt(`there is no text or number at ${placeText({ ...place, inside })}`)
  return { turn: found.turn, ...place, inside }
}

function lensFor(step: WrittenStep, text: string | undefined): Lens {
  if (step.kind !== 'around') return step
  const start = text?.indexOf(step.before) ?? -1
  if (text === undefined || start < 0) throw nothingAt(`${JSON.stringify(step.before)} is not in the text`)
  const from = start + step.before.length
  const ends = step.after === '' ? text.slice(from).search(/\s|$/) + from : text.indexOf(step.after, from)
  if (ends <= from) throw nothingAt(`${JSON.stringify(step.after)} does not follow`)
  return { kind: 'token', token: tokenPlace(text, from, ends) }
}

function spokenAt(
  { frame, item }: Pick<Place, 'frame' | 'item'>,
  turns: RecordedTurns,
): { readonly turn: number; readonly spoken: Spoken } | undefined {
  for (let index = 0; index < turns.size; index++) {
    const turn = turns.turn(index)
    const spoken = turn && messagesOfTurn(turn).find((one) => one.n === frame && one.item === item)
    if (spoken !== undefined) return { turn: index, spoken }
  }
  return undefined
}

function nothingAt(why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `cannot use the bindings: ${why}`, {
    hint: 'frames are numbered as `reelay inspect --bindings` shows them; after recording anew the numbers may be others',
  })
}
