import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyConfigEdits, type ConfigEdit } from './config-format.ts'
import { unifiedConfigDiff } from './unified-diff.ts'
import { cases } from '../../../test/support/cases.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'cc', ''), { minLength: 1, maxLength: 40 })
const cuts = fc.uniqueArray(fc.nat(120), { maxLength: 6 })

test('whoever applies the diff gets the text that was written', () => {
  fc.assert(
    fc.property(
      lines,
      cuts,
      fc.array(fc.constantFrom('x', 'y\nz', '', '\n'), { minLength: 3 }),
      (all, places, words) => {
        const text = `${all.join('\n')}\n`
        const edits = editsAt(
          places.filter((place) => place < text.length - 1),
          words,
        )
        const diff = unifiedConfigDiff('file', text, edits)
        expect(patched(text, diff)).toBe(applyConfigEdits(text, edits))
      },
    ),
    cases(1000),
  )
})

test('what would steer the terminal is spelled out, tabs stay', () => {
  const diff = unifiedConfigDiff('f', '\t"a\u001b[31m"\r\n', [{ start: 2, end: 3, text: 'b' }])
  expect(diff).toBe('--- f\n+++ f\n@@ -1,1 +1,1 @@\n-\t"a\\u{1b}[31m"\n+\t"b\\u{1b}[31m"')
})

/** Pairs of places are stretches to be replaced. */
function editsAt(places: readonly number[], words: readonly string[]): readonly ConfigEdit[] {
  const sorted = places.toSorted((a, b) => a - b)
  return sorted.flatMap((start, index) => {
    const end = sorted[index + 1]
    return index % 2 === 1 || end === undefined
      ? []
      : [{ start, end, text: words[(index / 2) % words.length] ?? '' }]
  })
}

/** Does what `patch` does, and is as strict: every line must be where the diff says. */
function patched(text: string, diff: string): string {
  const out: string[] = []
  const old = text.split('\n').slice(0, -1)
  let at = 0
  for (const line of diff.split('\n').slice(2)) {
    const [, from, to] = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/.exec(line) ?? []
    while (at < Number(from ?? 0) - 1) out.push(old[at++] ?? '')
    if (from !== undefined && out.length !== Number(to) - 1) return `wrong place: ${line}`
    if (/^[- ]/.test(line) && old[at++] !== line.slice(1)) return `wrong line: ${line}`
    if (/^[+ ]/.test(line)) out.push(line.slice(1))
  }
  return [...out, ...old.slice(at), ''].join('\n')
}
