import { expect, test } from 'vitest'
import { seededRandom } from '../seeded-random.ts'
import { compareTexts, isWithoutTexts } from './pattern-language.ts'

const anything = { patterns: [], least: 0, most: Infinity }
const compare = (one: string, other: string): ReturnType<typeof compareTexts> =>
  compareTexts({ ...anything, patterns: [one] }, { ...anything, patterns: [other] })

test.each([
  ['^[a-z]{3}$', '^[a-z]{2,4}$'],
  ['^[a-z]+$', '^\\w*$'],
  ['^(?:ab|abc)d?$', '^ab(?:c|d|cd)?$'],
  ['^foo', 'foo'],
  ['^a$|^b$', '^[ab]$'],
  ['^\\d{4}-\\d{2}$', '^[\\d-]{7}$'],
  ['^https?://', '^http'],
  ['^\\u{1F600}+$', '^[^a]*$'],
  ['a^b', '^never$'],
])('all texts of %s are texts of %s', (one, other) => {
  expect(compare(one, other)).toEqual({ kind: 'within' })
})

test.each([
  ['^[a-z]{2,4}$', '^[a-z]{3}$', 'aa'],
  ['foo', '^foo', 'afoo'],
  ['^.*$', '^[^\\n]{0,3}$', 'aaaa'],
  ['^[^a]$', '^[b-z]$', 'A'],
  ['^a*$', '^(?:aa)*$', 'a'],
])('a text of %s that is no text of %s is found', (one, other, text) => {
  expect(compare(one, other)).toEqual({ kind: 'outside', text })
})

test('lengths count characters, and go together with patterns', () => {
  const short = { ...anything, most: 2 }
  expect(compareTexts({ ...anything, patterns: ['^\\u{1F600}{2}$'] }, short)).toEqual({ kind: 'within' })
  expect(compareTexts({ ...short, patterns: ['^a+$'] }, { ...anything, patterns: ['^a{1,2}$'] })).toEqual({
    kind: 'within',
  })
  expect(isWithoutTexts({ ...short, patterns: ['^a{3}'] })).toBe(true)
  expect(isWithoutTexts({ ...short, patterns: ['^a{2}'] })).toBe(false)
})

test.each(['(?=a)', '(a)\\1', '\\bword', '\\p{Lu}', '^a{1,5000}$', '(', '[b-'])(
  '%s is not understood, so that nothing is said about it',
  (source) => {
    expect(compare(source, '^a$')).toBeUndefined()
    expect(compare('^a$', source)).toBeUndefined()
  },
)

test('patterns that need very many states are given up', () => {
  expect(compare('[ab]*a[ab]{20}$', '[ab]*b[ab]{19}$')).toBeUndefined()
  expect(compare('(?:.{0,400}x){2}', '^y')).not.toEqual({ kind: 'within' })
})

test('what is said about random patterns agrees with random texts', () => {
  const random = seededRandom(3)
  const pick = <Item>(list: readonly Item[]): Item => list[Math.floor(random() * list.length)]!
  const atom = (depth: number): string =>
    depth === 0 || random() < 0.6
      ? pick(['a', 'b', '[ab]', '[^a]', '.', '\\d', '\\w', '1', '^', '$'])
      : `(?:${pattern(depth - 1)})`
  const pattern = (depth: number): string =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const one = atom(depth)
      return /[$^]$/u.test(one) ? one : one + pick(['', '', '?', '*', '+', '{2}', '{0,2}', '|'])
    }).join('')
  const text = (): string =>
    Array.from({ length: Math.floor(random() * 5) }, () => pick(['a', 'b', '1', '-', '\n'])).join('')
  const counts = { within: 0, outside: 0 }
  const contradictions: string[][] = []
  for (let at = 0; at < 400; at++) {
    const [one, other] = [pattern(2), pattern(2)]
    const compared = compare(one, other)
    if (compared === undefined) continue
    counts[compared.kind]++
    const [first, second] = [new RegExp(one, 'u'), new RegExp(other, 'u')]
    const isOutside = (tried: string): boolean => first.test(tried) && !second.test(tried)
    if (compared.kind === 'outside' && !isOutside(compared.text))
      contradictions.push([one, other, compared.text])
    const found = compared.kind === 'within' ? Array.from({ length: 50 }, text).find(isOutside) : undefined
    if (found !== undefined) contradictions.push([one, other, found])
  }
  expect(contradictions).toEqual([])
  expect(counts.within).toBeGreaterThan(40)
  expect(counts.outside).toBeGreaterThan(40)
})
