import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../../test/support/cases.ts'
import { encodeLine, fitText, textWidth, withoutColors } from './screen.ts'

test('a line has exactly the width of the screen, and nothing in it can steer the terminal', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 1, max: 200 }),
      fc.boolean(),
      (text, width, isSelected) => {
        const encoded = encodeLine(
          [
            { text: 'a', style: 'bold' },
            { text, style: 'red' },
          ],
          width,
          isSelected,
        )
        const plain = stripVTControlCharacters(encoded)
        expect(textWidth(plain)).toBe(width)
        expect(plain).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      },
    ),
    cases(200),
  )
})

test('a text is truncated by columns: wide characters take two, marks take none', () => {
  expect(fitText('abcdef', 4)).toBe('abc…')
  expect(fitText('日本語', 6)).toBe('日本語')
  expect(fitText('日本語', 5)).toBe('日本…')
  expect(fitText('e\u0301a', 2)).toBe('e\u0301a')
  expect(fitText('\u001B[2J', 20)).toBe(String.raw`\u{1b}[2J`)
  expect(fitText('long', 0)).toBe('')
})

test('without colours, bold and inverted text remains', () => {
  const line = encodeLine(
    [
      { text: 'a', style: 'red' },
      { text: 'b', style: 'bold' },
      { text: 'c', style: 'cyan' },
    ],
    3,
  )
  expect(withoutColors(line)).toBe('\u001B[0ma\u001B[0m\u001B[1mb\u001B[0m\u001B[0mc\u001B[0m')
  expect(withoutColors(encodeLine([{ text: 'a', style: 'red' }], 1, true))).toBe('\u001B[7ma\u001B[0m')
})
