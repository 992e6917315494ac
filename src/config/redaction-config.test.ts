import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ReelayError } from '../errors.ts'
import { redactionConfig } from './redaction-config.ts'

function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, name), text)
  return folder
}

test('the section adds rules and fields, switches rules off and allows values', () => {
  const folder = folderWith(
    'reelay.config.yaml',
    `# the rest belongs to others
record: {}
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
  expect(redactionConfig(folder)).toEqual({
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

test('JSON will do, and so will no config and no section', () => {
  expect(redactionConfig(folderWith('reelay.config.json', '{"redaction":{"fields":["a"]}}'))).toEqual({
    fields: ['a'],
  })
  expect(redactionConfig(folderWith('reelay.config.yaml', 'record: {}'))).toEqual({})
  expect(redactionConfig(folderWith('reelay.config.yaml', ''))).toEqual({})
  expect(redactionConfig(folderWith('other.yaml', 'redaction: 5'))).toEqual({})
})

test.each([
  ['redaction: 5', 'line 1, column 12: "redaction" is not a map'],
  [
    'redaction:\n  rulez: []',
    'line 2, column 3: "redaction.rulez" is not known; there are rules, off, fields, allow, email',
  ],
  ['redaction:\n  off: [slak]', 'line 2, column 9: there is no rule "slak" to switch off'],
  ['redaction:\n  off: slack', 'line 2, column 8: "redaction.off" is not a list'],
  ['redaction:\n  fields: [5]', 'line 2, column 12: a field is not a text'],
  ['redaction:\n  email: perhaps', 'line 2, column 10: "redaction.email" is not true or false'],
  ['redaction:\n  rules: [x]', 'line 2, column 11: a rule is not a map with "name" and "pattern"'],
  [
    'redaction:\n  rules:\n    - name: a\n      pattern: "("',
    'line 4, column 16: Invalid regular expression: /(/: Unterminated group',
  ],
  [
    'redaction:\n  rules:\n    - name: a\n      pattern: "x*"',
    'line 4, column 16: the pattern x* matches nothing at all, so it would match everywhere',
  ],
  [
    'redaction:\n  rules: [',
    'line 2, column 11: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
])('%j is refused with its place', (text, why) => {
  const folder = folderWith('reelay.config.yaml', text)
  const read = (): unknown => redactionConfig(folder)
  expect(read).toThrow(ReelayError)
  expect(read).toThrow(`${join(folder, 'reelay.config.yaml')}, ${why}`)
})
