import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { seededRandom } from '../../seeded-random.ts'
import { Redactor } from '../redactor.ts'
import { defaultRules } from './index.ts'
import type { RedactionRule } from './rule.ts'
import { exampleOf } from './token-shape.ts'

// `npm run secrets` tries each kind in every wrapping and in every place of a session.

const key = { name: 'k-test', hmac: (text: string) => createHmac('sha256', 'a key').update(text).digest() }
const random = seededRandom(15)
const pick = (below: number): number => Math.floor(random() * below)

const kinds = defaultRules().flatMap((rule) => (rule.shapes ?? []).map((shape) => ({ shape, rule })))

function secretIn(text: string, { pattern }: RedactionRule): string {
  const match = new RegExp(pattern.source, pattern.flags.replace('g', '')).exec(text)
  return match?.groups?.['secret'] ?? match?.[0] ?? ''
}

test('a token of every kind is found in a sentence, in a URL and in base64', () => {
  const missed = kinds.flatMap(({ shape, rule }) => {
    const value = exampleOf(shape, pick)
    const secret = secretIn(value, rule)
    if (secret === '') return [`${rule.name}: the pattern does not match ${shape}`]
    const texts = {
      sentence: `the key is ${value} now`,
      query: `https://host.example/a?page=2&q=${encodeURIComponent(value)}&n=1`,
      base64: Buffer.from(`note: ${value}\n`).toString('base64'),
    }
    return Object.entries(texts).flatMap(([name, text]) => {
      const redacted = new Redactor({ key }).text(text)
      const decoded =
        name === 'base64' ? Buffer.from(redacted, 'base64').toString() : decodeURIComponent(redacted)
      return decoded.includes(secret) ? [`${rule.name} ${shape}: ${name}`] : []
    })
  })
  expect(missed).toEqual([])
  expect(new Set(kinds.map(({ rule }) => rule.name)).size).toBeGreaterThan(140)
})

test('a placeholder of every kind is recognised', () => {
  const changed = kinds.filter(({ shape }) => {
    const taped = new Redactor({ key }).text(`the key is ${exampleOf(shape, pick)} now`)
    return new Redactor({ key, source: 'live' }).text(taped) !== taped
  })
  expect(changed).toEqual([])
})

test('every keyword is long enough for the prefilter', () => {
  const short = defaultRules().filter(({ keywords }) => keywords.some((keyword) => keyword.length < 3))
  expect(short).toEqual([])
})

test.each([
  'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'sk-ant-your-api-key-here',
  'sk_live_your_secret_key',
  'sk-...',
  'sk-proj-****',
  'npm_config_registry and npm_package_version',
  'd41d8cd98f00b204e9800998ecf8427e',
  'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  'cache-key-d41d8cd98f00b204e9800998ecf8427e',
  'sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==',
  '6b1d0c3e-82f7-4a59-b9c4-07e3f15d8a26',
  'test_that_a_long_name_of_a_test_is_not_a_token',
  'https://registry.example/pkg/-/pkg-1.0.0.tgz#3f786850e387550fdab836ed7e6dc881de23001b',
  'path/to/pattern.test.ts, SKILL, API-first, A3-format, EAAS, 1/12/2026 10:30',
])('%s: nothing is taken for a token', (text) => {
  expect(new Redactor({ key }).text(text)).toBe(text)
})
