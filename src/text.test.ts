import fc from 'fast-check'
import { expect, test } from 'vitest'
import { truncateText, escapeControlChars, escapeControlCharsInJson, truncateAtWord } from './text.ts'

test('colours, cursor moves, carriage returns, bidi and invisible characters are escaped', () => {
  expect(escapeControlChars('\u001b[31mred\u001b[0m\r\n\tend')).toBe(
    String.raw`\u{1b}[31mred\u{1b}[0m\r\n\tend`,
  )
  expect(escapeControlChars('csi \u009b2J, bell \u0007')).toBe(String.raw`csi \u{9b}2J, bell \u{7}`)
  expect(escapeControlChars('safe\u202egpj.exe\u2066')).toBe(String.raw`safe\u{202e}gpj.exe\u{2066}`)
  expect(escapeControlChars('tag \u{e0041}, zero \u200b, half \ud800')).toBe(
    String.raw`tag \u{e0041}, zero \u{200b}, half \u{d800}`,
  )
})

test('letters of every script and emoji stay as they are', () => {
  expect(escapeControlChars('Zürich 東京 مرحبا 🎉')).toBe('Zürich 東京 مرحبا 🎉')
})

test('escaped JSON has the same meaning and contains no invisible characters', () => {
  fc.assert(
    fc.property(fc.json(), fc.string({ unit: 'binary' }), (json, text) => {
      for (const spelled of [json, JSON.stringify(text)]) {
        expect(JSON.parse(escapeControlCharsInJson(spelled))).toEqual(JSON.parse(spelled))
        expect(escapeControlCharsInJson(spelled)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      }
    }),
  )
})

test('a long text is truncated after it is escaped', () => {
  expect(truncateText('abcdef', 6)).toBe('abcdef')
  expect(truncateText('abc\u001bdef', 6)).toBe(String.raw`abc\u…`)
})

test.each([
  ['short enough', 'short enough'],
  ['the token is ghp_0123456789 now', 'the token is…'],
  ['ends right here and goes on', 'ends right here…'],
  ['0123456789012345678901234', '…'],
])('of %j whole words stay', (text, shown) => {
  expect(truncateAtWord(text, 15)).toBe(shown)
})
