import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseVault, formatVaultLine } from './vault.ts'

test('every value that is written is read back unchanged', () => {
  const value = fc.oneof(fc.string({ minLength: 1 }), fc.string({ unit: 'binary', minLength: 1 }))
  fc.assert(
    fc.property(fc.array(value), (values) => {
      const text = values.map((one, at) => formatVaultLine(`SECRET_${at}`, one)).join('')
      expect(parseVault(`# a vault\n\n${text}`)).toEqual(values)
    }),
  )
})

test('handwritten lines are read, and an invalid one is reported with its number', () => {
  const lines = [
    '# mine',
    'A=plain value ',
    "export B='it\\n'",
    'C="two\\nlines"',
    'D="C:\\dir"',
    ' e.f = "x"',
  ]
  expect(parseVault(lines.join('\r\n'))).toEqual(['plain value', 'it\\n', 'two\nlines', 'C:\\dir', 'x'])
  expect(parseVault('# mine\n\nA=1\nnothing\n')).toEqual({ line: 4 })
  expect(parseVault('A=\n')).toEqual({ line: 1 })
})
