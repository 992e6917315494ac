import { styleText } from 'node:util'
import type { Binding, FoundBindings } from '../bindings/binding.ts'
import { applyBindingsFile, type BindingsFile, toBindingsFile } from '../bindings/bindings-file.ts'
import { findBindings } from '../bindings/find/find-bindings.ts'
import { formatTapeLocation, formatProducer } from '../bindings/location-text.ts'
import { jsonDocument, jsonValue } from './json-text.ts'
import type { TapeHeader } from '../tape/header.ts'
import { turnStoreOf, type Turns, type Turn } from '../tape/turns.ts'
import { truncateText, escapeControlChars, escapeControlCharsInJson } from '../text.ts'

export interface BindingsTape {
  readonly path: string
  readonly header: TapeHeader
  readonly turns: readonly Turn[] | Turns
}

export interface TapeBindings {
  readonly path: string
  readonly found: FoundBindings
}

interface BindingFact extends Pick<Binding, 'value' | 'confidence' | 'standing' | 'reason'> {
  /** Where the server sent the value first, in the form of a bindings file. */
  readonly from: string
  readonly also: readonly string[]
  /** Where the client sent the value. */
  readonly to: readonly string[]
}

/** Finds the bindings of a tape and applies its bindings file, if there is one. */
export function findTapeBindings(
  { path, turns, header }: BindingsTape,
  file: BindingsFile | undefined,
): TapeBindings {
  const found = findBindings(turns, { started: header.started })
  return { path, found: file === undefined ? found : applyBindingsFile(found, file, turnStoreOf(turns)) }
}

function bindingFact({
  value,
  producer,
  also,
  consumers,
  confidence,
  standing,
  reason,
}: Binding): BindingFact {
  return {
    value,
    confidence,
    standing,
    reason,
    from: formatProducer(producer),
    also: also.map(formatProducer),
    to: consumers.map(formatTapeLocation),
  }
}

/** Formats bindings for people: each value, where it came from, where it was sent, and the evidence. */
export function bindingsAsText({ path, found }: TapeBindings): string {
  const [bindings, guesses] = [found.bindings.map(bindingFact), found.guesses.map(bindingFact)]
  const sections = [
    [styleText('bold', escapeControlChars(path)), bindingCountText(bindings)],
    ...bindings.map(bindingLines),
    ...(guesses.length === 0 ? [] : [guessLines(guesses)]),
  ]
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function bindingCountText(bindings: readonly BindingFact[]): string {
  const places = bindings.reduce((sum, { to }) => sum + to.length, 0)
  if (bindings.length === 0) return 'no value that the server generated was sent back to it'
  const values = bindings.length === 1 ? '1 value' : `${bindings.length} values`
  return `${values} from the server sent back in ${places === 1 ? '1 place' : `${places} places`}`
}

function bindingLines({ value, from, to, confidence, reason }: BindingFact): readonly string[] {
  return [
    `${styleText('bold', truncateText(value, 64))}  ${styleText('dim', escapeControlChars(`${confidence}: ${reason}`))}`,
    `  ${escapeControlChars(from)}`,
    ...to.map((place) => `  → ${escapeControlChars(place)}`),
  ]
}

function guessLines(guesses: readonly BindingFact[]): readonly string[] {
  return [
    styleText('yellow', 'guesses, bound only if a second run confirms them'),
    ...guesses.map(({ value, from, to }) =>
      escapeControlChars(`  ${truncateText(value, 32)}: ${from} → ${to.join(', ')}`),
    ),
  ]
}

/** Formats bindings for programs, as described in `docs/reference/inspect.md`. */
export function bindingsAsJson({ path, found }: TapeBindings): string {
  return jsonDocument({
    tape: jsonValue(path),
    bindings: found.bindings.map(bindingFact).map(jsonValue),
    guesses: found.guesses.map(bindingFact).map(jsonValue),
  })
}

/** Formats bindings as a file that users edit and keep beside the tape. Lines are not wrapped, so that places can be searched for. */
export async function bindingsAsYaml({ found }: TapeBindings): Promise<string> {
  const { stringify } = await import('yaml')
  const yaml = stringify(toBindingsFile(found.bindings), {
    lineWidth: 0,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  })
  return yaml.split('\n').map(escapeControlCharsInJson).join('\n')
}
