import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { folderWith } from '../../test/support/config-folder.ts'
import { STRATEGIES } from '../match/strategies/index.ts'
import { defaultRules } from '../redact/rules/index.ts'
import { findProjectConfig } from './project-config.ts'
import { readRedactionConfig } from './redaction-config.ts'

const schema: unknown = JSON.parse(readFileSync('schema/config-1.json', 'utf8'))
const fits = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(Object(schema))

test.each(['redaction', 'match', 'replay'])(
  'the example of the section %s in docs/reference/config.md fits the schema',
  (section) => {
    const page = readFileSync('docs/reference/config.md', 'utf8')
    const examples = [...page.matchAll(new RegExp(`\`\`\`yaml\n(${section}:\n.*?)\`\`\``, 'gs'))]
    expect(examples).toHaveLength(1)
    const text = examples[0]?.[1] ?? ''
    fits(parse(text))
    expect(fits.errors).toBeNull()
    const folder = folderWith('reelay.config.yaml', text)
    expect([findProjectConfig(folder, 'run')?.file, readRedactionConfig(folder, 'run')]).not.toContain(
      undefined,
    )
  },
)

test('docs/explanation/redaction.md names every redaction rule that can be turned off', () => {
  const page = readFileSync('docs/explanation/redaction.md', 'utf8')
  const names = new Set(defaultRules().map(({ name }) => name))
  expect([...names].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test.each([
  'redaction: { off: slack }',
  'redaction: { rules: [{ name: a }] }',
  'redaction: { email: perhaps }',
  'match: { strategy: guess }',
  'match: { rules: [5] }',
  'redacton: {}',
])('%s does not fit', (text) => {
  expect(fits(parse(text))).toBe(false)
})

test('the schema knows every strategy', () => {
  for (const { name } of STRATEGIES) expect([name, fits({ match: { strategy: name } })]).toEqual([name, true])
})
