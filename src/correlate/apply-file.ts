import { ReelayError } from '../errors.ts'
import { messagesOfTurn } from '../tape/turn-messages.ts'
import type { RecordedTurns } from '../tape/turn-store.ts'
import type { RecordedMessage } from '../tape/turn.ts'
import { EVERY_ITEM, type PathPattern } from '../json/path.ts'
import type {
  Binding,
  BindingConsumer,
  FoundBindings,
  LocationStep,
  TapeLocation,
  BindingProducer,
} from '../bindings/binding.ts'
import type { BindingsFile, ForbiddenLocation, UserBinding } from '../bindings/bindings-file.ts'
import { readLocation } from '../bindings/location.ts'
import type { WrittenLocation, WrittenLocationStep } from '../bindings/location-text.ts'
import { formatTapeLocation } from './place-text.ts'
import { describeToken } from './token-place.ts'

/** The correlation of a tape with what its user added, fixed and forbade. */
export function applyBindingsFile(
  { bindings, guesses }: FoundBindings,
  file: BindingsFile,
  turns: RecordedTurns,
): FoundBindings {
  const added = file.bind.map((one) => resolveBinding(one, turns))
  const isFree = (consumer: BindingConsumer): boolean =>
    !file.forbid.some((place) => isForbiddenBy(place, consumer)) &&
    !added.some(({ consumers }) =>
      consumers.some((other) => formatTapeLocation(other) === formatTapeLocation(consumer)),
    )
  const without = (list: readonly Binding[]): readonly Binding[] =>
    list
      .map((binding) => ({ ...binding, consumers: binding.consumers.filter(isFree) }))
      .filter(({ consumers }) => consumers.length > 0)
  return { bindings: [...without(bindings), ...added], guesses: without(guesses) }
}

function isForbiddenBy({ frame, path }: ForbiddenLocation, consumer: BindingConsumer): boolean {
  return (frame === undefined || frame === consumer.frame) && patternCovers(path, consumer.path)
}

function patternCovers(pattern: PathPattern, path: PathPattern): boolean {
  return (
    pattern.length <= path.length &&
    pattern.every(
      (segment, at) => segment === path[at] || (segment === EVERY_ITEM && typeof path[at] === 'number'),
    )
  )
}

function resolveBinding({ from, to }: UserBinding, turns: RecordedTurns): Binding {
  const consumers = to.map((place) => resolveConsumer(place, turns))
  const [first] = consumers
  const spoken = first === undefined ? undefined : findMessage(first, turns)?.spoken
  const value = first === undefined || spoken === undefined ? undefined : readLocation(spoken.text, first)
  return {
    value: value ?? '',
    producer: 'kind' in from ? from : resolveProducer(from, turns),
    also: [],
    consumers,
    confidence: 'certain',
    standing: 'user',
    reason: 'the bindings file says so',
  }
}

function resolveConsumer(written: WrittenLocation, turns: RecordedTurns): BindingConsumer {
  const place = resolveLocation(written, turns)
  const last = place.inside.at(-1)?.kind
  const use = last === 'key' ? 'key' : last === 'span' || last === 'token' ? 'part' : 'value'
  return { ...place, use }
}

function resolveProducer(written: WrittenLocation, turns: RecordedTurns): BindingProducer {
  return { kind: 'message', ...resolveLocation(written, turns) }
}

function resolveLocation(written: WrittenLocation, turns: RecordedTurns): TapeLocation {
  const { frame, item, path, steps } = written
  const found = findMessage(written, turns)
  if (found === undefined) throw locationNotFound(`#${frame} is no message of the tape`)
  const place = { frame, ...(item === undefined ? {} : { item }), path }
  const inside: LocationStep[] = []
  for (const step of steps) inside.push(resolveStep(step, readLocation(found.spoken.text, { path, inside })))
  if (readLocation(found.spoken.text, { path, inside }) === undefined)
    throw locationNotFound(`there is no text or number at ${formatTapeLocation({ ...place, inside })}`)
  return { turn: found.turn, ...place, inside }
}

function resolveStep(step: WrittenLocationStep, text: string | undefined): LocationStep {
  if (step.kind !== 'around') return step
  const start = text?.indexOf(step.before) ?? -1
  if (text === undefined || start < 0)
    throw locationNotFound(`${JSON.stringify(step.before)} is not in the text`)
  const from = start + step.before.length
  const ends = step.after === '' ? text.slice(from).search(/\s|$/) + from : text.indexOf(step.after, from)
  if (ends <= from) throw locationNotFound(`${JSON.stringify(step.after)} does not follow`)
  return { kind: 'token', token: describeToken(text, from, ends) }
}

function findMessage(
  { frame, item }: Pick<TapeLocation, 'frame' | 'item'>,
  turns: RecordedTurns,
): { readonly turn: number; readonly spoken: RecordedMessage } | undefined {
  for (let index = 0; index < turns.size; index++) {
    const turn = turns.turn(index)
    const spoken = turn && messagesOfTurn(turn).find((one) => one.n === frame && one.item === item)
    if (spoken !== undefined) return { turn: index, spoken }
  }
  return undefined
}

function locationNotFound(why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `cannot use the bindings: ${why}`, {
    hint: 'frames are numbered as `reelay inspect --bindings` shows them; after recording anew the numbers may be others',
  })
}
