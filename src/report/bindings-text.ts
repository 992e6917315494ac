import { styleText } from 'node:util'
import { truncateText, escapeControlChars } from '../text.ts'
import type { BindingFact, BindingFacts } from './bindings.ts'

/** Bindings for people: each value, where it came from, where it went, and why that is believed. */
export function bindingsAsText({ path, bindings, guesses }: BindingFacts): string {
  const sections = [
    [styleText('bold', escapeControlChars(path)), bindingCountText(bindings)],
    ...bindings.map(bindingLines),
    ...(guesses.length === 0 ? [] : [guessLines(guesses)]),
  ]
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function bindingCountText(bindings: readonly BindingFact[]): string {
  const places = bindings.reduce((sum, { to }) => sum + to.length, 0)
  if (bindings.length === 0) return 'no value that the server made up was sent back to it'
  const values = bindings.length === 1 ? '1 value' : `${bindings.length} values`
  return `${values} of the server sent back in ${places === 1 ? '1 place' : `${places} places`}`
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
    styleText('yellow', 'not bound unless a second run confirms it'),
    ...guesses.map(({ value, from, to }) =>
      escapeControlChars(`  ${truncateText(value, 32)}: ${from} → ${to.join(', ')}`),
    ),
  ]
}
