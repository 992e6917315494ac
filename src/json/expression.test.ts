import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReelayError } from '../errors.ts'
import { parseExpression } from './expression.ts'

const ROOT = {
  method: 'tools/call',
  params: { name: 'search', arguments: { q: 'milk', 'a.b': 1 } },
  result: {
    structuredContent: { total: 120, items: [{ id: 7 }, { id: 9 }], none: null, off: false, zero: 0 },
    content: [{ type: 'text', text: '{"page":{"total":3}}' }],
  },
}

test.each([
  ['result.structuredContent.total > 100', true],
  ['result.structuredContent.total>120', false],
  ['result.structuredContent.total >= 120 && params.arguments.q == "milk"', true],
  ["params.arguments.q = 'water' || params.name == 'search'", true],
  ['!(result.structuredContent.total < 100)', true],
  ['result.structuredContent.items[*].id == 9', true],
  ['result.structuredContent.items[0].id == 9', false],
  ['result.structuredContent.items.length == 2', true],
  ['result.content[0].text.page.total == 3', true],
  ['params.arguments["a.b"] == 1', true],
  ['result.content[*].text contains "page"', true],
  ['params.name matches "^sea"', true],
  ['params.name matches "^z"', false],
  ['error', false],
  ['!error', true],
  ['result.structuredContent.none', false],
  ['result.structuredContent.off', false],
  ['result.structuredContent.zero', true],
  ['result.nothing > 1', false],
  ['result.nothing != 1', true],
  ['result.nothing == null', false],
  ['result.structuredContent.none == null', true],
  ['result.structuredContent.total > "100"', false],
  ['result.structuredContent.items == result.structuredContent.items', true],
  ['method == "tools/call"', true],
])('%s is %s', (source, holds) => {
  expect(parseExpression(source).test(ROOT)).toBe(holds)
})

test('an expression has the value of its path, and knows the names that its paths begin with', () => {
  const value = parseExpression('result.structuredContent.items[*].id')
  expect([value.evaluate(ROOT), [...value.roots]]).toEqual([[7, 9], ['result']])
  expect(parseExpression('result.structuredContent.items').evaluate(ROOT)).toEqual([{ id: 7 }, { id: 9 }])
  expect(parseExpression('result.nothing').evaluate(ROOT)).toBeUndefined()
  expect([...parseExpression('a.b > 1 && (c || d == 2)').roots]).toEqual(['a', 'c', 'd'])
})

test.each([
  ['', 'expected a path or a value at position 1'],
  ['a >', 'expected a path or a value at position 4'],
  ['a > 1 b', 'unexpected b at position 7'],
  ['(a', 'expected ) at position 3'],
  ['a ; b', 'expected a path, a value or an operator at position 2'],
  ['a matches "("', 'invalid pattern'],
  [`${'('.repeat(5000)}a`, 'it is nested too deeply'],
])('the mistake in %s is named with its position', (source, problem) => {
  expect(() => parseExpression(source)).toThrow(problem)
})

test('any text is an expression or a mistake that is explained', () => {
  const pieces = fc.constantFrom(
    'a',
    '.b',
    '[0]',
    '[*]',
    ' ',
    '>',
    '==',
    '"x"',
    "'",
    '(',
    ')',
    '!',
    '&&',
    '1',
    'é',
  )
  const sources = fc.oneof(
    fc.string(),
    fc.array(pieces).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(sources, (source) => {
      expect(outcomeOf(source)).toMatch(/^(true|false|cannot read the expression .*)$/s)
    }),
  )
})

function outcomeOf(source: string): string {
  try {
    return String(parseExpression(source).test(ROOT))
  } catch (error) {
    return error instanceof ReelayError ? error.message : `unexpected: ${String(error)}`
  }
}
