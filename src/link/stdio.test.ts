import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TextLineSplitter } from './stdio.ts'
import { cases } from '../../test/support/cases.ts'

test('lines are the same however their bytes are cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\r\n', '\r', '{') })
  fc.assert(
    fc.property(text, fc.array(fc.nat(8)), (whole, cuts) => {
      const lines = whole.split(/\r?\n/)
      const expected = [...lines.slice(0, -1), lines.at(-1)?.replace(/\r$/, '') ?? ''].filter(
        (line) => line !== '',
      )
      expect(linesOf(Buffer.from(whole), cuts)).toEqual(expected)
    }),
    cases(1000),
  )
})

function linesOf(bytes: Buffer, cuts: readonly number[]): readonly string[] {
  const found: string[] = []
  const lines = new TextLineSplitter({ onLine: (line) => void found.push(line), onOverlong: () => {} })
  let at = 0
  for (const cut of cuts) {
    lines.push(bytes.subarray(at, at + cut))
    at = Math.min(bytes.length, at + cut)
  }
  lines.push(bytes.subarray(at))
  lines.end()
  return found
}
