import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { folderWith } from '../../test/support/config-folder.ts'
import { ReelayError } from '../errors.ts'
import { readRedactionConfig } from './redaction-config.ts'

beforeEach(() => void vi.stubEnv('REELAY_TRUST', '1'))

test('the section adds rules and fields, switches rules off and allows values', () => {
  const folder = folderWith(
    'reelay.config.yaml',
    `# the rest belongs to others
replay: {}
redaction:
  rules:
    - name: ticket
      pattern: /acme-(?<secret>\\d{6})/i
      keywords: [acme-]
    - name: badge
      pattern: B\\d{8}
  off: [slack, jwt]
  fields: [customerNumber]
  allow: [hunter2, /^test-/]
  email: true
`,
  )
  expect(readRedactionConfig(folder, 'run')).toEqual({
    guard: expect.any(Function),
    rules: [
      { name: 'ticket', pattern: /acme-(?<secret>\d{6})/i, keywords: ['acme-'], isLearned: true },
      { name: 'badge', pattern: /B\d{8}/, keywords: [], isLearned: true },
    ],
    off: ['slack', 'jwt'],
    fields: ['customerNumber'],
    allow: [/^hunter2$/, /^test-/],
    email: true,
  })
})

test('a config may be JSON, and the config and its sections are optional', () => {
  expect(
    readRedactionConfig(folderWith('reelay.config.json', '{"redaction":{"fields":["a"]}}'), 'run'),
  ).toEqual({
    fields: ['a'],
  })
  expect(readRedactionConfig(folderWith('reelay.config.yaml', 'match: {}'), 'run')).toEqual({})
  expect(readRedactionConfig(folderWith('reelay.config.yaml', ''), 'run')).toEqual({})
  expect(readRedactionConfig(folderWith('other.yaml', 'redaction: 5'), 'run')).toEqual({})
})

test.each([
  ['redaction: 5', 'line 1, column 12: "redaction" is not a map'],
  ['redaction:\n  rulez: []', 'line 2, column 3: "redaction.rulez" is unknown'],
  ['redaction:\n  off: [slak]', 'line 2, column 9: "redaction.off[0]" turns off "slak", which is not a rule'],
  ['redaction:\n  off: slack', 'line 2, column 8: "redaction.off" is not a list'],
  ['redaction:\n  fields: [5]', 'line 2, column 12: "redaction.fields[0]" is not a non-empty string'],
  ['redaction:\n  email: perhaps', 'line 2, column 10: "redaction.email" is not true or false'],
  [
    'redaction:\n  rules:\n    - name: a',
    'line 3, column 7: "redaction.rules[0]" needs "name" and "pattern"',
  ],
  ['redacton: {}', 'line 1, column 1: "redacton" is unknown'],
  ['redaction:\n  rules: [x]', 'line 2, column 11: "redaction.rules[0]" is not a map'],
  [
    'redaction:\n  rules:\n    - name: a\n      pattern: "("',
    'line 4, column 16: "redaction.rules[0].pattern" cannot be used: Invalid regular expression: /(/: Unterminated group',
  ],
  [
    'redaction:\n  rules:\n    - name: a\n      pattern: "x*"',
    'line 4, column 16: "redaction.rules[0].pattern" matches the empty string, so it would match everywhere',
  ],
  [
    'redaction:\n  rules: [',
    'line 2, column 11: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
])('%j is refused with its location', (text, why) => {
  const folder = folderWith('reelay.config.yaml', text)
  const read = (): unknown => readRedactionConfig(folder, 'run')
  expect(read).toThrow(ReelayError)
  expect(read).toThrow(`${join(folder, 'reelay.config.yaml')}, ${why}`)
})

test('a config in JavaScript may contain regular expressions', () => {
  const folder = folderWith(
    'reelay.config.mjs',
    'export default { redaction: { rules: [{ name: "t", pattern: /t-(\\d+)/ }], allow: [/^x$/, "a.b"] } }',
  )
  expect(readRedactionConfig(folder, 'run')).toEqual({
    guard: expect.any(Function),
    rules: [{ name: 't', pattern: /t-(\d+)/, keywords: [], isLearned: true }],
    allow: [/^x$/, /^a\.b$/],
  })
})
